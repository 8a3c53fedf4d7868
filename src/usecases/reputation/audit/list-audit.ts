// The audit log as administrators read it, by account and time. D-9.5.
import {
  type AuditItem,
  type AuditPlace,
  auditItem,
  END_OF_TIME,
  endOf,
  newestFirst,
  startOf,
} from "../../../domain/reputation/audit/audit-item.ts";
import { type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import {
  type ListParameters,
  type ListPart,
  readListQuery,
} from "../../../domain/shared/list-query.ts";
import { dateTimeMs, parseSince } from "../../../domain/shared/time.ts";
import type { Clock, Timer } from "../../../ports/runtime/runtime.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import type { AuditSearch } from "../../../repositories/lookups/audit-search.ts";
import { searchAudit } from "./search-audit.ts";

interface ListAuditDeps {
  readonly auditSearch: AuditSearch;
  readonly clock: Clock;
  readonly timer: Timer;
}

/** Texts of the query; absent, null or empty stands for no such limit. */
interface AuditParameters extends ListParameters {
  readonly account?: string | null;
  /** ISO 8601, inclusive. */
  readonly from?: string | null;
  /** ISO 8601, exclusive. */
  readonly until?: string | null;
}

/** `<time>_<chain>-<seq>` of the last record that was shown, or `<time>_` where a search has ended without one. */
const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_(?:([\w-]{1,64})-(\d{1,15}))?$/;
const NO_TIME = "Must be an ISO 8601 date and time";
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Lists records, newest first, by time and then by chain and place. `account` finds those where it called, was looked up or
 * was acted on, and is the subject that they tell. A part may be short, even empty, with a cursor: one request looks through
 * a bounded part of the log. Throws `invalid_request`.
 */
export async function listAudit(
  { auditSearch, clock, timer }: ListAuditDeps,
  parameters: AuditParameters,
): Promise<ListPart<AuditItem>> {
  const { account, before, from, limit } = readParameters(parameters);
  const names = account === null ? null : await auditSearch.namesOf(account);
  const turns = new Turns(clock, () => timer.sleep(0));
  const query = { before, from, names, limit };
  const { records, next } = await searchAudit({ auditSearch, turns }, query);
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
  const places = [placeOf(cursor), ...(until === null ? [] : [startOf(until)])];
  const [before = endOf(END_OF_TIME)] = places.sort(newestFirst).reverse();
  return { account: parameters.account || null, before, from, limit };
}

/** As records have times, which is in whole milliseconds: the first one at or after the given time. */
function readTime(
  text: string | null | undefined,
  pointer: string,
  problems: InputProblem[],
): string | null {
  if (!text) return null;
  const time = parseSince(text);
  if (time === null) {
    problems.push({ pointer, detail: NO_TIME });
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
  if (at === undefined) return endOf(END_OF_TIME);
  return chainId === undefined ? endOf(at) : { at, chainId, seq: Number(seq) };
}
