// Decides a batch of lookups from what was read for it, as if they came one after the other. D-5.8.
import type { JsonObject } from "../../shared/json.ts";
import { type ApiKeyValidity, apiKeyStatus } from "../accounts/api-key.ts";
import type { AccountUse } from "../accounts/call-history.ts";
import type { MeterCharge, Quotas } from "../accounts/call-meter.ts";
import {
  type Consent,
  findCoveringConsent,
  type LookupEndpoint,
  ownPurpose,
} from "../accounts/consent.ts";
import type { EffectiveLimits } from "../accounts/plan.ts";
import type { AuditEntry } from "../audit/audit-chain.ts";
import { isPublicProfile } from "../score/profile.ts";

/** The 503 of a lookup that took long and is no longer current. D-8.3. */
export const CHANGED_DURING_LOOKUP = "A right changed while the lookup was under way";

export interface LookupCall {
  /** The HMAC of the caller's key with `API_KEY_PEPPER`. */
  readonly keyHash: string;
  readonly endpoint: LookupEndpoint;
  /** The looked-up username, any text. */
  readonly username: string;
  readonly requestId: string;
}

type KeyProblem =
  | "api_key_invalid"
  | "api_key_revoked"
  | "api_key_expired"
  /** The key is good. D-8.8. */
  | "account_suspended";

/** A reply, or those of a batch. */
export interface Confirmed<Value> {
  readonly value: Value;
  /** The time of the read that it rests on or was confirmed by, of `Clock.monotonicMs`. */
  readonly confirmedAtMs: number;
}

/** The outcome of one lookup; all of a batch have the same time. */
export type LookupOutcome = {
  readonly nowMs: number;
} & (
  | {
      /** Not counted, not audited. */
      readonly kind: "key_refused";
      readonly problem: KeyProblem;
    }
  | {
      /** Not counted, not audited. */
      readonly kind: "limited";
      readonly problem: "rate_limited" | "quota_exceeded";
      readonly quotas: Quotas;
    }
  | {
      /** Counted and audited. `subject` is the same object for as long as nothing about it changed. */
      readonly kind: "answered";
      readonly decision: LookupDecision;
      readonly subject: LookupSubject;
      readonly quotas: Quotas;
    }
);

/** An API key with its account and the account's limits; valid while none of them changes. */
export interface LookupCaller {
  readonly key: ApiKeyValidity;
  /** The account's id in the audit log. */
  readonly accountId: string;
  readonly isSuspended: boolean;
  readonly limits: EffectiveLimits;
}

interface CallerFacts<Caller extends LookupCaller> {
  readonly nowMs: number;
  /** Null for a key that is missing or has no account. */
  readonly callerOf: (keyHash: string) => Caller | null;
}

type ResolvedCall =
  | {
      readonly call: LookupCall;
      readonly caller: LookupCaller;
      /** Calls of the account before this one in the batch. */
      readonly index: number;
    }
  | Extract<LookupOutcome, { kind: "key_refused" }>;

/** An account with its calls in a batch. */
export interface Asking<Caller extends LookupCaller> {
  readonly caller: Caller;
  calls: number;
}

interface ResolvedBatch<Caller extends LookupCaller> {
  /** In the order of the calls. */
  readonly resolved: readonly ResolvedCall[];
  readonly asking: readonly Asking<Caller>[];
}

/** Subjects and charges of a batch, of the same moment as its callers. */
interface DecisionFacts {
  readonly nowMs: number;
  readonly subjectOf: (username: string) => LookupSubject;
  /** By account id. */
  readonly charges: ReadonlyMap<string, MeterCharge>;
}

interface DecidedBatch {
  /** In the order of the calls. */
  readonly outcomes: readonly LookupOutcome[];
  /** The audit entries of the answered calls, in their order. */
  readonly entries: readonly AuditEntry[];
  /** The answered calls by account. D-8.11. */
  readonly uses: readonly AccountUse[];
}

/** Finds the caller of every call, refuses bad keys, and counts the calls of each account. */
export function resolveCallers<Caller extends LookupCaller>(
  calls: readonly LookupCall[],
  { nowMs, callerOf }: CallerFacts<Caller>,
): ResolvedBatch<Caller> {
  const asking = new Map<string, Asking<Caller>>();
  const resolved = calls.map((call): ResolvedCall => {
    const caller = callerOf(call.keyHash);
    const problem = keyProblem(caller, nowMs);
    if (caller === null || problem !== null) {
      return { kind: "key_refused", problem: problem ?? "api_key_invalid", nowMs };
    }
    const account = asking.getOrInsert(caller.accountId, { caller, calls: 0 });
    return { call, caller, index: account.calls++ };
  });
  return { resolved, asking: [...asking.values()] };
}

/** Decides every resolved call: limits, profile, consent. Throws `Error` when an account was not charged. */
export function decideBatch(
  resolved: readonly ResolvedCall[],
  { nowMs, subjectOf, charges }: DecisionFacts,
): DecidedBatch {
  const entries: AuditEntry[] = [];
  const uses = new Map<string, AccountUse>();
  const outcomes = resolved.map((one): LookupOutcome => {
    if ("kind" in one) return one;
    const { caller, call, index } = one;
    const charge = charges.get(caller.accountId);
    if (charge === undefined) throw new Error("An account was not charged");
    if (index >= charge.admitted) {
      const problem = charge.refusal ?? "rate_limited";
      return { kind: "limited", problem, quotas: charge.quotasAfter(charge.admitted), nowMs };
    }
    const subject = subjectOf(call.username);
    const decision = decideLookup(call, caller, subject, nowMs);
    entries.push(decision.entry);
    noteUse(uses, caller, decision);
    return { kind: "answered", decision, subject, quotas: charge.quotasAfter(index + 1), nowMs };
  });
  return { outcomes, entries, uses: [...uses.values()] };
}

/** True where callers and people at a later moment give the answer again, by the same consent; refusals tell of nobody. D-8.3. */
export function isStillGiven(
  call: LookupCall,
  outcome: LookupOutcome | undefined,
  { nowMs, callerOf, subjectOf }: CallerFacts<LookupCaller> & Pick<DecisionFacts, "subjectOf">,
): boolean {
  if (outcome?.kind !== "answered") return true;
  const caller = callerOf(call.keyHash);
  if (caller === null || keyProblem(caller, nowMs) !== null) return false;
  const { code, entry } = outcome.decision;
  const again = decideLookup(call, caller, subjectOf(call.username), nowMs);
  // A person who has taken an erased name gives another consent.
  return again.code === code && again.entry.consentId === entry.consentId;
}

function noteUse(
  uses: Map<string, AccountUse>,
  { accountId, key }: LookupCaller,
  { code }: LookupDecision,
): void {
  const begin = () => ({ accountId, calls: 0, denied: 0, keyIds: new Set<string>() });
  const use = uses.getOrInsertComputed(accountId, begin);
  use.calls++;
  if (code !== null) use.denied++;
  use.keyIds.add(key.id);
}

/** Why a caller may not ask now; null when it may. D-5.8, D-8.8. */
function keyProblem(caller: LookupCaller | null, nowMs: number): KeyProblem | null {
  if (caller === null) return "api_key_invalid";
  const status = apiKeyStatus(caller.key, nowMs);
  if (status !== "active") return `api_key_${status}`;
  return caller.isSuspended ? "account_suspended" : null;
}

export interface LookupSubject {
  /** The row of `profiles`; null when there is none. */
  readonly profile: JsonObject | null;
  readonly accounts: readonly JsonObject[];
  /** The consents that were not ended; expired ones may be among them. */
  readonly consents: readonly Consent[];
  /** Stands for the person in the audit log. */
  readonly subjectHmac: string;
}

interface LookupDecision {
  /** Null when allowed. */
  readonly code: "profile_not_found" | "consent_required" | null;
  readonly entry: AuditEntry;
}

/** Key and limits are good. A hidden profile is answered like a missing one. D-5.8, D-6.2. */
function decideLookup(
  { endpoint, requestId }: LookupCall,
  { accountId, key }: LookupCaller,
  subject: LookupSubject,
  nowMs: number,
): LookupDecision {
  const isThere = subject.profile !== null && isPublicProfile(subject.profile);
  const consent = isThere ? findCoveringConsent(subject.consents, endpoint, nowMs) : null;
  const refusal = isThere ? "consent_required" : "profile_not_found";
  const code = consent === null ? refusal : null;
  return {
    code,
    entry: {
      // With all three digits, as stores order records by this text.
      at: new Date(nowMs).toISOString(),
      requestId,
      accountId,
      keyId: key.id,
      endpoint,
      purpose: ownPurpose(endpoint),
      subjectHmac: subject.subjectHmac,
      consentId: consent?.id ?? null,
      decision: code === null ? "allowed" : "denied",
      code,
      status: code === null ? 200 : code === "consent_required" ? 403 : 404,
    },
  };
}
