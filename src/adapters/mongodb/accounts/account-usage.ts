// What accounts have used: a document each, by the id that stands for the account in the audit.
import { Binary, type Document } from "mongodb";
import type { MeterReading } from "../../../domain/reputation/accounts/call-meter.ts";
import type { MonthUsage } from "../../../domain/reputation/accounts/quota.ts";
import { LEDGER, ledgerId, USAGES } from "../driver/ledger-documents.ts";
import { blockingMs, type CallRuns, NO_RUNS, settleRuns } from "./call-runs.ts";

/** What is stored of an account's calls. */
export interface UsageDocument extends Omit<CallRuns, "packed"> {
  /** `usageId`. */
  readonly _id: string;
  readonly packed: Binary;
  readonly month: string;
  readonly monthCalls: number;
  /** Another one with every write. */
  readonly version: string;
  /** The last charge of each instance that had one within the last minutes. */
  readonly charges: readonly StoredCharge[];
}

/** A charge as far as it is needed to give it back, and to end what its instance has left open. */
export interface StoredCharge {
  /** The session of the ledger that made it: `nameOfSession()`. */
  readonly instance: string;
  /** Another one for every charge of the instance. */
  readonly turn: string;
  readonly atMs: number;
  readonly calls: number;
}

/** What an account has used, at one moment. */
export interface CallUsage {
  /** The moment; later than asked for when another instance has counted later already. */
  readonly atMs: number;
  readonly runs: CallRuns;
  readonly month: MonthUsage | null;
  readonly version: string | null;
  readonly charges: readonly StoredCharge[];
}

/** A document that is later than this was written before the clock was set back, not by a faster instance. */
const MAX_LEAD_MS = 5_000;

/** The id of an account's document. */
export function usageId(accountId: string): string {
  return ledgerId(USAGES, accountId);
}

/** Stages that join, as the field `usage`, the document of the account whose subject is in the field `subject`. */
export function joinUsage(): Document[] {
  const usageId = { $concat: [USAGES.prefix, { $first: "$subject.id" }] };
  const join = { from: LEDGER.name, localField: "usageId", foreignField: "_id", as: "usage" };
  return [{ $set: { usageId } }, { $lookup: join }, { $unset: "usageId" }];
}

/** The usage that a document tells at a time; undefined for an account that made no call. */
export function usageOf(document: UsageDocument | null | undefined, nowMs: number): CallUsage {
  if (document === null || document === undefined) {
    return { atMs: nowMs, runs: NO_RUNS, month: null, version: null, charges: [] };
  }
  const { lastMs, month, monthCalls, version, charges } = document;
  const isLead = lastMs > nowMs && lastMs <= nowMs + MAX_LEAD_MS;
  const atMs = isLead ? lastMs : nowMs;
  const runs = settleRuns(runsOf(document), atMs);
  return { atMs, runs, month: { month, used: monthCalls }, version, charges };
}

/** The runs of a document, of whatever time. */
export function runsOf({ calls, firstMs, lastMs, packed }: UsageDocument): CallRuns {
  return { calls, firstMs, lastMs, packed: packed.buffer.subarray(0, packed.position) };
}

/** What a document holds of a usage, beside its id and version. */
export function usageFields({
  runs,
  month,
  charges,
}: Pick<CallUsage, "runs" | "month" | "charges">): Omit<UsageDocument, "_id" | "version"> {
  const { month: name = "", used = 0 } = month ?? {};
  return { ...runs, packed: new Binary(runs.packed), month: name, monthCalls: used, charges };
}

/** What the meter has to know. */
export function readingOf({ runs, month }: CallUsage, callsPerMinute: number): MeterReading {
  return { minuteCalls: runs.calls, blockingMs: blockingMs(runs, callsPerMinute), month };
}
