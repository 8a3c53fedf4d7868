// Decides lookups in one transaction per batch: what it reads is of one moment, and the reply waits for its commit, which
// a majority has on its disks then. The same commit proves that the primary which was read from was the primary still, so
// that no answer comes from a right that has ended (docs/decisions/0037).
import type { ClientSession } from "mongodb";
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
import { allEnded } from "./all-ended.ts";
import type { AuditChainWriter } from "./audit-chain-writer.ts";
import type { AuditPartLister } from "./audit-parts.ts";
import type { CallCounter, PlannedCharge } from "./call-counter.ts";
import type { CountedCaller, LookupReader } from "./lookup-reader.ts";
import { hasCode } from "./mongo-errors.ts";
import { endSessionsInTheWay } from "./open-sessions.ts";
import { runAgain, type StoreParts, writeTogether } from "./store-calls.ts";
import type { Subjects } from "./subjects.ts";

/** What a ledger works with. */
export interface LedgerParts extends StoreParts {
  readonly reader: LookupReader;
  readonly subjects: Subjects;
  readonly chain: AuditChainWriter;
  readonly lister: AuditPartLister;
  readonly counter: CallCounter;
  /** The one of the counter. */
  readonly session: ClientSession;
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
    const done = await writeTogether(this.#parts, async (session, tries) => {
      if (tries > 0) counter.forget();
      await endSessionsInTheWay(this.#parts.db, { tries, session });
      await counter.giveBack();
      const facts = await reader.read(calls, session);
      const { placed, counted } = placeCalls(calls, facts);
      const plans = this.#plan(counted, facts.nowMs);
      // What failed once may have met an instance that holds the document: beside the transaction it can be waited for.
      const within = tries === 0 && plans.every(({ isAlone }) => isAlone) ? plans : null;
      const charges = within === null ? stillThere(await counter.charge(plans)) : planned(within);
      const { outcomes, entries } = decideBatch(placed, { ...facts, charges });
      const [, , written] = await allEnded([
        counter.chargeWithin(within ?? [], session),
        this.#parts.subjects.insert(facts.newSubjects(), session),
        chain.append(entries, session),
      ]);
      return { outcomes, written, facts, within };
    });
    counter.confirm(done.within ?? []);
    done.facts.remember();
    if (done.written !== null) {
      chain.goOnFrom(done.written);
      this.#parts.lister.keepUpWith(done.written.tip);
    }
    return done.outcomes;
  }

  #plan(counted: PlacedBatch<CountedCaller>["counted"], nowMs: number): readonly PlannedCharge[] {
    return counted.map(({ caller: { accountId, limits, usage }, calls }) =>
      this.#parts.counter.plan({ accountId, limits, usage, calls, nowMs }),
    );
  }
}

function planned(plans: readonly PlannedCharge[]): Charges {
  return new Map(plans.map(({ counted, charge }) => [counted.accountId, charge]));
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
