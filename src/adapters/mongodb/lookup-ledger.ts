// Decides lookups in one transaction per batch: what it reads is of one moment, and the reply waits for its commit, which
// a majority has on its disks then. The same commit proves that the primary which was read from was the primary still, so
// that no answer comes from a right that has ended (docs/decisions/0037).
import type { ClientSession } from "mongodb";
import { isAppError } from "../../domain/errors.ts";
import type { AuditEntry } from "../../domain/reputation/audit-chain.ts";
import type { MeterCharge } from "../../domain/reputation/call-meter.ts";
import {
  decideBatch,
  type LookupCall,
  type LookupOutcome,
  type PlacedBatch,
  placeCalls,
} from "../../domain/reputation/lookup-batch.ts";
import type { LookupLedger } from "../../ports/lookup-ledger.ts";
import type { AuditChainWriter, WrittenChain } from "./audit-chain-writer.ts";
import type { CallCounter, PlannedCharge } from "./call-counter.ts";
import type { CountedCaller, LookupReader, ReadFacts } from "./lookup-reader.ts";
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

/** What accounts were charged. */
type Charges = ReadonlyMap<string, MeterCharge>;

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
    const { reader, chain, counter } = this.#parts;
    const { outcomes, written, facts } = await writeTogether(this.#parts, async (session) => {
      await counter.giveBack();
      const facts = await reader.read(calls, session);
      const { placed, counted } = placeCalls(calls, facts);
      const plans = this.#plan(counted, facts.nowMs);
      const charging = counter.charge(plans).then(stillThere);
      // At the same time where nobody else counts.
      const expected = plans.every(({ isAlone }) => isAlone)
        ? new Map(plans.map(({ counted, charge }) => [counted.accountId, charge]))
        : await charging;
      const decided = decideBatch(placed, { ...facts, charges: expected });
      const appending = this.#append(decided.entries, facts, session);
      const [charges, written] = await allEnded(charging, appending);
      checkAdmitted(charges, expected);
      const isExpected = [...expected].every(([id, charge]) => charges.get(id) === charge);
      const outcomes = isExpected
        ? decided.outcomes
        : decideBatch(placed, { ...facts, charges }).outcomes;
      return { outcomes, written, facts };
    });
    counter.confirm();
    facts.remember();
    if (written !== null) chain.goOnFrom(written);
    return outcomes;
  }

  #plan(counted: PlacedBatch<CountedCaller>["counted"], nowMs: number): readonly PlannedCharge[] {
    return counted.map(({ caller: { accountId, limits, usage }, calls }) =>
      this.#parts.counter.plan({ accountId, limits, usage, calls, nowMs }),
    );
  }

  async #append(
    entries: readonly AuditEntry[],
    { newSubjects }: ReadFacts,
    session: ClientSession,
  ): Promise<WrittenChain | null> {
    await this.#parts.subjects.insert(newSubjects(), session);
    return await this.#parts.chain.append(entries, session);
  }
}

/** Both results, or the first failure once both have ended: a session must not be in use when its work has failed. */
async function allEnded<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return await Promise.all([first, second]);
}

/** Throws to have the batch decided again without an account that is gone. */
function stillThere(made: ReadonlyMap<string, MeterCharge | null>): Charges {
  return new Map(
    [...made].map(([accountId, charge]) => {
      if (charge !== null) return [accountId, charge];
      throw runAgain("An account was erased meanwhile");
    }),
  );
}

/** Throws to have the batch decided again where its records would be others. */
function checkAdmitted(charges: Charges, expected: Charges): void {
  for (const [accountId, { admitted }] of expected) {
    if (charges.get(accountId)?.admitted === admitted) continue;
    throw runAgain("Another instance counted calls meanwhile");
  }
}
