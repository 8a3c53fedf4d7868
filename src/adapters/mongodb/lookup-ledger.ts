// Decides lookups in one transaction per batch: what it reads is of one moment, and the reply waits for its commit, which
// a majority has on its disks then. The same commit proves that the primary which was read from was the primary still, so
// that no answer comes from a right that has ended (docs/decisions/0037).
import { isAppError } from "../../domain/errors.ts";
import type { MeterCharge } from "../../domain/reputation/call-meter.ts";
import {
  decideBatch,
  type LookupCall,
  type LookupOutcome,
  type PlacedBatch,
  placeCalls,
} from "../../domain/reputation/lookup-batch.ts";
import type { LookupLedger } from "../../ports/lookup-ledger.ts";
import type { AuditChainWriter } from "./audit-chain-writer.ts";
import type { CallCounter } from "./call-counter.ts";
import type { CountedCaller, LookupReader } from "./lookup-reader.ts";
import { hasCode } from "./mongo-errors.ts";
import { runAgain, type StoreParts, writeTogether } from "./store-calls.ts";
import type { Subjects } from "./subjects.ts";

/** What a ledger works with. */
export interface LedgerParts extends StoreParts {
  readonly reader: LookupReader;
  readonly subjects: Subjects;
  readonly chain: AuditChainWriter;
  readonly counter: CallCounter;
}

/** Server codes of what is too large for one message or transaction. */
const TOO_LARGE = [388, 4568, 10334, 13548, 17419];

/** The ledger on MongoDB. */
export class MongoLookupLedger implements LookupLedger {
  /** A commit that a majority has on its disks takes some times as long. */
  readonly gatherMs = 3;
  readonly #parts: LedgerParts;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: LedgerParts) {
    this.#parts = parts;
  }

  /** One batch after the other: they append to one chain. */
  decide(calls: readonly LookupCall[]): Promise<readonly LookupOutcome[]> {
    const decided = this.#last.then(() => this.#decide(calls));
    this.#last = decided.catch(() => {});
    return decided;
  }

  async #decide(calls: readonly LookupCall[]): Promise<readonly LookupOutcome[]> {
    if (calls.length === 0) return [];
    try {
      return await this.#decideTogether(calls);
    } catch (error) {
      // What was begun may have been committed all the same.
      this.#parts.chain.abandon();
      // What cannot be given back now is with the next batch.
      await this.#parts.counter.giveBack().catch(() => {});
      const cause = isAppError(error) ? error.cause : error;
      if (calls.length === 1 || !hasCode(cause, ...TOO_LARGE)) throw error;
    }
    const half = Math.ceil(calls.length / 2);
    const first = await this.#decide(calls.slice(0, half));
    return [...first, ...(await this.#decide(calls.slice(half)))];
  }

  async #decideTogether(calls: readonly LookupCall[]): Promise<readonly LookupOutcome[]> {
    const { reader, subjects, chain, counter } = this.#parts;
    const { outcomes, written, facts } = await writeTogether(this.#parts, async (session) => {
      await counter.giveBack();
      const facts = await reader.read(calls, session);
      const { placed, counted } = placeCalls(calls, facts);
      const charges = await this.#charge(counted, facts.nowMs);
      const decided = decideBatch(placed, { ...facts, charges });
      await subjects.insert(facts.newSubjects(), session);
      const written = await chain.append(decided.entries, session);
      return { outcomes: decided.outcomes, written, facts };
    });
    counter.confirm();
    facts.remember();
    if (written !== null) chain.goOnFrom(written);
    return outcomes;
  }

  async #charge(
    counted: PlacedBatch<CountedCaller>["counted"],
    nowMs: number,
  ): Promise<ReadonlyMap<string, MeterCharge>> {
    const charges = await this.#parts.counter.charge(
      counted.map(({ caller: { accountId, limits, usage }, calls }) => ({
        ...{ accountId, limits, usage, calls, nowMs },
      })),
    );
    return new Map(
      [...charges].map(([accountId, charge]) => {
        if (charge !== null) return [accountId, charge];
        throw runAgain("An account was erased meanwhile");
      }),
    );
  }
}
