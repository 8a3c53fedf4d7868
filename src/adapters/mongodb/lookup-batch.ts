// Decides a batch of lookups from what was read for it; nothing here waits or writes.
import type { AuditEntry } from "../../domain/reputation/audit-chain.ts";
import type { MeterCharge } from "../../domain/reputation/call-meter.ts";
import { decideLookup, type LookupSubject } from "../../domain/reputation/lookup.ts";
import type { EffectiveLimits } from "../../domain/reputation/plan.ts";
import { type StoredApiKey, storedKeyStatus } from "../../ports/api-key-store.ts";
import type { LookupCall, LookupOutcome } from "../../ports/lookup-ledger.ts";
import type { CallUsage, CountedCalls } from "./call-counter.ts";

/** Who a key belongs to, as far as lookups need it. */
export interface LookupCaller {
  readonly key: StoredApiKey;
  /** The account, as the audit names it. */
  readonly accountId: string;
  readonly limits: EffectiveLimits;
  readonly usage: CallUsage;
}

/** What the store says, all of one moment. */
export interface LookupFacts {
  readonly nowMs: number;
  /** By the hash of the key; none for a key that is not there or has no account. */
  readonly callers: ReadonlyMap<string, LookupCaller>;
  readonly subjectOf: (username: string) => LookupSubject;
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

/** What each account was charged, by its id. */
export type Charges = ReadonlyMap<string, MeterCharge>;

/** A batch whose keys have been looked at. */
export interface PlacedBatch {
  /** In the order of the calls. */
  readonly placed: readonly PlacedCall[];
  /** What each account is to be charged for. */
  readonly counted: readonly CountedCalls[];
}

/** What a batch comes to. */
export interface DecidedBatch {
  /** In the order of the calls. */
  readonly outcomes: readonly LookupOutcome[];
  /** Of the answered calls, in their order. */
  readonly entries: readonly AuditEntry[];
}

/** Finds the caller of every call, and counts the calls of each account. */
export function placeCalls(calls: readonly LookupCall[], facts: LookupFacts): PlacedBatch {
  const { nowMs } = facts;
  const counts = new Map<string, { readonly caller: LookupCaller; calls: number }>();
  const placed = calls.map((call): PlacedCall => {
    const caller = facts.callers.get(call.keyHash);
    const problem = keyProblem(caller, nowMs);
    if (caller === undefined || problem !== null) {
      return { kind: "key_refused", problem: problem ?? "api_key_invalid", nowMs };
    }
    const count = counts.get(caller.accountId) ?? { caller, calls: 0 };
    counts.set(caller.accountId, count);
    return { call, caller, place: count.calls++ };
  });
  const counted = [...counts.values()].map(({ caller, calls: count }) => {
    const { accountId, limits, usage } = caller;
    return { accountId, limits, usage, calls: count, nowMs };
  });
  return { placed, counted };
}

/** Decides every call as if they came one after the other. */
export function decideBatch(
  { placed }: PlacedBatch,
  { facts, charges }: { readonly facts: LookupFacts; readonly charges: Charges },
): DecidedBatch {
  const entries: AuditEntry[] = [];
  const outcomes = placed.map((one): LookupOutcome => {
    if ("kind" in one) return one;
    const { nowMs } = facts;
    const { caller, call, place } = one;
    const { accountId, key } = caller;
    const charge = charges.get(accountId);
    if (charge === undefined) throw new Error("An account was not charged");
    if (place >= charge.admitted) {
      const problem = charge.refusal ?? "rate_limited";
      return { kind: "limited", problem, quotas: charge.quotasAfter(charge.admitted), nowMs };
    }
    const { endpoint, requestId } = call;
    const subject = facts.subjectOf(call.username);
    const request = { endpoint, requestId, accountId, keyId: key.id, nowMs };
    const decision = decideLookup(subject, request);
    entries.push(decision.entry);
    return { kind: "answered", decision, subject, quotas: charge.quotasAfter(place + 1), nowMs };
  });
  return { outcomes, entries };
}

function keyProblem(caller: LookupCaller | undefined, nowMs: number) {
  if (caller === undefined) return "api_key_invalid";
  const status = storedKeyStatus(caller.key, nowMs);
  return status === "active" ? null : (`api_key_${status}` as const);
}
