// Decides lookups in one transaction per batch, whose commit is one wait for the disk. Nothing else writes the file
// meanwhile, so an answer is of the very moment that its audit record is of.
import type { MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import { type AccountPlan, effectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { WrittenChain } from "../../../domain/reputation/audit/audit-chain.ts";
import {
  CHANGED_DURING_LOOKUP,
  decideBatch,
  keyProblem,
  type LimitedCaller,
  type LookupCall,
  type LookupOutcome,
  resolveCallers,
} from "../../../domain/reputation/lookups/lookup-batch.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { MAX_UNCONFIRMED_LOOKUP_MS } from "../../../domain/shared/limits.ts";
import type { LookupProcessor } from "../../../ports/lookups/lookup-processor.ts";
import { storedKeyOf } from "../accounts/api-key-store.ts";
import { countCalls, USAGE_COLUMNS, type Usage, usageOf } from "../accounts/call-counter.ts";
import { noteUse } from "../accounts/call-history.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { AuditChainWriter } from "../audit/audit-chain-writer.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { PeopleOfBatch, PersonReader } from "./person-reader.ts";
import type { QuotaAlerts, ToldStep } from "./quota-alerts.ts";

/** Read anew with every batch: counts have to be, and the rest of the row costs little more. */
const CALLER = `SELECT k.id, k.username, k.name, k.hash, k.prefix, k.last4, k.created_at, k.expires_at,
  k.revoked_at, k.is_revoked, a.plan, a.calls_per_month, a.rate_limit_per_minute, a.suspended_at_ms,
  s.id AS account_id,
  ${USAGE_COLUMNS} FROM repsync_api_keys k JOIN repsync_accounts a ON a.username = k.username
  LEFT JOIN repsync_subjects s ON s.username = k.username
  LEFT JOIN repsync_usage u ON u.account_id = s.id WHERE k.hash = ?`;

interface ProcessorDeps {
  readonly people: PersonReader;
  readonly subjects: Subjects;
  readonly chain: AuditChainWriter;
  readonly quotaAlerts: QuotaAlerts;
}

interface CountedCaller extends LimitedCaller {
  readonly username: string;
  readonly usage: Usage;
}

interface DecidedBatch {
  readonly outcomes: readonly LookupOutcome[];
  /** By the hash of the key. */
  readonly callers: ReadonlyMap<string, CountedCaller | null>;
  readonly people: PeopleOfBatch;
  readonly told: readonly ToldStep[];
  /** The chain after the batch; null when nothing was appended. */
  readonly tip: WrittenChain | null;
  /** Monotonic time before anything was read. */
  readonly readAtMs: number;
  readonly nowMs: number;
}

export class SqliteLookupProcessor implements LookupProcessor {
  readonly #database: SqliteDatabase;
  readonly #deps: ProcessorDeps;

  constructor(database: SqliteDatabase, deps: ProcessorDeps) {
    this.#database = database;
    this.#deps = deps;
  }

  async decide(
    calls: readonly LookupCall[],
    deadlineMs: number,
  ): Promise<readonly LookupOutcome[]> {
    const { people, chain, quotaAlerts } = this.#deps;
    try {
      const batch = await this.#database.keep(() => this.#decideAll(calls), {
        deadlineMs: deadlineMs - this.#database.monotonicMs(),
        committed: (decided) => {
          if (decided.tip !== null) chain.goOnFrom(decided.tip);
          people.remember(decided.people);
          quotaAlerts.remember(decided.told);
        },
      });
      await this.#confirm(batch);
      return batch.outcomes;
    } catch (error) {
      // The file may have been restored from a copy: its versions count again from there.
      people.forgetAll();
      if (isAppError(error, "commit_failed")) chain.beginAnother();
      throw error;
    }
  }

  #decideAll(calls: readonly LookupCall[]): DecidedBatch {
    const readAtMs = this.#database.monotonicMs();
    const nowMs = this.#database.nowMs();
    const callers = new Map<string, CountedCaller | null>();
    const callerOf = (keyHash: string) => {
      const known = callers.get(keyHash);
      const caller = known === undefined ? this.#readCaller(keyHash) : known;
      callers.set(keyHash, caller);
      return caller;
    };
    const { resolved, counted } = resolveCallers(calls, { nowMs, callerOf });
    const charges = new Map<string, MeterCharge>();
    const told: ToldStep[] = [];
    for (const { caller, calls } of counted) {
      const { accountId, limits, usage } = caller;
      const attempt = { accountId, limits, calls, nowMs };
      const charge = countCalls(this.#database, usage, attempt);
      charges.set(accountId, charge);
      told.push(...this.#deps.quotaAlerts.tell(caller, caller.username, charge));
    }
    const people = this.#deps.people.begin(calls.map(({ username }) => username));
    const subjectOf = (username: string) => this.#deps.people.read(people, username, nowMs);
    const { outcomes, entries, uses } = decideBatch(resolved, { nowMs, subjectOf, charges });
    for (const use of uses) noteUse(this.#database, use, nowMs);
    const tip = this.#deps.chain.append(entries);
    return { outcomes, callers, people, told, tip, readAtMs, nowMs };
  }

  #readCaller(keyHash: string): CountedCaller | null {
    const [row] = this.#database.all(CALLER, [keyHash]);
    if (row === undefined) return null;
    const key = storedKeyOf(row);
    const plan = {
      plan: row["plan"],
      callsPerMonth: row["calls_per_month"],
      rateLimitPerMinute: row["rate_limit_per_minute"],
    } as AccountPlan;
    const accountId = row["account_id"] as string | null;
    return {
      key,
      username: key.username,
      isSuspended: row["suspended_at_ms"] !== null,
      accountId: accountId ?? this.#deps.subjects.makeAccountId(key.username),
      limits: effectiveLimits(plan),
      usage: usageOf(row),
    };
  }

  /** A batch that took long may be answered only if its people and keys are still as it read them. D-8.3. */
  async #confirm({ callers, people, readAtMs, nowMs }: DecidedBatch): Promise<void> {
    if (this.#database.monotonicMs() - readAtMs <= MAX_UNCONFIRMED_LOOKUP_MS) return;
    const isActive = (caller: LimitedCaller) => keyProblem(caller, nowMs) === null;
    const isCurrent = await this.#database.read(() => {
      for (const [keyHash, caller] of callers) {
        if (caller === null || !isActive(caller)) continue;
        const now = this.#readCaller(keyHash);
        if (now === null || !isActive(now)) return false;
      }
      return this.#deps.people.isCurrent(people);
    });
    if (!isCurrent) {
      throw new AppError("store_unavailable", CHANGED_DURING_LOOKUP);
    }
  }
}
