// What accounts have used: a document each, by the id that stands for the account in the audit. Only batches of lookups write
// it, within their transactions, so of two that count calls of one account at once the second runs again. D-6.4.
import { Binary, type ClientSession, type Db, type Document } from "mongodb";
import { type CallHistory, NO_HISTORY } from "../../../domain/reputation/accounts/call-history.ts";
import type { MeterCharge, MeterReading } from "../../../domain/reputation/accounts/call-meter.ts";
import { type MonthUsage, monthOf } from "../../../domain/reputation/accounts/quota.ts";
import { LOOKUP_LOG, type LogWrite, logId, lookupLogOf, USAGES } from "../driver/lookup-log.ts";
import {
  addCalls,
  blockingMs,
  type CallBuckets,
  NO_CALLS,
  settleBuckets,
  takeCalls,
} from "./call-buckets.ts";

export interface UsageDocument extends Omit<CallBuckets, "packed"> {
  /** `usageId`. */
  readonly _id: string;
  readonly packed: Binary;
  readonly month: string;
  readonly monthCalls: number;
  /** As in `CallHistory`. */
  readonly days?: string;
  readonly keys?: string;
}

interface CallUsage {
  /** The moment; later than asked for when another instance has counted later already. */
  readonly atMs: number;
  readonly buckets: CallBuckets;
  readonly month: MonthUsage | null;
  readonly history: CallHistory;
}

/** Calls of an account that were counted at one moment. */
export interface CountedCalls {
  readonly accountId: string;
  readonly atMs: number;
  readonly calls: number;
}

/** A document that is later than this was written before the clock was set back, not by a faster instance. */
const MAX_LEAD_MS = 5_000;

export function usageId(accountId: string): string {
  return logId(USAGES, accountId);
}

/** Stages that join, as the field `usage`, the document of the account whose subject is in the field `subject`. */
export function joinUsage(): Document[] {
  const usageId = { $concat: [USAGES.prefix, { $first: "$subject.id" }] };
  const join = { from: LOOKUP_LOG.name, localField: "usageId", foreignField: "_id", as: "usage" };
  return [{ $set: { usageId } }, { $lookup: join }, { $unset: "usageId" }];
}

/** The usage that a document tells at a time; undefined for an account that made no call. */
export function usageOf(document: UsageDocument | undefined, nowMs: number): CallUsage {
  if (document === undefined) {
    return { atMs: nowMs, buckets: NO_CALLS, month: null, history: NO_HISTORY };
  }
  const { calls, firstMs, lastMs, packed, month, monthCalls } = document;
  const isLead = lastMs > nowMs && lastMs <= nowMs + MAX_LEAD_MS;
  const atMs = isLead ? lastMs : nowMs;
  const bytes = packed.buffer.subarray(0, packed.position);
  const buckets = settleBuckets({ calls, firstMs, lastMs, packed: bytes }, atMs);
  return { atMs, buckets, month: { month, used: monthCalls }, history: historyOf(document) };
}

export function historyOf({ days, keys }: UsageDocument): CallHistory {
  return { days: days ?? NO_HISTORY.days, keys: keys ?? NO_HISTORY.keys };
}

export function readingOf({ buckets, month }: CallUsage, callsPerMinute: number): MeterReading {
  return { minuteCalls: buckets.calls, blockingMs: blockingMs(buckets, callsPerMinute), month };
}

/** A usage with the calls that a charge admits. */
export function withCharge(usage: CallUsage, { admitted, month }: MeterCharge): CallUsage {
  const { atMs, buckets, history } = usage;
  if (admitted === 0) return usage;
  return { atMs, buckets: addCalls(buckets, { atMs, calls: admitted }), month, history };
}

/** A usage without calls that were counted and then not answered, as far as it has them. */
export function withoutCalls(usage: CallUsage, counted: CountedCalls): CallUsage {
  const { atMs, buckets, month, history } = usage;
  const isSameMonth = month?.month === monthOf(counted.atMs);
  return {
    atMs,
    buckets: takeCalls(buckets, counted),
    month: isSameMonth ? { ...month, used: Math.max(0, month.used - counted.calls) } : month,
    history,
  };
}

/** Keeps an account's usage, within the transaction that read it. */
export function writeUsage(accountId: string, usage: CallUsage, isNew: boolean): LogWrite {
  const { calls, firstMs, lastMs, packed } = usage.buckets;
  const { month = "", used = 0 } = usage.month ?? {};
  const replacement = {
    calls,
    firstMs,
    lastMs,
    packed: new Binary(packed),
    month,
    monthCalls: used,
    days: usage.history.days,
    keys: usage.history.keys,
  };
  return { filter: { _id: usageId(accountId) }, replacement, isNew };
}

/** Begins the count of a new account with calls of the month, within the caller's transaction. D-8.2. */
export async function keepMonth(
  db: Db,
  accountId: string,
  month: MonthUsage,
  tx: ClientSession,
): Promise<void> {
  const { filter, replacement } = writeUsage(accountId, { ...usageOf(undefined, 0), month }, true);
  const usages = lookupLogOf<UsageDocument>(db);
  await usages.replaceOne({ _id: filter._id }, replacement as Omit<UsageDocument, "_id">, {
    upsert: true,
    session: tx,
  });
}
