// Reads rows that no timestamp tells apart by offset: one timestamp's, those without one, or a whole table without
// timestamps. An offset means nothing over rows that move, so what was read counts only when it proves itself complete:
// the rows came in the order of their keys and no page began behind the last row of the one before it, or a peer that
// orders such rows differently was asked until it had sent as many different ones as there are. D-4.5.
import type { JsonObject } from "../../shared/json.ts";
import type { PullPage } from "../rows/page.ts";
import type { RowMemory } from "../rows/row-memory.ts";
import { compareKeys, convertKey } from "../rows/row-order.ts";
import type { ColumnValue, Table } from "../table/table.ts";
import { type NotedRows, startGroupRows } from "./pull-group-rows.ts";
import { checkGrowth, type Pass, startGroupWalk } from "./pull-group-walk.ts";

/** Pages at least this long are not in the order of their keys by accident. */
const MIN_TRUSTED_ROWS = 12;

/** Which rows belong together. */
export interface GroupOptions {
  readonly table: Table;
  /** True for a record's canonical time when the record belongs to the group. */
  isMember(time: string | null): boolean;
  /** In messages, such as `without a timestamp`. */
  readonly label: string;
  /** Null when the group comes first; where it begins, or nearly, when it comes last (the rows without a timestamp). */
  readonly lastFrom: number | null;
  /** Rows seen before, as `noteRecord` keeps them; the group adds its own. */
  readonly seen: RowMemory;
}

/** What a page of a group brought. */
export interface GroupPage extends NotedRows {
  /** Where the rows behind the group begin on the page, when all of the group has been seen; null before that. */
  readonly end: number | null;
  /** False when rows may stand between the group and `end`, as pages of one row never show both. */
  readonly isEndSure: boolean;
}

/** A group that is being read. */
export interface PullGroup {
  /** Rows to skip in the next request. */
  offset(): number;
  /** Takes the reply, with the canonical times of its records. Throws `remote_invalid`. */
  accept(page: PullPage, times: readonly (string | null)[]): GroupPage;
}

const NOTHING: NotedRows = { records: [], repeated: 0 };

/** Starts reading a group. */
export function startPullGroup(options: GroupOptions): PullGroup {
  const { table, seen } = options;
  const walk = startGroupWalk({ begin: options.lastFrom ?? 0, label: options.label });
  const rows = startGroupRows(table, seen);
  let firstTotal: number | null = null;

  function accept(page: PullPage, times: readonly (string | null)[]): GroupPage {
    firstTotal ??= page.total;
    checkGrowth(seen.size, firstTotal);
    const { start, end } = findMembers(times, options.isMember);
    if (start === end) return acceptNone(page);
    const members = page.records.slice(start, end);
    const pass = walk.pass();
    // Members may stand before it.
    const isLate =
      pass.start === null && start === 0 && walk.begin() > 0 && walk.offset() === walk.begin();
    pass.start ??= walk.offset() + start;
    const hasGap = !followsOn(table, pass, { page, members });
    if (table.timestampColumn === null) rows.expect(page.total);
    const brought = rows.note(members);
    if (isLate) walk.again(page.limit);
    else if (hasGap) walk.stepBack(page);
    else if (end === page.records.length && page.hasMore) walk.goOn(page, seen.size);
    else if (isProof(walk.offset() + end - pass.start, members)) {
      return { ...brought, end, isEndSure: true };
    } else walk.again();
    return { ...brought, end: null, isEndSure: false };
  }

  /** The group has moved, has shrunk or is gone; where pages have one row it may have been read whole. */
  function acceptNone(page: PullPage): GroupPage {
    const isBehind = options.lastFrom !== null && page.records.length > 0;
    if (isBehind && page.hasMore) {
      walk.skip(page.records.length);
      checkGrowth(walk.offset() - walk.begin(), firstTotal ?? 0);
      return { ...NOTHING, end: null, isEndSure: false };
    }
    if (isBehind || walk.offset() === 0) return { ...NOTHING, end: 0, isEndSure: true };
    const groupRows = walk.offset() - (walk.pass().start ?? walk.offset());
    if (page.limit === 1 && groupRows > 0 && rows.isComplete(groupRows, [])) {
      return { ...NOTHING, end: 0, isEndSure: false };
    }
    walk.again(page.limit);
    return { ...NOTHING, end: null, isEndSure: false };
  }

  function isProof(groupRows: number, members: readonly JsonObject[]): boolean {
    const isOnOnePage = members.length === groupRows;
    return walk.pass().isOrdered || isOnOnePage || rows.isComplete(groupRows, members);
  }

  return { offset: walk.offset, accept };
}

/** True when no member can have been skipped between the last page and this one, as far as order tells. */
function followsOn(
  table: Table,
  pass: Pass,
  { page, members }: { readonly page: PullPage; readonly members: readonly JsonObject[] },
): boolean {
  if (!pass.isOrdered) return true;
  const keys = members.map((record) => convertKey(table, record));
  pass.isOrdered = page.limit >= MIN_TRUSTED_ROWS && isAscending(table, keys);
  if (!pass.isOrdered) return true;
  const [first] = keys;
  if (pass.lastKey !== null && compareKeys(table, first ?? [], pass.lastKey) > 0) return false;
  pass.lastKey = keys.at(-1) ?? null;
  return true;
}

/** The members on a page, which stand together. */
function findMembers(
  times: readonly (string | null)[],
  isMember: (time: string | null) => boolean,
): { readonly start: number; readonly end: number } {
  const start = times.findIndex(isMember);
  if (start === -1) return { start: times.length, end: times.length };
  const length = times.slice(start).findIndex((time) => !isMember(time));
  return { start, end: length === -1 ? times.length : start + length };
}

function isAscending(table: Table, keys: readonly (readonly ColumnValue[] | null)[]): boolean {
  return keys.every((key, i) => {
    const before = keys[i - 1];
    return key !== null && (!before || compareKeys(table, before, key) < 0);
  });
}
