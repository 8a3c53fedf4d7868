// Decides a batch of lookups from what was read for it, as if they came one after the other. D-5.8.
import { type KeptApiKey, keptKeyStatus } from "../accounts/api-key.ts";
import type { MeterCharge, Quotas } from "../accounts/call-meter.ts";
import type { LookupEndpoint } from "../accounts/consent.ts";
import type { EffectiveLimits } from "../accounts/plan.ts";
import type { AuditEntry } from "../audit/audit-chain.ts";
import { decideLookup, type LookupDecision, type LookupSubject } from "./lookup.ts";

/** One lookup to be decided. */
export interface LookupCall {
  /** The HMAC of the caller's key with `API_KEY_PEPPER`. */
  readonly keyHash: string;
  readonly endpoint: LookupEndpoint;
  /** The looked-up person, any text. */
  readonly username: string;
  readonly requestId: string;
}

/** What became of one lookup, all at the same moment `nowMs`. */
export type LookupOutcome = { readonly nowMs: number } & (
  | {
      /** Not counted, not audited. */
      readonly kind: "key_refused";
      readonly problem: "api_key_invalid" | "api_key_revoked" | "api_key_expired";
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

/** Who a key belongs to. */
interface LookupCaller {
  readonly key: KeptApiKey;
  /** The account, as the audit names it. */
  readonly accountId: string;
}

/** Who a key belongs to, and how much the account may use: good for as long as neither of them changes. */
export interface LimitedCaller extends LookupCaller {
  readonly limits: EffectiveLimits;
}

/** What a store says of callers, at one moment. */
interface CallerFacts<Caller extends LookupCaller> {
  readonly nowMs: number;
  /** By the hash of the key; null for a key that is not there or has no account. */
  readonly callerOf: (keyHash: string) => Caller | null;
}

/** One call with its caller, or the outcome of one whose key is refused. */
type PlacedCall =
  | {
      readonly call: LookupCall;
      readonly caller: LookupCaller;
      /** How many calls of the account come before it in the batch. */
      readonly place: number;
    }
  | Extract<LookupOutcome, { kind: "key_refused" }>;

/** A batch whose keys have been looked at. */
interface PlacedBatch<Caller extends LookupCaller> {
  /** In the order of the calls. */
  readonly placed: readonly PlacedCall[];
  /** What each account is to be charged for, 1 call or more. */
  readonly counted: readonly { readonly caller: Caller; readonly calls: number }[];
}

/** What the decisions on a batch need beside its callers, of the same moment. */
interface BatchFacts {
  readonly nowMs: number;
  readonly subjectOf: (username: string) => LookupSubject;
  /** What each account was charged, by its id. */
  readonly charges: ReadonlyMap<string, MeterCharge>;
}

/** What a batch comes to. */
interface DecidedBatch {
  /** In the order of the calls. */
  readonly outcomes: readonly LookupOutcome[];
  /** Of the answered calls, in their order. */
  readonly entries: readonly AuditEntry[];
}

/** Finds the caller of every call, and counts the calls of each account. */
export function placeCalls<Caller extends LookupCaller>(
  calls: readonly LookupCall[],
  { nowMs, callerOf }: CallerFacts<Caller>,
): PlacedBatch<Caller> {
  const counts = new Map<string, { readonly caller: Caller; calls: number }>();
  const placed = calls.map((call): PlacedCall => {
    const caller = callerOf(call.keyHash);
    const problem = keyProblem(caller, nowMs);
    if (caller === null || problem !== null) {
      return { kind: "key_refused", problem: problem ?? "api_key_invalid", nowMs };
    }
    const count = counts.get(caller.accountId) ?? { caller, calls: 0 };
    counts.set(caller.accountId, count);
    return { call, caller, place: count.calls++ };
  });
  return { placed, counted: [...counts.values()] };
}

/** Decides every placed call: limits, profile, consent. Throws `Error` when an account was not charged. */
export function decideBatch(
  placed: PlacedBatch<LookupCaller>["placed"],
  { nowMs, subjectOf, charges }: BatchFacts,
): DecidedBatch {
  const entries: AuditEntry[] = [];
  const outcomes = placed.map((one): LookupOutcome => {
    if ("kind" in one) return one;
    const { caller, call, place } = one;
    const { accountId, key } = caller;
    const charge = charges.get(accountId);
    if (charge === undefined) throw new Error("An account was not charged");
    if (place >= charge.admitted) {
      const problem = charge.refusal ?? "rate_limited";
      return { kind: "limited", problem, quotas: charge.quotasAfter(charge.admitted), nowMs };
    }
    const { endpoint, requestId } = call;
    const subject = subjectOf(call.username);
    const request = { endpoint, requestId, accountId, keyId: key.id, nowMs };
    const decision = decideLookup(subject, request);
    entries.push(decision.entry);
    return { kind: "answered", decision, subject, quotas: charge.quotasAfter(place + 1), nowMs };
  });
  return { outcomes, entries };
}

function keyProblem(caller: LookupCaller | null, nowMs: number) {
  if (caller === null) return "api_key_invalid";
  const status = keptKeyStatus(caller.key, nowMs);
  return status === "active" ? null : (`api_key_${status}` as const);
}
