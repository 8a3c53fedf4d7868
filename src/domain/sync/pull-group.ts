// Reads rows that no timestamp tells apart by offset: one timestamp's, those without one, or a whole table without
// timestamps. An offset means nothing over rows that move, so what was read counts only when it proves itself complete:
// the rows came in the order of their keys and no page began behind the last row of the one before it, or a peer that
// orders such rows differently was asked until it had sent as many different ones as there are. D-4.5.
import { AppError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { PullPage } from "./page.ts";
import type { RowMemory } from "./row-memory.ts";
import { compareKeys, convertKey } from "./row-order.ts";
import type { Cell, Table } from "./table.ts";

/** Passes, and steps back in a row, before the pull gives up. A peer with ties in random order needs about ten. */
const MAX_PASSES = 60;
/** Pages at least this long are not in the order of their keys by accident. */
const MIN_TRUSTED_ROWS = 12;
/** The part of a page that the next one repeats, to see whether it follows on: one row of so many. */
const ROWS_PER_REPEATED = 64;
/** How many times the rows that a peer first spoke of it may send before it is taken for one that never ends. */
const MAX_GROWTH = 4;
const MIN_GROWTH_ROWS = 10_000;

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
export interface GroupPage {
  /** Those that were not seen with the same content. */
  readonly records: readonly JsonObject[];
  /** How many of them were seen with another content. */
  readonly repeated: number;
  /** Where the rows behind the group begin on the page, when all of the group has been seen; null before that. */
  readonly end: number | null;
}

/** A group that is being read. */
export interface PullGroup {
  /** Rows to skip in the next request. */
  offset(): number;
  /** Takes the reply, with the canonical times of its records. Throws `remote_invalid`. */
  accept(page: PullPage, times: readonly (string | null)[]): GroupPage;
}

/** One way through the group, from its beginning to its end. */
interface Pass {
  /** Where the group began in it; null until a member has come. */
  start: number | null;
  /** Of the last member; null when rows are not in the order of their keys. */
  lastKey: readonly Cell[] | null;
  isOrdered: boolean;
}

/** Starts reading a group. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one closure is the state of one group
export function startPullGroup(options: GroupOptions): PullGroup {
  const { table, seen } = options;
  let begin = options.lastFrom ?? 0;
  let offset = begin;
  let passes = 1;
  let stepsBack = 0;
  let pass = startPass();
  let firstTotal: number | null = null;
  // Different keys that came while the group had the same number of rows, all noted with the same number.
  let union = { note: 2, rows: 0, groupRows: -1 };

  function accept(page: PullPage, times: readonly (string | null)[]): GroupPage {
    firstTotal ??= page.total;
    checkGrowth(seen.size, firstTotal);
    const { start, end } = findMembers(times, options.isMember);
    if (start === end) return acceptNone(page);
    const members = page.records.slice(start, end);
    // Members may stand before it.
    const isLate = pass.start === null && start === 0 && offset === begin && begin > 0;
    if (isLate) begin = Math.max(0, begin - page.limit);
    pass.start ??= offset + start;
    const hasGap = !followsOn(page, members);
    if (table.timestampColumn === null) expectRows(page.total);
    const brought = noteMembers(members);
    if (isLate) nextPass();
    else if (hasGap) stepBack(page);
    else if (end === page.records.length && page.has_more) goOn(page);
    else if (isProof(offset + end - pass.start, members)) return { ...brought, end };
    else nextPass();
    return { ...brought, end: null };
  }

  /** The group has moved, has shrunk or is gone. */
  function acceptNone(page: PullPage): GroupPage {
    const none = { records: [], repeated: 0 };
    const isBehind = options.lastFrom !== null && page.records.length > 0;
    if (isBehind && page.has_more) {
      offset += page.records.length;
      checkGrowth(offset - begin, firstTotal ?? 0);
      return { ...none, end: null };
    }
    if (isBehind || offset === 0) return { ...none, end: 0 };
    begin = Math.max(0, begin - page.limit);
    nextPass();
    return { ...none, end: null };
  }

  function isProof(groupRows: number, members: readonly JsonObject[]): boolean {
    return pass.isOrdered || members.length === groupRows || isUnion(groupRows, members);
  }

  /** True when no member can have been skipped between the last page and this one, as far as order tells. */
  function followsOn(page: PullPage, members: readonly JsonObject[]): boolean {
    if (!pass.isOrdered) return true;
    const keys = members.map((record) => convertKey(table, record));
    pass.isOrdered = page.limit >= MIN_TRUSTED_ROWS && isAscending(table, keys);
    if (!pass.isOrdered) return true;
    const [first] = keys;
    if (pass.lastKey !== null && compareKeys(table, first ?? [], pass.lastKey) > 0) return false;
    pass.lastKey = keys.at(-1) ?? null;
    return true;
  }

  function noteMembers(members: readonly JsonObject[]): Pick<GroupPage, "records" | "repeated"> {
    let repeated = 0;
    const records = members.filter((record) => {
      const known = noteRecord(seen, { table, record, note: union.note });
      if (known.note !== union.note) union.rows++;
      if (known.note > 0 && !known.isSame) repeated++;
      return !known.isSame;
    });
    return { records, repeated };
  }

  /** What came while the group had another number of rows proves nothing about it. */
  function expectRows(groupRows: number): void {
    if (union.groupRows === groupRows) return;
    union = { note: union.note + 1, rows: 0, groupRows };
  }

  /** Rows leave a group but do not join it, so between two moments with the same number it stayed the same. */
  function isUnion(groupRows: number, members: readonly JsonObject[]): boolean {
    if (union.groupRows !== groupRows) {
      expectRows(groupRows);
      noteMembers(members);
    }
    return union.rows === groupRows;
  }

  function goOn(page: PullPage): void {
    stepsBack = 0;
    const repeatedRows = Math.min(
      page.records.length - 1,
      Math.ceil(page.limit / ROWS_PER_REPEATED),
    );
    offset += page.records.length - repeatedRows;
    if (offset - (pass.start ?? 0) > MAX_GROWTH * (seen.size + page.limit)) {
      throw new AppError("remote_invalid", "The remote sends the same rows again and again");
    }
  }

  function stepBack(page: PullPage): void {
    if (++stepsBack > MAX_PASSES) giveUp();
    offset = Math.max(begin, offset - Math.ceil(page.limit / 2));
  }

  function nextPass(): void {
    if (++passes > MAX_PASSES) giveUp();
    offset = begin;
    pass = startPass();
  }

  function giveUp(): never {
    throw new AppError(
      "remote_invalid",
      `The remote's rows ${options.label} kept changing while they were read; run the sync again`,
    );
  }

  return { offset: () => offset, accept };
}

/** Refuses rows without end: far more than the peer spoke of at first. Throws `remote_invalid`. */
export function checkGrowth(rows: number, firstTotal: number): void {
  if (rows <= MAX_GROWTH * firstTotal + MIN_GROWTH_ROWS) return;
  throw new AppError(
    "remote_invalid",
    `The remote sent ${rows} rows, far more than the ${firstTotal} it said it has, and goes on`,
  );
}

/** Notes a record as it was sent, and tells what was known of it. */
export function noteRecord(
  memory: RowMemory,
  { table, record, note }: { readonly table: Table; readonly record: JsonObject; note: number },
) {
  const key = JSON.stringify(table.keyColumns.map(({ name }) => record[name] ?? null));
  return memory.note({ key, content: JSON.stringify(record) }, note);
}

function startPass(): Pass {
  return { start: null, lastKey: null, isOrdered: true };
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

function isAscending(table: Table, keys: readonly (readonly Cell[] | null)[]): boolean {
  return keys.every((key, i) => {
    const before = keys[i - 1];
    return key !== null && (!before || compareKeys(table, before, key) < 0);
  });
}
