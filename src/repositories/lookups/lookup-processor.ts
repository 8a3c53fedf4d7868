// Decides each batch of lookups in one transaction. Its read tells the time, the counts, and the versions that prove cached values
// current; the domain decides; its writes are counts, chain head and audit block. The commit proves the answers, as snapshot and
// commit are of one member in one term: a member of the newest term has every write that a majority acknowledged, a revocation too,
// and a replaced member gets no majority for the commit. A commit whose reply was lost is asked for again, never run again.
// Snapshots suffice, as others write only the count and, once for each person, the audit key.
import type { MakeAlert } from "../../domain/alerts/alert.ts";
import {
  chargeCalls,
  type MeterCharge,
  type QuotaStep,
  quotaSteps,
} from "../../domain/reputation/accounts/call-meter.ts";
import {
  type Asking,
  CHANGED_DURING_LOOKUP,
  type Confirmed,
  decideBatch,
  isStillGiven,
  type LookupCall,
  type LookupOutcome,
  resolveCallers,
} from "../../domain/reputation/lookups/lookup-batch.ts";
import { AppError, storeTooLate } from "../../domain/shared/errors.ts";
import { MAX_UNCONFIRMED_LOOKUP_MS } from "../../domain/shared/limits.ts";
import {
  type CallLimit,
  CommitInDoubt,
  type DocumentStore,
  type Transaction,
} from "../../ports/documents.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";
import { SUBJECTS } from "../account-collections.ts";
import { queueAlerts } from "../alert-outbox.ts";
import { LOOKUP_LOG, type LookupLogDocument } from "../lookup-collections.ts";
import { type Appended, type AuditChains, type CountedCalls, OwnChain } from "./audit-chains.ts";
import {
  BatchFacts,
  LookupReader,
  type LookupReaderDeps,
  type OwnedCaller,
} from "./lookup-reader.ts";
import { SegmentWriter } from "./segment-writer.ts";
import { type AccountUsage, UsageReader } from "./usage.ts";

export interface LookupProcessorDeps extends LookupReaderDeps {
  readonly documents: DocumentStore;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly chains: AuditChains;
  /** Null: quota alerts are not kept. D-10.12. */
  readonly makeAlert: MakeAlert | null;
}

type ReplyTo<Replies> = (outcomes: readonly LookupOutcome[]) => Replies;

/** A batch that was committed, and when it had begun to read. */
interface Committed {
  readonly outcomes: readonly LookupOutcome[];
  readonly counted: readonly CountedCalls[];
  /** Null when nothing was appended. */
  readonly appended: Appended | null;
  readonly readAtMs: number;
}

/** Changes of so many people of one batch are taken for one of everybody's versions. */
const MANY_PEOPLE = 8;

/**
 * The only way to a lookup's answer: decides lookups, counts them and writes their audit records. D-5.8, D-6.3 to D-6.5.
 *
 * - Answers are as fresh as the store: they see a change of key, plan, profile, platform account or consent that any instance
 *   acknowledged before `decide` was called; changes by other tools as far as docs/operating.md says.
 * - Counts are exact over all instances: of the calls in any 60 seconds, and in a month, never more than the limit are admitted,
 *   and none is refused below it, by the store's clock.
 * - When it resolves, counts and audit records are durable. When it rejects, none of the batch counts, unless it was committed and
 *   could not be confirmed (D-8.3). A batch whose commit is of unknown outcome is given back, at the latest with the next batch.
 * - The audit names a person who can be found by an HMAC with their own key, which an erasure destroys, and any other name by one
 *   with the service's key. Looking up a hidden person takes as much work as an absent one (D-8.5).
 */
export class LookupProcessor {
  readonly #deps: LookupProcessorDeps;
  readonly #reader: LookupReader;
  readonly #segments: SegmentWriter;
  readonly #ownChain = new OwnChain();
  readonly #usages = new UsageReader();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: LookupProcessorDeps) {
    this.#deps = deps;
    this.#reader = new LookupReader(deps);
    this.#segments = new SegmentWriter(deps.documents);
  }

  /** Milliseconds for which it pays to wait for more calls after a batch. */
  get gatherMs(): number {
    return this.#deps.documents.gatherMs ?? 0;
  }

  /**
   * Decides calls, 1 or more, in their order, one batch after the other. Settles before `deadlineMs`, a time of
   * `Clock.monotonicMs`. `replyTo` makes the replies before they are confirmed, as that may take time. Throws
   * `store_unavailable` or `commit_failed`.
   */
  decide<Replies>(
    calls: readonly LookupCall[],
    deadlineMs: number,
    replyTo: ReplyTo<Replies>,
  ): Promise<Confirmed<Replies>> {
    const decided = this.#last.then(() => this.#decide(calls, deadlineMs, replyTo));
    this.#last = decided.catch(() => {});
    return decided;
  }

  /** Resolves when no background write is left. */
  stop(): Promise<void> {
    return this.#segments.stop();
  }

  async #decide<Replies>(
    calls: readonly LookupCall[],
    deadlineMs: number,
    replyTo: ReplyTo<Replies>,
  ): Promise<Confirmed<Replies>> {
    const facts = new BatchFacts(calls);
    const limit = this.#limitOf(deadlineMs);
    const options = { name: "lookups.decide", isProven: true, limit } as const;
    let attempt: Committed | null = null;
    try {
      const committed = await this.#deps.documents.transact(options, async (tx) => {
        attempt = null;
        attempt = await this.#decideOn(calls, facts, tx);
        return attempt;
      });
      this.#remember(facts, committed);
      const value = replyTo(committed.outcomes);
      const confirmedAtMs = await this.#confirmLate(calls, facts, committed, deadlineMs);
      return { value, confirmedAtMs };
    } catch (error) {
      this.#noteFailure(error, attempt);
      // The store may have been restored from a copy: its versions count again from there.
      this.#reader.clear();
      throw error;
    }
  }

  #noteFailure(error: unknown, attempt: Committed | null): void {
    if (!(error instanceof CommitInDoubt) || attempt?.appended == null) return;
    this.#ownChain.doubt(attempt.appended.written, attempt.counted);
  }

  async #decideOn(
    calls: readonly LookupCall[],
    facts: BatchFacts,
    tx: Transaction,
  ): Promise<Committed> {
    const readAtMs = this.#deps.clock.monotonicMs();
    const log = await this.#readProven(facts, tx);
    const { nowMs } = tx;
    const { chain, unanswered } = this.#ownChain.stateAt(log);
    const { callerOf, subjectOf } = facts;
    const { resolved, asking } = resolveCallers(calls, { nowMs, callerOf });
    const usages = await this.#usages.read(tx, { log, callers: asking, unanswered });
    for (const lost of unanswered) usages.get(lost.accountId)?.giveBack(lost);
    const { charges, counted } = this.#charge(tx, asking, usages);
    const { outcomes, entries } = decideBatch(resolved, { nowMs, subjectOf, charges });
    const byAccount = Map.groupBy(entries, ({ accountId }) => accountId);
    for (const [accountId, own] of byAccount) usages.get(accountId)?.noteUse(own, nowMs);
    // Calls are given back only where the head moves too, so that a later batch can tell whether they were.
    if (entries.length === 0) {
      const corrected = [...usages.values()].map((usage) => usage.corrected(nowMs));
      for (const one of corrected) if (one !== null) tx.put(LOOKUP_LOG, one);
      return { outcomes, counted: [], appended: null, readAtMs };
    }
    const changed = new Set([...unanswered, ...counted].map(({ accountId }) => accountId));
    for (const accountId of changed) usages.get(accountId)?.write(tx, accountId);
    for (const subject of facts.newSubjects.values()) tx.put(SUBJECTS, subject);
    const from = chain ?? (await this.#deps.chains.begin(tx));
    return { outcomes, counted, appended: this.#deps.chains.append(tx, from, entries), readAtMs };
  }

  /** Counts the calls of each account that its limits admit. */
  #charge(
    tx: Transaction,
    asking: readonly Asking<OwnedCaller>[],
    usages: ReadonlyMap<string, AccountUsage>,
  ) {
    const charges = new Map<string, MeterCharge>();
    const counted: CountedCalls[] = [];
    for (const { caller, calls } of asking) {
      const { accountId, limits } = caller;
      const usage = usages.get(accountId);
      if (usage === undefined) throw new Error("The usage of an account was not read");
      const reading = usage.reading(limits.callsPerMinute);
      const charge = chargeCalls(reading, { calls, limits, nowMs: usage.atMs });
      charges.set(accountId, charge);
      if (charge.admitted === 0) continue;
      usage.count(charge.admitted);
      usage.month = charge.month;
      counted.push({ accountId, atMs: usage.atMs, calls: charge.admitted });
      this.#tell(tx, caller, usage, charge);
    }
    return { charges, counted };
  }

  /** Reads the documents that every batch changes, and proves what the batch holds; what has changed is read anew. */
  async #readProven(facts: BatchFacts, tx: Transaction): Promise<readonly LookupLogDocument[]> {
    await this.#reader.fill(facts, tx);
    const ids = new Set([...facts.accountIds, ...this.#ownChain.accountsInDoubt]);
    const keys = [...this.#usages.keysOf(ids), ...this.#ownChain.keys];
    const names = facts.versionedNames;
    const news = Array.from(facts.newSubjects.keys(), (name) => [name]);
    const [log, versions, made] = await tx.read(
      { from: LOOKUP_LOG, keys },
      { versionsOf: names },
      { from: SUBJECTS, keys: news },
    );
    const people = facts.people.size;
    if (facts.dropOutdated(names, versions) && made.length === 0) return log;
    // Most likely a commit has raised the versions of everybody.
    if (facts.people.size === 0 && people >= MANY_PEOPLE) this.#reader.clear();
    facts.dropNewSubjects();
    // All reads are of one moment, so what was read anew holds.
    return await this.#readProven(facts, tx);
  }

  /** Raises each quota alert of a month once, in the commit that reaches it. D-10.12. */
  #tell(tx: Transaction, caller: OwnedCaller, usage: AccountUsage, charge: MeterCharge): void {
    const { makeAlert } = this.#deps;
    if (makeAlert === null) return;
    const markOf = ({ month, type }: QuotaStep) => `${month} ${type}`;
    const steps = quotaSteps(charge, caller.limits).filter(
      (step) => !usage.told.includes(markOf(step)),
    );
    if (steps.length === 0) return;
    const account = caller.username;
    queueAlerts(
      tx,
      steps.map((step) => makeAlert({ ...step, account })),
    );
    const ofMonth = usage.told.filter((mark) => mark.startsWith(charge.month.month));
    usage.told = [...ofMonth, ...steps.map(markOf)];
  }

  #remember(facts: BatchFacts, { appended }: Committed): void {
    // Nothing was kept of them.
    if (appended === null) facts.dropNewSubjects();
    else {
      this.#ownChain.goOnFrom(appended.written);
      void this.#segments.note(appended);
    }
    this.#reader.keep(facts);
  }

  /** Confirms late answers by a proven read; resolves to its time. Where one would not be given again: 503, and it counts. D-8.3. */
  async #confirmLate(
    calls: readonly LookupCall[],
    facts: BatchFacts,
    { outcomes, readAtMs }: Committed,
    deadlineMs: number,
  ): Promise<number> {
    const { clock, documents } = this.#deps;
    for (let confirmedAtMs = readAtMs; ; ) {
      if (clock.monotonicMs() - confirmedAtMs <= MAX_UNCONFIRMED_LOOKUP_MS) return confirmedAtMs;
      confirmedAtMs = clock.monotonicMs();
      // SQLite answers a read that begins after its limit.
      if (confirmedAtMs > deadlineMs) throw storeTooLate();
      const limit = this.#limitOf(deadlineMs);
      const options = { name: "lookups.confirm", isProven: true, limit } as const;
      const areGiven = await documents.read(options, async (at) => {
        // A body that runs again may lack what an earlier run has dropped.
        await this.#reader.fill(facts, at);
        const names = facts.versionedNames;
        const [versions] = await at.read({ versionsOf: names });
        // A large write raises the versions of everybody.
        if (!facts.dropOutdated(names, versions)) await this.#reader.fill(facts, at);
        const { callerOf, subjectOf } = facts;
        const now = { nowMs: at.nowMs, callerOf, subjectOf };
        return calls.every((call, i) => isStillGiven(call, outcomes[i], now));
      });
      if (!areGiven) throw new AppError("store_unavailable", CHANGED_DURING_LOOKUP);
    }
  }

  #limitOf(deadlineMs: number): CallLimit | undefined {
    const leftMs = deadlineMs - this.#deps.clock.monotonicMs();
    if (leftMs === Number.POSITIVE_INFINITY) return undefined;
    return { triesMs: Math.max(0, leftMs), endMs: Math.max(0, leftMs) };
  }
}
