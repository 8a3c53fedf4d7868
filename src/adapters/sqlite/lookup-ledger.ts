// Decides lookups in one transaction per batch: one wait for the disk, shared by all of its calls. Nothing else writes
// the file while it decides, so an answer is of the very moment that its audit record is of.
import type { AuditEntry } from "../../domain/reputation/audit-chain.ts";
import { chargeCalls, type MeterCharge } from "../../domain/reputation/call-meter.ts";
import { decideLookup, type LookupSubject } from "../../domain/reputation/lookup.ts";
import {
  type AccountPlan,
  type EffectiveLimits,
  effectiveLimits,
} from "../../domain/reputation/plan.ts";
import { type StoredApiKey, storedKeyStatus } from "../../ports/api-key-store.ts";
import type { LookupCall, LookupLedger, LookupOutcome } from "../../ports/lookup-ledger.ts";
import type { VersionedCache } from "../../ports/versioned-cache.ts";
import { storedKeyOf } from "./api-key-store.ts";
import type { AuditChainWriter, WrittenChain } from "./audit-chain-writer.ts";
import {
  type CallsOf,
  type CallsToGiveBack,
  giveBackCalls,
  keepCalls,
  settleCalls,
} from "./call-counter.ts";
import { readOpenConsents } from "./consent-store.ts";
import type { SqliteDatabase } from "./database.ts";
import type { PersonRows } from "./person-rows.ts";
import { type ChangeCounts, readChanges } from "./reputation-schema.ts";
import type { Subjects } from "./subjects.ts";

const CALLER = `SELECT k.id, k.username, k.name, k.hash, k.prefix, k.last4, k.created_at, k.expires_at,
  k.revoked_at, k.is_revoked, a.plan, a.calls_per_month, a.rate_limit_per_minute, s.id AS account_id
  FROM repsync_api_keys k JOIN repsync_accounts a ON a.username = k.username
  LEFT JOIN repsync_subjects s ON s.username = k.username WHERE k.hash = ?`;

/** Who a key belongs to, as far as lookups need it. */
export interface LookupCaller {
  readonly key: StoredApiKey;
  /** The account, as the audit names it. */
  readonly accountId: string;
  readonly limits: EffectiveLimits;
}

/** What a ledger works with. */
export interface LedgerParts {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
  readonly chain: AuditChainWriter;
  readonly callerCache: VersionedCache<LookupCaller>;
  readonly subjectCache: VersionedCache<LookupSubject>;
}

/** The state of one batch. */
interface Batch {
  readonly nowMs: number;
  readonly changes: ChangeCounts;
  readonly callers: Map<string, LookupCaller | null>;
  readonly subjects: Map<string, LookupSubject>;
  /** By account. */
  readonly charges: Map<string, MeterCharge>;
  /** The chain after the batch; null when nothing was appended. */
  tip: WrittenChain | null;
}

/** One call with what is known of its caller. */
interface PlacedCall {
  readonly call: LookupCall;
  /** Null when the key is refused. */
  readonly caller: LookupCaller | null;
  readonly refusal: LookupOutcome | null;
  /** How many calls of the account come before it in the batch. */
  readonly place: number;
}

/** The ledger on one SQLite file. */
export class SqliteLookupLedger implements LookupLedger {
  readonly #database: SqliteDatabase;
  readonly #parts: LedgerParts;
  /** Of batches that were committed and then, as the disk failed, not answered. */
  #unanswered: readonly CallsToGiveBack[] = [];

  constructor(database: SqliteDatabase, parts: LedgerParts) {
    this.#database = database;
    this.#parts = parts;
  }

  async decide(calls: readonly LookupCall[]): Promise<readonly LookupOutcome[]> {
    let charged: readonly CallsToGiveBack[] = [];
    try {
      const { outcomes } = await this.#database.keepTogether(
        () => this.#decideAll(calls),
        ({ batch }) => {
          this.#remember(batch);
          this.#unanswered = [];
          charged = chargesOf(batch);
        },
      );
      return outcomes;
    } catch (error) {
      this.#unanswered = [...this.#unanswered, ...charged];
      throw error;
    }
  }

  /** Not before the commit: what a transaction that fails has read may never have been there. */
  #remember({ changes, callers, subjects, tip }: Batch): void {
    const { chain, callerCache, subjectCache } = this.#parts;
    if (tip !== null) chain.goOnFrom(tip);
    for (const [key, caller] of callers) {
      if (caller !== null) callerCache.set(key, changes.callers, caller);
    }
    for (const [username, subject] of subjects) subjectCache.set(username, changes.people, subject);
  }

  #decideAll(calls: readonly LookupCall[]) {
    for (const unanswered of this.#unanswered) giveBackCalls(this.#database, unanswered);
    const batch: Batch = {
      nowMs: this.#database.nowMs(),
      changes: readChanges(this.#database),
      callers: new Map(),
      subjects: new Map(),
      charges: new Map(),
      tip: null,
    };
    const entries: AuditEntry[] = [];
    const placed = this.#place(calls, batch);
    const outcomes = placed.map((one) => this.#answer(one, batch, entries));
    batch.tip = this.#parts.chain.append(entries);
    return { batch, outcomes };
  }

  /** Finds every caller, and charges each account for its calls. */
  #place(calls: readonly LookupCall[], batch: Batch): readonly PlacedCall[] {
    const counts = new Map<string, { caller: LookupCaller; calls: number }>();
    const placed = calls.map((call): PlacedCall => {
      const caller = this.#caller(call.keyHash, batch);
      const problem = keyProblem(caller, batch.nowMs);
      if (caller === null || problem !== null) {
        const refusal = { kind: "key_refused", problem, nowMs: batch.nowMs } as LookupOutcome;
        return { call, caller: null, refusal, place: 0 };
      }
      const count = counts.get(caller.accountId) ?? { caller, calls: 0 };
      counts.set(caller.accountId, count);
      return { call, caller, refusal: null, place: count.calls++ };
    });
    for (const { caller, calls } of counts.values()) {
      batch.charges.set(caller.accountId, this.#charge(caller, calls, batch.nowMs));
    }
    return placed;
  }

  #charge({ accountId, limits }: LookupCaller, calls: number, nowMs: number): MeterCharge {
    const of: CallsOf = { accountId, nowMs, callsPerMinute: limits.callsPerMinute };
    const reading = settleCalls(this.#database, of);
    const charge = chargeCalls(reading, { calls, limits, nowMs });
    if (charge.admitted > 0) keepCalls(this.#database, of, { reading, charge });
    return charge;
  }

  #answer({ call, caller, refusal, place }: PlacedCall, batch: Batch, entries: AuditEntry[]) {
    const charge = caller === null ? undefined : batch.charges.get(caller.accountId);
    if (refusal !== null || caller === null || charge === undefined) {
      return refusal as LookupOutcome;
    }
    const { nowMs } = batch;
    if (place >= charge.admitted) {
      const problem = charge.refusal ?? "rate_limited";
      const quotas = charge.quotasAfter(charge.admitted);
      return { kind: "limited", problem, quotas, nowMs } satisfies LookupOutcome;
    }
    const subject = this.#subject(call.username, batch);
    const { endpoint, requestId } = call;
    const { accountId, key } = caller;
    const request = { endpoint, requestId, accountId, keyId: key.id, nowMs };
    const decision = decideLookup(subject, request);
    entries.push(decision.entry);
    const quotas = charge.quotasAfter(place + 1);
    return { kind: "answered", decision, subject, quotas, nowMs } satisfies LookupOutcome;
  }

  #caller(keyHash: string, { callers, changes }: Batch): LookupCaller | null {
    const seen = callers.get(keyHash);
    if (seen !== undefined) return seen;
    const known = this.#parts.callerCache.get(keyHash, changes.callers);
    if (known !== null) return known;
    const caller = this.#readCaller(keyHash);
    callers.set(keyHash, caller);
    return caller;
  }

  #readCaller(keyHash: string): LookupCaller | null {
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
      accountId: accountId ?? this.#parts.subjects.makeAccountId(key.username),
      limits: effectiveLimits(plan),
    };
  }

  #subject(username: string, { subjects, changes }: Batch): LookupSubject {
    const seen = subjects.get(username);
    if (seen !== undefined) return seen;
    const known = this.#parts.subjectCache.get(username, changes.people);
    if (known !== null) return known;
    const { profiles, platformAccounts, subjects: names } = this.#parts;
    const [profile = null] = profiles.read(username);
    const subject: LookupSubject =
      profile === null
        ? { profile, accounts: [], consents: [], subjectHmac: names.hmacOfNobody(username) }
        : {
            profile,
            accounts: platformAccounts.read(username),
            consents: readOpenConsents(this.#database, username),
            subjectHmac: names.makeHmac(username),
          };
    subjects.set(username, subject);
    return subject;
  }
}

function chargesOf({ charges, nowMs }: Batch): readonly CallsToGiveBack[] {
  return [...charges]
    .map(([accountId, { admitted }]) => ({ accountId, atMs: nowMs, calls: admitted }))
    .filter(({ calls }) => calls > 0);
}

function keyProblem(caller: LookupCaller | null, nowMs: number) {
  if (caller === null) return "api_key_invalid";
  const status = storedKeyStatus(caller.key, nowMs);
  return status === "active" ? null : (`api_key_${status}` as const);
}
