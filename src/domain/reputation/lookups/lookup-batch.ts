// Decides a batch of lookups from what was read for it, as if they came one after the other. D-5.8.
import type { JsonObject } from "../../shared/json.ts";
import { type ApiKeyValidity, apiKeyStatus } from "../accounts/api-key.ts";
import type { MeterCharge, Quotas } from "../accounts/call-meter.ts";
import {
  type Consent,
  findCoveringConsent,
  type LookupEndpoint,
  ownPurpose,
} from "../accounts/consent.ts";
import type { EffectiveLimits } from "../accounts/plan.ts";
import type { AuditEntry } from "../audit/audit-chain.ts";

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

/** A call with a good key. */
interface AdmittedCall {
  readonly call: LookupCall;
  readonly caller: LookupCaller;
  /** Calls of the account before this one in the batch. */
  readonly index: number;
}

type ResolvedCall = AdmittedCall | Extract<LookupOutcome, { kind: "key_refused" }>;

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
  // With all three digits, as stores order records by this text.
  const at = new Date(nowMs).toISOString();
  const entries: AuditEntry[] = [];
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
    const decision = decideLookup(call, subject, nowMs);
    entries.push(entryOf(at, one, subject, decision));
    return { kind: "answered", decision, subject, quotas: charge.quotasAfter(index + 1), nowMs };
  });
  return { outcomes, entries };
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
  const { code, consentId } = outcome.decision;
  const again = decideLookup(call, subjectOf(call.username), nowMs);
  // A person who has taken an erased name gives another consent.
  return again.code === code && again.consentId === consentId;
}

/** Why a caller may not ask now; null when it may. D-5.8, D-8.8. */
function keyProblem(caller: LookupCaller | null, nowMs: number): KeyProblem | null {
  if (caller === null) return "api_key_invalid";
  const status = apiKeyStatus(caller.key, nowMs);
  if (status !== "active") return `api_key_${status}`;
  return caller.isSuspended ? "account_suspended" : null;
}

export interface LookupSubject {
  /** The row of `profiles`; null when there is none, or it is hidden. D-6.2. */
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
  /** The consent that allows it; else null. */
  readonly consentId: number | null;
}

/** Key and limits are good. D-5.8. */
function decideLookup(
  { endpoint }: LookupCall,
  { profile, consents }: LookupSubject,
  nowMs: number,
): LookupDecision {
  if (profile === null) return { code: "profile_not_found", consentId: null };
  const consent = findCoveringConsent(consents, endpoint, nowMs);
  if (consent === null) return { code: "consent_required", consentId: null };
  return { code: null, consentId: consent.id };
}

function entryOf(
  at: string,
  { call: { endpoint, requestId }, caller: { accountId, key } }: AdmittedCall,
  { subjectHmac }: LookupSubject,
  { code, consentId }: LookupDecision,
): AuditEntry {
  return {
    at,
    requestId,
    accountId,
    keyId: key.id,
    endpoint,
    purpose: ownPurpose(endpoint),
    subjectHmac,
    consentId,
    decision: code === null ? "allowed" : "denied",
    code,
    status: code === null ? 200 : code === "consent_required" ? 403 : 404,
  };
}
