// The usage of accounts, counted by each batch of lookups in its own commit, so that counts are exact over instances. D-6.4. One
// document holds month and calls, so charges of an account come one after the other. Calls of the last minute are packed in buckets
// of two to three bytes; a full page of two KiB is a document of its own, which a batch reads only where it needs it.
import {
  type CallHistory,
  type CountedCall,
  type KeyUse,
  lastUses,
  NO_HISTORY,
  withUse,
} from "../../domain/reputation/accounts/call-history.ts";
import type { MeterReading } from "../../domain/reputation/accounts/call-meter.ts";
import {
  type CallBucket,
  CallWindow,
  fullPages,
  NO_CALLS,
  neededPages,
} from "../../domain/reputation/accounts/call-window.ts";
import {
  type EffectiveLimits,
  type MonthUsage,
  monthOf,
} from "../../domain/reputation/accounts/plan.ts";
import { type Key, keysOf } from "../../domain/shared/document-key.ts";
import type { Reader, Transaction } from "../../ports/documents.ts";
import { SUBJECTS } from "../account-collections.ts";
import {
  type CallsDocument,
  type KeyUseDocument,
  LOOKUP_LOG,
  type LookupLogDocument,
  type UsageDocument,
} from "../lookup-collections.ts";
import { Repository } from "../repository.ts";
import type { CountedCalls } from "./audit-chains.ts";
import type { OwnedCaller } from "./lookup-reader.ts";

/** A time ahead by no more than this is of a faster instance, not of a clock that was set back. */
const MAX_LEAD_MS = 5_000;

export class Usage extends Repository {
  /** The calls of an account so far, on all instances, and their history (D-8.11). */
  async read(username: string, { callsPerMinute }: EffectiveLimits) {
    return await this.reading("usage.read", async (at) => {
      const stored = await findUsage(at, username);
      const usage = new AccountUsage(stored, at.nowMs);
      const [pages] = await at.read({ from: LOOKUP_LOG, keys: usage.pages(callsPerMinute) });
      usage.settle(pages);
      const history: CallHistory = stored ?? NO_HISTORY;
      return { reading: usage.reading(callsPerMinute), history, nowMs: usage.atMs };
    });
  }

  /** The times at which an account's keys were last used, as `lastUses`. D-8.11. */
  async keyUses(username: string): Promise<ReadonlyMap<string, string>> {
    return await this.reading("usage.key_uses", async (at) => {
      const usage = await findUsage(at, username);
      if (usage === undefined) return new Map();
      const within = [keyUsesOf(usage.accountId)];
      const [passed] = await at.read({ from: LOOKUP_LOG, stretch: { within } });
      return lastUses(usage, passed as readonly KeyUseDocument[]);
    });
  }
}

function usageKey(accountId: string): Key {
  return ["usage", accountId];
}

function callsKey(accountId: string, page: number): Key {
  return ["calls", accountId, page];
}

function keyUsesOf(accountId: string): Key {
  return ["key_use", accountId];
}

/** An account without an id has made no call. */
async function findUsage(at: Reader, username: string): Promise<UsageDocument | undefined> {
  const [[subject]] = await at.read({ from: SUBJECTS, keys: keysOf(username) });
  if (subject === undefined) return undefined;
  const [[found]] = await at.read({ from: LOOKUP_LOG, keys: [usageKey(subject.id)] });
  return found as UsageDocument | undefined;
}

/** The calls of the last month that had any, within a body; null for none. */
export async function monthOfAccount(at: Reader, accountId: string): Promise<MonthUsage | null> {
  const [[found]] = await at.read({ from: LOOKUP_LOG, keys: [usageKey(accountId)] });
  return found === undefined ? null : new AccountUsage(found as UsageDocument, 0).month;
}

/** Begins the count of a new account with earlier calls of its name, within a body. D-8.2. */
export function keepMonth(tx: Transaction, accountId: string, month: MonthUsage): void {
  const usage = new AccountUsage(undefined, 0);
  usage.month = month;
  tx.put(LOOKUP_LOG, usage.document(accountId));
}

/** Removes all counts of an account, within a body. */
export async function removeUsage(tx: Transaction, accountId: string): Promise<void> {
  const within = [["calls", accountId], keyUsesOf(accountId)];
  const [others] = await tx.read({ from: LOOKUP_LOG, keysOf: { within } });
  for (const key of [usageKey(accountId), ...others]) tx.remove(LOOKUP_LOG, key);
}

/** Removes the last uses of forgotten keys, within a body; those that the account's usage still holds stay. */
export async function removeKeyUses(
  tx: Transaction,
  username: string,
  keyIds: readonly string[],
): Promise<void> {
  const [[subject]] = await tx.read({ from: SUBJECTS, keys: [[username]] });
  if (subject === undefined) return;
  for (const id of keyIds) tx.remove(LOOKUP_LOG, [...keyUsesOf(subject.id), id]);
}

/** The usage of one account at one moment, as a body reads and changes it. */
export class AccountUsage {
  /** The moment; later than asked for where another instance has counted later. */
  readonly atMs: number;
  month: MonthUsage | null;
  #history: CallHistory;
  #passed: readonly KeyUse[] = [];
  told: readonly string[];
  readonly #stored: UsageDocument | undefined;
  readonly #window: CallWindow;

  /** The usage of a document. An instance whose clock is a little behind counts at the last time written. */
  constructor(stored: UsageDocument | undefined, nowMs: number) {
    this.#stored = stored;
    const lastMs = stored?.lastMs ?? 0;
    const isLead = lastMs > nowMs && lastMs <= nowMs + MAX_LEAD_MS;
    this.atMs = isLead ? lastMs : nowMs;
    this.#window = new CallWindow(stored ?? NO_CALLS);
    const isCounted = stored !== undefined && stored.month !== "";
    this.month = isCounted ? { month: stored.month, used: stored.monthCalls } : null;
    this.#history = stored ?? NO_HISTORY;
    this.told = stored?.told ?? [];
  }

  /** The document with this month in place of a later one, which would stay full until then; null without a later one. D-8.4. */
  corrected(nowMs: number): UsageDocument | null {
    const month = monthOf(nowMs);
    const isAhead = this.#stored !== undefined && this.#stored.month > month;
    return isAhead ? { ...this.#stored, month } : null;
  }

  /** Keys of the full pages that are needed before `settle`: those that such a limit needs, or all for null. */
  pages(callsPerMinute: number | null): readonly Key[] {
    const { sums } = this.#window;
    const needed =
      callsPerMinute === null ? fullPages(sums) : neededPages(sums, this.atMs, callsPerMinute);
    const accountId = this.#stored?.accountId ?? "";
    return needed.map((page) => callsKey(accountId, page));
  }

  /** Takes the full pages that were read, and drops calls that no longer count. */
  settle(pages: readonly object[]): void {
    const own = (pages as readonly CallsDocument[]).filter(
      ({ kind, accountId }) => kind === "calls" && accountId === this.#stored?.accountId,
    );
    this.#window.settle(this.atMs, new Map(own.map(({ page, packed }) => [page, packed])));
  }

  reading(callsPerMinute: number): MeterReading {
    const { calls: minuteCalls } = this.#window;
    const blockingMs = this.#window.blockingMs(callsPerMinute);
    return { minuteCalls, blockingMs, month: this.month };
  }

  count(calls: number): void {
    this.#window.add({ atMs: this.atMs, calls });
  }

  /** Takes back calls that were counted and not answered, as far as they are there. */
  giveBack(counted: CallBucket): void {
    this.#window.take(counted);
    const { month } = this;
    if (month?.month !== monthOf(counted.atMs)) return;
    this.month = { ...month, used: Math.max(0, month.used - counted.calls) };
  }

  noteUse(calls: readonly CountedCall[], nowMs: number): void {
    const { passed, ...history } = withUse(this.#history, calls, nowMs);
    this.#history = history;
    this.#passed = passed;
  }

  document(accountId: string): UsageDocument {
    const { firstPage, pages, offset, lastMs, packed } = this.#window.sums;
    const calls = { firstPage, pages, offset, lastMs, packed };
    const { month = "", used: monthCalls = 0 } = this.month ?? {};
    const { days, keys } = this.#history;
    return { kind: "usage", accountId, ...calls, month, monthCalls, days, keys, told: this.told };
  }

  write(tx: Transaction, accountId: string): void {
    for (const { page, packed } of this.#window.filled) {
      tx.put(LOOKUP_LOG, { kind: "calls", accountId, page, packed });
    }
    const left = fullPages(this.#window.sums);
    for (const page of fullPages(this.#stored ?? NO_CALLS)) {
      if (!left.includes(page)) tx.remove(LOOKUP_LOG, callsKey(accountId, page));
    }
    for (const use of this.#passed) tx.put(LOOKUP_LOG, { kind: "key_use", accountId, ...use });
    tx.put(LOOKUP_LOG, this.document(accountId));
  }
}

/** Accounts whose pages are remembered; with one more all are forgotten. */
const MAX_KNOWN_PAGES = 10_000;

interface WantedUsages {
  /** What the read of `keysOf` gave. */
  readonly log: readonly LookupLogDocument[];
  readonly callers: readonly { readonly caller: OwnedCaller }[];
  readonly unanswered: readonly CountedCalls[];
}

/** Reads what counts the calls of accounts, mostly with the one read that every batch makes. */
export class UsageReader {
  /** Full pages of calls that the last batch needed, by account. */
  readonly #pages = new Map<string, readonly Key[]>();

  /** Keys of the documents that a batch of calls by these accounts likely needs. */
  keysOf(accountIds: Iterable<string>): readonly Key[] {
    const ids = [...accountIds];
    return [...ids.map(usageKey), ...ids.flatMap((id) => this.#pages.get(id) ?? [])];
  }

  /** The usages that a batch changes, with the pages that it needs; reads once more where these are others than last time. */
  async read(tx: Transaction, wanted: WantedUsages): Promise<Map<string, AccountUsage>> {
    const { log, callers, unanswered } = wanted;
    const stored = new Map(
      log.flatMap((doc) => (doc.kind === "usage" ? [[doc.accountId, doc] as const] : [])),
    );
    const usages = new Map<string, AccountUsage>();
    const needed: Key[] = [];
    const limits = new Map<string, number | null>();
    for (const { caller } of callers) limits.set(caller.accountId, caller.limits.callsPerMinute);
    // An account that was erased meanwhile has no count any more.
    for (const { accountId } of unanswered) if (stored.has(accountId)) limits.set(accountId, null);
    for (const [accountId, callsPerMinute] of limits) {
      const usage = new AccountUsage(stored.get(accountId), tx.nowMs);
      usages.set(accountId, usage);
      const keys = usage.pages(callsPerMinute);
      needed.push(...keys);
      this.#notePages(accountId, keys);
    }
    const lacked = needed.filter(([, id, page]) => {
      return !log.some((doc) => doc.kind === "calls" && doc.accountId === id && doc.page === page);
    });
    const [others] = lacked.length === 0 ? [[]] : await tx.read({ from: LOOKUP_LOG, keys: lacked });
    for (const usage of usages.values()) usage.settle([...log, ...others]);
    return usages;
  }

  #notePages(accountId: string, keys: readonly Key[]): void {
    if (keys.length === 0) this.#pages.delete(accountId);
    else {
      if (this.#pages.size >= MAX_KNOWN_PAGES) this.#pages.clear();
      this.#pages.set(accountId, keys);
    }
  }
}
