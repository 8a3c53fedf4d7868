// The audit log, for administrators by account and time (D-9.5), and for people the lookups of them (D-5.5).
import type { ConsentPurpose } from "../../../domain/reputation/accounts/consent.ts";
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
  type ListParameters,
  type ListPart,
  readListQuery,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { dateTimeMs, parseSince } from "../../../domain/shared/time.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type { AuditQuery } from "../../../repositories/lookups/audit-search.ts";
import type { AccountDeps } from "../accounts/deps.ts";
import { type SearchBounds, searchAudit } from "./search-audit.ts";

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
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

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
  return new Date(Math.min(dateTimeMs(time) + (isBetween ? 1 : 0), LAST_MS)).toISOString();
}

function cursorOf({ at, chainId, seq }: AuditPlace): string {
  return seq === 0 ? `${at}_` : `${at}_${chainId}-${seq}`;
}

function placeOf(cursor: string | null): AuditPlace {
  const [, at, chainId, seq] = CURSOR.exec(cursor ?? "") ?? [];
  if (at === undefined) return placeAfter(END_OF_TIME);
  return chainId === undefined ? placeAfter(at) : { at, chainId, seq: Number(seq) };
}
