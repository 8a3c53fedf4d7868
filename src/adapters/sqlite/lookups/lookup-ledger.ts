// Decides lookups in one transaction per batch: one wait for the disk, shared by all of its calls. Nothing else writes
// the file while it decides, so an answer is of the very moment that its audit record is of.
import { chargeCalls, type MeterCharge } from "../../../domain/reputation/accounts/call-meter.ts";
import { type AccountPlan, effectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import {
  decideBatch,
  type LimitedCaller,
  type LookupCall,
  type LookupOutcome,
  placeCalls,
} from "../../../domain/reputation/lookups/lookup-batch.ts";
import type { LookupProcessor } from "../../../ports/lookups/lookup-processor.ts";
import type { VersionedCache } from "../../../ports/lookups/versioned-cache.ts";
import { storedKeyOf } from "../accounts/api-key-store.ts";
import {
  type CallsOf,
  type CallsToGiveBack,
  giveBackCalls,
  keepCalls,
  settleCalls,
} from "../accounts/call-counter.ts";
import { readOpenConsents } from "../accounts/consent-store.ts";
import type { PersonRows } from "../accounts/person-rows.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { AuditChainWriter, WrittenChain } from "../audit/audit-chain-writer.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { type ChangeCounts, readChanges } from "./reputation-schema.ts";

const CALLER = `SELECT k.id, k.username, k.name, k.hash, k.prefix, k.last4, k.created_at, k.expires_at,
  k.revoked_at, k.is_revoked, a.plan, a.calls_per_month, a.rate_limit_per_minute, s.id AS account_id
  FROM repsync_api_keys k JOIN repsync_accounts a ON a.username = k.username
  LEFT JOIN repsync_subjects s ON s.username = k.username WHERE k.hash = ?`;

/** More changes than a file sees. */
const ERA_VERSIONS = 1_000_000_000_000;

/** What a ledger works with. */
export interface LedgerParts {
  /** By the hash of the key. */
  readonly callerCache: VersionedCache<LimitedCaller>;
  /** By username. */
  readonly subjectCache: VersionedCache<LookupSubject>;
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
  readonly subjects: Subjects;
  readonly chain: AuditChainWriter;
}

/** The state of one batch. */
interface Batch {
  readonly nowMs: number;
  readonly changes: ChangeCounts;
  readonly callers: Map<string, LimitedCaller | null>;
  readonly subjects: Map<string, LookupSubject>;
  /** By account. */
  readonly charges: Map<string, MeterCharge>;
  /** The chain after the batch; null when nothing was appended. */
  tip: WrittenChain | null;
}

/** The ledger on one SQLite file. */
export class SqliteLookupLedger implements LookupProcessor {
  readonly #database: SqliteDatabase;
  readonly #parts: LedgerParts;
  /** Of batches that were committed and then, as the disk failed, not answered. */
  #unanswered: readonly CallsToGiveBack[] = [];
  /** Added to versions; grows with every failure, so that nothing from before one is used. */
  #era = 0;

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
      // A file that was restored from a copy counts its changes again from there.
      this.#era += ERA_VERSIONS;
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
    for (const [username, subject] of subjects) {
      // Names of nobody would take the room of people.
      if (subject.profile !== null) subjectCache.set(username, changes.people, subject);
    }
  }

  #decideAll(calls: readonly LookupCall[]) {
    for (const unanswered of this.#unanswered) giveBackCalls(this.#database, unanswered);
    const batch: Batch = {
      nowMs: this.#database.nowMs(),
      changes: this.#changes(),
      callers: new Map(),
      subjects: new Map(),
      charges: new Map(),
      tip: null,
    };
    const { nowMs, charges } = batch;
    const callerOf = (keyHash: string) => this.#caller(keyHash, batch);
    const { placed, counted } = placeCalls(calls, { nowMs, callerOf });
    for (const { caller, calls } of counted) {
      charges.set(caller.accountId, this.#charge(caller, calls, nowMs));
    }
    const subjectOf = (username: string) => this.#subject(username, batch);
    const { outcomes, entries } = decideBatch(placed, { nowMs, subjectOf, charges });
    batch.tip = this.#parts.chain.append(entries);
    return { batch, outcomes };
  }

  #changes(): ChangeCounts {
    const { people, callers } = readChanges(this.#database);
    return { people: people + this.#era, callers: callers + this.#era };
  }

  #charge({ accountId, limits }: LimitedCaller, calls: number, nowMs: number): MeterCharge {
    const of: CallsOf = { accountId, nowMs, callsPerMinute: limits.callsPerMinute };
    const reading = settleCalls(this.#database, of);
    const charge = chargeCalls(reading, { calls, limits, nowMs });
    if (charge.admitted > 0) keepCalls(this.#database, of, { reading, charge });
    return charge;
  }

  #caller(keyHash: string, { callers, changes }: Batch): LimitedCaller | null {
    const seen = callers.get(keyHash);
    if (seen !== undefined) return seen;
    const known = this.#parts.callerCache.get(keyHash, changes.callers);
    if (known !== null) return known;
    const caller = this.#readCaller(keyHash);
    callers.set(keyHash, caller);
    return caller;
  }

  #readCaller(keyHash: string): LimitedCaller | null {
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

  #subject(username: string, { subjects, changes, nowMs }: Batch): LookupSubject {
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
            consents: readOpenConsents(this.#database, username, nowMs),
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
