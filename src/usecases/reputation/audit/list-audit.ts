// The audit log, for administrators by account and time (D-9.5), and for people the lookups of them (D-5.5). No index leads from a
// time or a caller to records, as every lookup would change it. A search goes back in time, in parts of bounded time: it reads
// stretches of chains by their last time, the latest first; a record is certain once no other stretch may hold a later one. A
// cursor is a place or a time, so nothing is kept between requests.
import type { ConsentPurpose } from "../../../domain/reputation/accounts/consent.ts";
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import {
  type AuditItem,
  type AuditPlace,
  auditItem,
  END_OF_TIME,
  newestFirst,
  placeAfter,
  placeBefore,
} from "../../../domain/reputation/audit/audit-item.ts";
import { type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import {
  MAX_SEARCHED_AUDIT_RECORDS,
  MAX_SEARCHED_AUDIT_STRETCHES,
} from "../../../domain/shared/limits.ts";
import {
  type ListParameters,
  type ListPart,
  readListQuery,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { dateTimeMs, LAST_TIME_MS, parseSince } from "../../../domain/shared/time.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type { AuditStretch } from "../../../repositories/lookup-collections.ts";
import type { AuditQuery, AuditSearch } from "../../../repositories/lookups/audit-search.ts";
import type { AccountDeps } from "../accounts/deps.ts";

type ListAuditDeps = Pick<AccountDeps, "auditSearch" | "clock" | "timer">;

/** Texts of the query; absent, null and empty mean none. */
interface AuditParameters extends ListParameters {
  readonly account?: string | null;
  /** ISO 8601, inclusive. */
  readonly from?: string | null;
  /** ISO 8601, exclusive. */
  readonly until?: string | null;
}

/** `<time>_<chain>-<seq>` of the last shown record, or `<time>_` where a search ended without one. */
const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_(?:([\w-]{1,64})-(\d{1,15}))?$/;
const NOT_A_TIME = "Must be an ISO 8601 date and time";
/** A person's accesses come in whole parts, as their names lead to the stretches. */
const WHOLE: SearchBounds = { records: Number.POSITIVE_INFINITY, stretches: 1_000 };

/**
 * Lists records, newest first, by time, chain and place. `account` finds records where it called, was looked up or was acted on,
 * and is their subject. A part may be short, even empty, with a cursor: one request searches a bounded part of the log. Throws
 * `invalid_request`.
 */
export async function listAudit(
  deps: ListAuditDeps,
  parameters: AuditParameters,
): Promise<ListPart<AuditItem>> {
  const { account, before, from, limit } = readParameters(parameters);
  const names = account === null ? null : await deps.auditSearch.namesOf(account);
  return await listRecords(deps, { before, from, names, limit });
}

/** Lists who looked a person up, newest first; callers whose accounts are gone have no name. Throws `invalid_request`. D-5.5. */
export async function listAccesses(deps: ListAuditDeps, username: string, query: ListParameters) {
  const { limit, cursor } = requireListQuery(query, CURSOR);
  const names = await deps.auditSearch.namesOfLookedUp(username);
  const wanted = { before: placeOf(cursor), from: "", names, limit };
  const { items, nextCursor } = await listRecords(deps, wanted, WHOLE);
  return { items: items.map(accessOf), nextCursor };
}

function accessOf({ id, at, account, purpose, decision, code, requestId }: AuditItem) {
  return { id, at, account, purpose: purpose as ConsentPurpose, decision, code, requestId };
}

async function listRecords(
  { auditSearch, clock, timer }: ListAuditDeps,
  query: AuditQuery,
  bounds?: SearchBounds,
): Promise<ListPart<AuditItem>> {
  const { names } = query;
  const turns = new Turns(clock, () => timer.sleep(0));
  const { records, next } = await searchAudit({ auditSearch, turns }, query, bounds);
  const callers = await auditSearch.accountNames(records.map(({ accountId }) => accountId));
  return {
    items: records.map((record) => auditItem(record, callers.get(record.accountId) ?? null, names)),
    nextCursor: next === null ? null : cursorOf(next),
  };
}

function readParameters(parameters: AuditParameters) {
  const problems: InputProblem[] = [];
  const { limit, cursor } = readListQuery(parameters, CURSOR, problems);
  const from = readTime(parameters.from, "/from", problems) ?? "";
  const until = readTime(parameters.until, "/until", problems);
  refuse(problems);
  const places = [placeOf(cursor), ...(until === null ? [] : [placeBefore(until)])];
  const [before = placeAfter(END_OF_TIME)] = places.sort(newestFirst).reverse();
  return { account: parameters.account || null, before, from, limit };
}

/** A time, rounded up to the milliseconds of records. */
function readTime(
  text: string | null | undefined,
  pointer: string,
  problems: InputProblem[],
): string | null {
  if (!text) return null;
  const time = parseSince(text);
  if (time === null) {
    problems.push({ pointer, detail: NOT_A_TIME });
    return null;
  }
  const isBetween = /\.\d{6}Z$/.test(time);
  return new Date(Math.min(dateTimeMs(time) + (isBetween ? 1 : 0), LAST_TIME_MS)).toISOString();
}

function cursorOf({ at, chainId, seq }: AuditPlace): string {
  return seq === 0 ? `${at}_` : `${at}_${chainId}-${seq}`;
}

function placeOf(cursor: string | null): AuditPlace {
  const [, at, chainId, seq] = CURSOR.exec(cursor ?? "") ?? [];
  if (at === undefined) return placeAfter(END_OF_TIME);
  return chainId === undefined ? placeAfter(at) : { at, chainId, seq: Number(seq) };
}

export interface SearchAuditDeps {
  readonly auditSearch: Pick<AuditSearch, "stretches" | "records">;
  /** Lets others have their turn. */
  readonly turns: Pick<Turns, "isOver" | "next">;
}

interface SearchBounds {
  readonly records: number;
  readonly stretches: number;
}

interface FoundRecords {
  /** Newest first; at most `limit`, perhaps none. */
  readonly records: readonly AuditRecord[];
  /** The place where the next search begins; null at the end. */
  readonly next: AuditPlace | null;
}

const BOUNDS: SearchBounds = {
  records: MAX_SEARCHED_AUDIT_RECORDS,
  stretches: MAX_SEARCHED_AUDIT_STRETCHES,
};

/**
 * Finds records, newest first. Searches that each begin at `next` of the one before find every record of the first moment once,
 * whatever is written meanwhile. Throws `store_unavailable`.
 */
export async function searchAudit(
  { auditSearch, turns }: SearchAuditDeps,
  query: AuditQuery,
  bounds = BOUNDS,
): Promise<FoundRecords> {
  const { before, from, names, limit } = query;
  // One more of each tells whether there are more.
  const wanted = { upTo: before.at, from, names, limit: bounds.stretches + 1 };
  const left = { ...bounds };
  let found: readonly AuditRecord[] = [];
  for (const stretch of await auditSearch.stretches(wanted)) {
    if (isFull(found, limit, stretch)) break;
    const isOverlapping = stretch.lastAt >= before.at;
    if (!isOverlapping && (left.records <= 0 || left.stretches <= 0)) {
      // All records later than the end of this stretch are found.
      const certain = found.filter(({ at }) => at > stretch.lastAt);
      return firstOf(certain, limit, placeAfter(stretch.lastAt));
    }
    const records = await auditSearch.records(stretch, { ...query, limit: limit + 1 });
    found = [...found, ...records].sort(newestFirst).slice(0, limit + 1);
    left.records -= stretch.lastSeq - stretch.firstSeq + 1;
    if (!isOverlapping) left.stretches--;
    if (turns.isOver) await turns.next();
  }
  return firstOf(found, limit, null);
}

/** True when neither this stretch nor a later one has a record among the first `limit`. */
function isFull(found: readonly AuditRecord[], limit: number, { lastAt }: AuditStretch): boolean {
  const more = found[limit];
  return more !== undefined && more.at > lastAt;
}

function firstOf(
  found: readonly AuditRecord[],
  limit: number,
  next: AuditPlace | null,
): FoundRecords {
  const records = found.slice(0, limit);
  return { records, next: found.length > limit ? (records.at(-1) ?? null) : next };
}
