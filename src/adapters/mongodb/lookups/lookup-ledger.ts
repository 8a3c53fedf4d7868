// Decides lookups in one transaction per batch: what it reads is of one moment, and the reply waits for its commit, which
// a majority has on its disks then. The same commit proves that the primary which was read from was the primary still, so
// that no answer comes from a right that has ended (docs/decisions/0037).
import type { ClientSession } from "mongodb";
import type { MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import {
  decideBatch,
  type LookupCall,
  type LookupOutcome,
  type PlacedBatch,
  placeCalls,
} from "../../../domain/reputation/lookups/lookup-batch.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import type { LookupProcessor } from "../../../ports/lookups/lookup-processor.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { AuditChainWriter, WrittenChain } from "../audit/audit-chain-writer.ts";
import type { AuditPartLister } from "../audit/audit-parts.ts";
import { allEnded } from "../driver/all-ended.ts";
import { hasCode } from "../driver/errors.ts";
import { type LedgerWrite, writeLedger } from "../driver/ledger-writes.ts";
import { endSessionsInTheWay } from "../driver/open-sessions.ts";
import { runAgain, type StoreParts, writeTogether } from "../driver/operations.ts";
import { isElectionOf } from "../driver/primary-monitor.ts";
import type { CallCounter, PlannedCharge } from "./call-counter.ts";
import type { CountedCaller, LookupReader, RecalledFacts } from "./lookup-reader.ts";

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

/** Calls that are decided together, in a transaction that has failed so often. */
interface Batch {
  readonly calls: readonly LookupCall[];
  readonly recalled: RecalledFacts;
  readonly session: ClientSession;
  readonly tries: number;
}

/** What a transaction comes to, once it is committed. */
interface Decided {
  readonly outcomes: readonly LookupOutcome[];
  /** What it charged itself. */
  readonly within: readonly PlannedCharge[];
  /** Null when nothing was appended. */
  readonly written: WrittenChain | null;
  readonly remember: () => void;
}

/** What accounts were charged. */
type Charges = ReadonlyMap<string, MeterCharge>;

/** Server codes of what is too large for one message or transaction. */
const TOO_LARGE = [388, 4568, 10334, 13548, 17419];

/** The ledger on MongoDB. */
export class MongoLookupLedger implements LookupProcessor {
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
    const { reader, chain, counter, lister } = this.#parts;
    const done = await writeTogether(this.#parts, async (session, tries) => {
      await endSessionsInTheWay(this.#parts.db, { tries, session });
      await counter.giveBack();
      const batch = { calls, recalled: reader.recall(calls), session, tries };
      return (await this.#decideRemembered(batch)) ?? (await this.#decideRead(batch));
    });
    counter.confirm(done.within);
    done.remember();
    if (done.written !== null) {
      chain.goOnFrom(done.written);
      lister.keepUpWith(done.written.tip);
    }
    return done.outcomes;
  }

  /**
   * Decides by what is remembered alone; null, and nothing is written, when that is not enough. That it is so still is
   * asked while the writes are made. Nothing was read within the transaction then: that the primary that was asked is the
   * primary still is told by its reply to the writes.
   */
  async #decideRemembered({ calls, recalled, session, tries }: Batch): Promise<Decided | null> {
    const { reader, chain } = this.#parts;
    if (tries > 0 || !chain.isBegun) return null;
    const facts = reader.remembered(recalled);
    if (facts === null) return null;
    const { placed, counted } = placeCalls(calls, facts);
    const within = this.#plan(counted, facts.nowMs);
    if (!within.every(({ isAlone }) => isAlone)) return null;
    const { outcomes, entries } = decideBatch(placed, { ...facts, charges: planned(within) });
    // Without a write there is no proof either.
    const append = await chain.append(entries, session);
    if (append === null) return null;
    const charges = this.#parts.counter.chargeWithin(within);
    const [primary, electionId] = await allEnded([
      reader.confirm(),
      this.#write(charges, append.writes, session),
    ]);
    if (primary === null) throw runAgain("What was remembered is not so any more");
    if (!isElectionOf(primary, electionId)) throw runAgain("The primary changed");
    return { outcomes, within, written: append.written, remember: () => {} };
  }

  async #decideRead({ calls, recalled, session, tries }: Batch): Promise<Decided> {
    const { reader, subjects, chain, counter } = this.#parts;
    const facts = await reader.read(recalled, { session });
    const { placed, counted } = placeCalls(calls, facts);
    const plans = this.#plan(counted, facts.nowMs);
    // What failed once may have met an instance that holds the document: beside the transaction it can be waited for.
    const isWithin = tries === 0 && plans.every(({ isAlone }) => isAlone);
    const within = isWithin ? plans : [];
    const charges = isWithin ? planned(plans) : stillThere(await counter.charge(plans));
    const { outcomes, entries } = decideBatch(placed, { ...facts, charges });
    const append = await chain.append(entries, session);
    await allEnded([
      subjects.insert(facts.newSubjects(), session),
      this.#write(counter.chargeWithin(within), append?.writes ?? [], session),
    ]);
    return {
      outcomes,
      within,
      written: append?.written ?? null,
      remember: () => reader.remember(facts, recalled),
    };
  }

  /** Returns the election that the writes were taken in; null when it is not told, or there are none. */
  async #write(
    charges: readonly LedgerWrite[],
    appends: readonly LedgerWrite[],
    session: ClientSession,
  ): Promise<string | null> {
    const { db, chain } = this.#parts;
    if (charges.length + appends.length === 0) return null;
    const writes = [...charges, ...appends];
    const { areAllDone, electionId } = await writeLedger(db, writes, session);
    if (areAllDone) return electionId;
    if (charges.length > 0) throw runAgain("Another instance counted calls meanwhile");
    // A copy of this process goes on with its chain; this one begins another with the next batch.
    chain.abandon();
    throw new AppError("commit_failed", "The audit chain of this process was changed by another");
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
