// Decides each batch of lookups in one transaction. It reads the time, the counts, and the versions that prove cached values
// current; the domain decides; it writes counts, chain head and audit block. The reply waits until a majority has the commit
// on disk. That commit also proves that the transaction read from the real primary, so no ended right is answered from
// (docs/decisions/0037).
import type { ClientSession } from "mongodb";
import { withUse } from "../../../domain/reputation/accounts/call-history.ts";
import { chargeCalls, type MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import { monthToKeep } from "../../../domain/reputation/accounts/quota.ts";
import type { WrittenChain } from "../../../domain/reputation/audit/audit-chain.ts";
import {
  CHANGED_DURING_LOOKUP,
  decideBatch,
  type LookupCall,
  type LookupOutcome,
  resolveCallers,
} from "../../../domain/reputation/lookups/lookup-batch.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { MAX_UNCONFIRMED_LOOKUP_MS } from "../../../domain/shared/limits.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import { CommitInDoubt } from "../../../ports/documents.ts";
import type { LookupProcessor } from "../../../ports/lookups/lookup-processor.ts";
import {
  type CountedCalls,
  readingOf,
  usageId,
  usageOf,
  withCharge,
  withoutCalls,
  writeUsage,
} from "../accounts/account-usage.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { AuditChainWriter } from "../audit/audit-chain-writer.ts";
import type { SegmentWriter } from "../audit/index-segments.ts";
import { Deadline } from "../driver/deadline.ts";
import { hasCode, innerError, isPassing, toAppError, WRITE_CONFLICT } from "../driver/errors.ts";
import { type LogWrite, writeLookupLog } from "../driver/lookup-log.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { ConflictPatience, giveUpSession } from "../driver/orphaned-transactions.ts";
import { commit, TRANSACTION_OPTIONS } from "../driver/transaction.ts";
import { BatchFacts } from "./batch-facts.ts";
import type { LookupCache } from "./lookup-cache.ts";
import type { BatchReading, LookupReader } from "./lookup-reader.ts";
import { OwnChain } from "./own-chain.ts";
import type { QuotaAlerts, ToldStep } from "./quota-alerts.ts";

interface LookupProcessorDeps extends StoreDeps {
  readonly mac: Mac;
  readonly reader: LookupReader;
  readonly cache: LookupCache;
  readonly subjects: Subjects;
  readonly chainWriter: AuditChainWriter;
  readonly segments: SegmentWriter;
  readonly quotaAlerts: QuotaAlerts;
}

interface Batch {
  readonly calls: readonly LookupCall[];
  readonly facts: BatchFacts;
  readonly deadline: Deadline;
}

/** The outcomes of a batch, and the writes for it. */
interface Decided {
  readonly outcomes: readonly LookupOutcome[];
  readonly writes: readonly LogWrite[];
  readonly counted: readonly CountedCalls[];
  readonly told: readonly ToldStep[];
  /** The chain once that is committed; null when nothing is written. */
  readonly written: WrittenChain | null;
}

/** A transaction that was committed, and when it had begun to read. */
interface Committed {
  readonly outcomes: readonly LookupOutcome[];
  readonly readAtMs: number;
}

const DUPLICATE_KEY = 11000;
/** Server codes of what is too large for one message or transaction. */
const TOO_LARGE = [388, 4568, 10334, 13548, 17419];
/** Pause after a conflict: by chance, so that two instances that count for one account do not meet again and again. */
const MIN_PAUSE_MS = 1;
const MAX_PAUSE_MS = 10;

export class MongoLookupProcessor implements LookupProcessor {
  /** A commit that a majority has on its disks takes several times longer. */
  readonly gatherMs = 3;
  readonly #deps: LookupProcessorDeps;
  readonly #ownChain = new OwnChain();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: LookupProcessorDeps) {
    this.#deps = deps;
  }

  /** One batch after the other: they append to one chain. */
  decide(calls: readonly LookupCall[], deadlineMs: number): Promise<readonly LookupOutcome[]> {
    const deadline = Deadline.at(this.#deps.clock, deadlineMs);
    const decided = this.#last.then(() => this.#decide(calls, deadline));
    this.#last = decided.catch(() => {});
    return decided;
  }

  async #decide(
    calls: readonly LookupCall[],
    deadline: Deadline,
  ): Promise<readonly LookupOutcome[]> {
    if (calls.length === 0) return [];
    try {
      return await this.#decideTogether({ calls, facts: new BatchFacts(calls), deadline });
    } catch (error) {
      const cause = isAppError(error) ? error.cause : error;
      if (calls.length === 1 || !hasCode(cause, ...TOO_LARGE)) throw toAppError(error);
    }
    const half = Math.ceil(calls.length / 2);
    const first = await this.#decide(calls.slice(0, half), deadline);
    return [...first, ...(await this.#decide(calls.slice(half), deadline))];
  }

  async #decideTogether(batch: Batch): Promise<readonly LookupOutcome[]> {
    const { client } = this.#deps;
    const tx = client.startSession({ causalConsistency: false });
    let isAnswered = false;
    try {
      const { outcomes, readAtMs } = await this.#commitDecided(batch, tx);
      await this.#confirmLate(batch, readAtMs, tx);
      isAnswered = true;
      return outcomes;
    } finally {
      if (isAnswered) await tx.endSession();
      else giveUpSession(client, tx);
    }
  }

  /** Runs transactions until one is committed. */
  async #commitDecided(batch: Batch, tx: ClientSession): Promise<Committed> {
    const { client, clock, reader } = this.#deps;
    const { facts, deadline } = batch;
    const patience = new ConflictPatience(client, clock);
    for (let tries = 0; ; tries++) {
      try {
        await reader.fill(facts, deadline);
        const committed = await this.#tryOnce(batch, tx);
        if (committed !== null) return committed;
        // A transaction sees a write before a snapshot does, which waits for a majority.
        if (tries > 0) await this.#pause();
      } catch (thrown) {
        const error = innerError(thrown);
        const isConflict = hasCode(error, WRITE_CONFLICT, DUPLICATE_KEY);
        if (!(isConflict || isPassing(error)) || deadline.isOver()) throw error;
        if (tx.inTransaction()) await deadline.race(tx.abortTransaction());
        facts.dropNewSubjects();
        if (isConflict) {
          await deadline.race(patience.noteConflict());
          await this.#pause();
        } else {
          await deadline.pause(tries);
        }
      }
    }
  }

  /** One transaction; null when it found that the batch holds what has changed since. */
  async #tryOnce({ calls, facts, deadline }: Batch, tx: ClientSession): Promise<Committed | null> {
    const { db, clock, reader, cache, subjects } = this.#deps;
    const { idsInDoubt, accountsInDoubt } = this.#ownChain;
    const names = facts.versionedNames;
    const accountIds = new Set([...facts.accountIds, ...accountsInDoubt]);
    const readAtMs = clock.monotonicMs();
    tx.startTransaction(TRANSACTION_OPTIONS);
    const reading = await deadline.race(
      reader.readBatch(facts, { accountIds, chainIds: idsInDoubt }, tx),
    );
    cache.noteVersions(reading.versions, names);
    if (!facts.dropOutdated(reading.versions)) {
      await deadline.race(tx.abortTransaction());
      return null;
    }
    const { outcomes, writes, counted, told, written } = await this.#decideOn(
      { calls, facts, deadline },
      reading,
      tx,
    );
    if (written !== null) {
      await deadline.race(subjects.insert([...facts.newSubjects.values()], tx));
    }
    if (writes.length > 0) {
      if (!(await deadline.race(writeLookupLog(db, writes, tx)))) {
        // A copy of this process goes on with its chain; this one begins another with the next batch.
        this.#ownChain.abandon();
        throw new AppError("commit_failed", "Another process changed the audit chain of this one");
      }
    }
    try {
      await commit(tx, deadline);
    } catch (error) {
      if (error instanceof CommitInDoubt && written !== null) {
        this.#ownChain.doubt(written, counted);
      }
      throw error;
    }
    this.#remember(facts, written);
    this.#deps.quotaAlerts.remember(told);
    return { outcomes, readAtMs };
  }

  async #decideOn(
    { calls, facts, deadline }: Batch,
    { nowMs, usages, heads }: BatchReading,
    tx: ClientSession,
  ): Promise<Decided> {
    const { chainWriter, quotaAlerts } = this.#deps;
    const { chain, unanswered } = this.#ownChain.stateAt(heads);
    const usageBy = new Map<string, ReturnType<typeof usageOf>>();
    const usageNow = (accountId: string) =>
      usageBy.get(accountId) ?? usageOf(usages.get(usageId(accountId)), nowMs);
    for (const calls of unanswered) {
      const { accountId } = calls;
      // An account that was erased meanwhile has no count any more.
      if (usages.has(usageId(accountId))) {
        usageBy.set(accountId, withoutCalls(usageNow(accountId), calls));
      }
    }
    const callerOf = (keyHash: string) => facts.caller(keyHash);
    const { resolved, counted: toCount } = resolveCallers(calls, { nowMs, callerOf });
    const charges = new Map<string, MeterCharge>();
    const counted: CountedCalls[] = [];
    const corrected: LogWrite[] = [];
    const told: ToldStep[] = [];
    for (const { caller, calls } of toCount) {
      const { accountId, limits } = caller;
      const usage = usageNow(accountId);
      const reading = readingOf(usage, limits.callsPerMinute);
      const charge = chargeCalls(reading, { calls, limits, nowMs: usage.atMs });
      charges.set(accountId, charge);
      if (charge.admitted === 0) {
        const kept = usageOf(usages.get(usageId(accountId)), nowMs);
        const month = monthToKeep(kept.month, nowMs);
        if (month !== kept.month) corrected.push(writeUsage(accountId, { ...kept, month }, false));
        continue;
      }
      usageBy.set(accountId, withCharge(usage, charge));
      counted.push({ accountId, atMs: usage.atMs, calls: charge.admitted });
      const steps = quotaAlerts.reached(caller, charge);
      if (steps.length > 0) await deadline.race(quotaAlerts.tell(caller, steps, tx));
      told.push(...steps.map((step) => ({ accountId, step })));
    }
    const subjectOf = (username: string) => facts.person(username);
    const { outcomes, entries, uses } = decideBatch(resolved, { nowMs, subjectOf, charges });
    for (const use of uses) {
      const usage = usageNow(use.accountId);
      usageBy.set(use.accountId, { ...usage, history: withUse(usage.history, use, nowMs) });
    }
    // Calls are given back only where the head moves too, so that a later batch can tell whether they were.
    if (entries.length === 0) {
      return { outcomes, writes: corrected, counted: [], told: [], written: null };
    }
    const from = chain ?? (await deadline.race(chainWriter.begin(tx)));
    const append = chainWriter.append(from, entries);
    const counts = Array.from(usageBy, ([accountId, usage]) =>
      writeUsage(accountId, usage, !usages.has(usageId(accountId))),
    );
    const writes = [...counts, ...append.writes];
    return { outcomes, counted, told, writes, written: append.written };
  }

  #remember(facts: BatchFacts, written: WrittenChain | null): void {
    const { cache, segments } = this.#deps;
    if (written !== null) {
      this.#ownChain.goOnFrom(written);
      segments.keepUpWith(written.tip);
    } else {
      // Nothing was kept of them.
      facts.dropNewSubjects();
    }
    for (const [hash, { value, version }] of facts.callers) {
      if (value !== null) cache.keepCaller(hash, { value, version });
    }
    for (const [username, held] of facts.people) cache.keepPerson(username, held);
  }

  /**
   * An answer that has taken long is confirmed by a transaction that only reads: its commit proves the primary too. When a
   * version has changed the calls are answered 503, and count, as their records are kept. D-8.3.
   */
  async #confirmLate({ facts, deadline }: Batch, readAtMs: number, tx: ClientSession) {
    const { clock, reader } = this.#deps;
    let confirmedAtMs = readAtMs;
    while (clock.monotonicMs() - confirmedAtMs > MAX_UNCONFIRMED_LOOKUP_MS) {
      confirmedAtMs = clock.monotonicMs();
      tx.startTransaction(TRANSACTION_OPTIONS);
      const nothing = { accountIds: [], chainIds: [] };
      const { versions } = await deadline.race(reader.readBatch(facts, nothing, tx));
      if (!facts.dropOutdated(versions)) {
        throw new AppError("store_unavailable", CHANGED_DURING_LOOKUP);
      }
      await commit(tx, deadline);
    }
  }

  async #pause(): Promise<void> {
    const [byte = 0] = this.#deps.mac.randomBytes(1);
    const ms = MIN_PAUSE_MS + (byte / 255) * (MAX_PAUSE_MS - MIN_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
