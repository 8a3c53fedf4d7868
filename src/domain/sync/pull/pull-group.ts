// A group: rows that no timestamp tells apart, which can only be read by offset. The overview is in pull-cursor.ts. D-4.5.
//
// Rows may join, leave or change places between two pages, so an offset alone proves nothing. A pass reads the group
// from its beginning to its end, and what it read counts as complete when one of these holds:
// - the whole group stood on one page;
// - its rows came in the order of their keys, and no page began behind the last row of the page before it;
// - as many different rows have come as the group has, while it had that many (peers with another order of ties). More of
//   them are of several moments: the next pass counts anew.
// Otherwise the walk steps back half a page, or makes another pass, a bounded number of times.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { PullPage } from "../rows/page.ts";
import { compareKeys, convertKey } from "../rows/row-key.ts";
import type { RowMemory } from "../rows/row-memory.ts";
import type { Row, Table } from "../table/table.ts";

/** A page at least this long is not in the order of its keys by accident. */
const MIN_TRUSTED_ROWS = 12;
/** Passes, and steps back without a new row, before the pull gives up. A peer with ties in random order needs about ten. */
const MAX_PASSES = 60;
/** Of so many rows of a page the next page repeats one, to show whether it follows on. */
const ROWS_PER_REPEATED = 64;
/** A peer may send this many times the rows that it told at first; more count as endless. */
const MAX_GROWTH = 4;
const MIN_GROWTH_ROWS = 10_000;

export interface CursorRequest {
  /** A timestamp as the peer sent it; null for every row. */
  readonly since: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** The page that was asked for, with the canonical times of its records. */
export interface ArrivedPage {
  readonly page: PullPage;
  readonly times: readonly (string | null)[];
}

/** Yields requests and gets their pages. Throws `remote_invalid`. */
export type Asking<Result = void> = Generator<CursorRequest, Result, ArrivedPage>;

export interface BroughtRecords {
  /** Records that did not come before with the same content. */
  readonly records: readonly JsonObject[];
  /** The number of these that came before with other content. */
  readonly repeated: number;
}

export const NOTHING_BROUGHT: BroughtRecords = { records: [], repeated: 0 };

/** The state of a pull that its parts share. */
export interface PullProgress {
  readonly table: Table;
  readonly pageRows: number;
  /** What the last page brought. */
  brought: BroughtRecords;
  /** Every row before this timestamp, as received, has been brought; null while there is none. */
  seenUpTo: string | null;
  /** Rows that are expected to come; null while nothing is known. */
  expectedRows: number | null;
}

interface Group {
  /** True for a record's canonical time when the record belongs to the group. */
  isMember(time: string | null): boolean;
  /** Names the group in messages, such as `without a timestamp`. */
  readonly label: string;
  /** Offset near which the group begins, when it comes last (the rows without a timestamp); null when it comes first. */
  readonly lastFrom: number | null;
  /** Rows seen before, as `noteRecords` notes them; the group adds its own. */
  readonly seen: RowMemory;
  ask(offset: number): Asking<ArrivedPage>;
}

/** The end of a group that has been seen whole. */
interface GroupEnd {
  /** The first row behind the group; undefined for none. */
  readonly beyond: JsonObject | undefined;
  /** False when rows may stand between the group and `beyond`, as pages of one row never show both. */
  readonly isEndSure: boolean;
}

interface Pass {
  /** Offset of the group's first row in it; null until a member has come. */
  start: number | null;
  /** Key of the last member; null when rows are not in the order of their keys. */
  lastKey: Row | null;
  isOrdered: boolean;
}

/** Reads a group; `first` is a page of it that has arrived already. */
export function* walkGroup(
  pull: PullProgress,
  { isMember, label, lastFrom, seen, ask }: Group,
  first: ArrivedPage | null = null,
): Asking<GroupEnd> {
  const { table } = pull;
  const rows = new GroupRows(table, seen);
  const walk = new GroupWalk(lastFrom ?? 0, label);
  const again = (earlierRows = 0) => {
    rows.beginPass();
    walk.again(earlierRows);
  };
  for (let arrived = first ?? (yield* ask(walk.offset)); ; arrived = yield* ask(walk.offset)) {
    const { page, times } = arrived;
    const { pass } = walk;
    const { start, end } = findMembers(times, isMember);
    if (start === end) {
      // The group has moved, has shrunk or is gone; where pages have one row it may have been read whole.
      const isBehind = lastFrom !== null && page.records.length > 0;
      const groupRows = walk.offset - (pass.start ?? walk.offset);
      if (isBehind && page.hasMore) {
        walk.offset += page.records.length;
        checkGrowth(walk.offset - walk.begin, pull.expectedRows);
      } else if (isBehind || walk.offset === 0) {
        return { beyond: page.records[0], isEndSure: true };
      } else if (page.limit === 1 && groupRows > 0 && rows.isComplete(groupRows, [])) {
        return { beyond: page.records[0], isEndSure: false };
      } else again(page.limit);
      continue;
    }
    const members = page.records.slice(start, end);
    // A pass that finds a member at once, though it did not begin at the first row, may have begun inside the group.
    const isLate =
      pass.start === null && start === 0 && walk.begin > 0 && walk.offset === walk.begin;
    pass.start ??= walk.offset + start;
    const hasGap = !followsOn(table, pass, page, members);
    if (table.timestampColumn === null) rows.expect(page.total);
    pull.brought = rows.note(members);
    const groupRows = walk.offset + end - pass.start;
    if (isLate) again(page.limit);
    else if (hasGap) walk.stepBack(page);
    else if (end === page.records.length && page.hasMore) walk.goOn(page, seen.size);
    else if (
      pass.isOrdered ||
      members.length === groupRows ||
      rows.isComplete(groupRows, members)
    ) {
      return { beyond: page.records[end], isEndSure: true };
    } else again();
  }
}

/** The place up to which a group is read. It moves on, back, or to the beginning again. */
class GroupWalk {
  begin: number;
  offset: number;
  pass = startPass();
  readonly #label: string;
  #passes = 1;
  #stepsBack = 0;
  #seenRows = 0;

  constructor(begin: number, label: string) {
    this.begin = begin;
    this.offset = begin;
    this.#label = label;
  }

  /** Moves on to the next page, which overlaps this one. Throws `remote_invalid` for rows without end. */
  goOn(page: PullPage, seenRows: number): void {
    if (seenRows > this.#seenRows) this.#stepsBack = 0;
    this.#seenRows = seenRows;
    const overlap = Math.ceil(page.limit / ROWS_PER_REPEATED);
    this.offset += page.records.length - Math.min(page.records.length - 1, overlap);
    if (this.offset - (this.pass.start ?? 0) <= MAX_GROWTH * (seenRows + page.limit)) return;
    throw new AppError("remote_invalid", "The remote sends the same rows again and again");
  }

  /** Goes back half a page, as rows may have been skipped; none is before the begin. Throws `remote_invalid` after too many times. */
  stepBack(page: PullPage): void {
    if (++this.#stepsBack > MAX_PASSES) this.#giveUp();
    this.offset = Math.max(this.begin, this.offset - Math.ceil(page.limit / 2));
    if (this.offset === this.begin) this.pass = startPass();
  }

  /** Begins another pass, `earlierRows` before the last one's begin. Throws as `stepBack` does. */
  again(earlierRows: number): void {
    if (++this.#passes > MAX_PASSES) this.#giveUp();
    this.begin = Math.max(0, this.begin - earlierRows);
    this.offset = this.begin;
    this.pass = startPass();
  }

  #giveUp(): never {
    const text = `The remote's rows ${this.#label} kept changing while they were read`;
    throw new AppError("remote_invalid", text, { hint: "Run the sync again" });
  }
}

function startPass(): Pass {
  return { start: null, lastKey: null, isOrdered: true };
}

/** The rows of a group that have come, and whether they prove it complete without any order. */
class GroupRows {
  readonly #table: Table;
  readonly #seen: RowMemory;
  /** Different keys that came while the group had the same number of rows: all are noted with the same number. */
  #union = { note: 2, rows: 0, groupRows: -1 };

  constructor(table: Table, seen: RowMemory) {
    this.#table = table;
    this.#seen = seen;
  }

  note(members: readonly JsonObject[]): BroughtRecords {
    const union = this.#union;
    const { fresh, ...brought } = noteRecords(this.#seen, this.#table, members, union.note);
    union.rows += fresh;
    return brought;
  }

  /** More different rows than the group has are of several moments, so what comes from now on is counted alone. */
  beginPass(): void {
    const { note, rows, groupRows } = this.#union;
    if (groupRows >= 0 && rows > groupRows) this.#union = { note: note + 1, rows: 0, groupRows };
  }

  /** Says how many rows the group has now. What came while it had another number proves nothing about it. */
  expect(groupRows: number): void {
    if (this.#union.groupRows === groupRows) return;
    this.#union = { note: this.#union.note + 1, rows: 0, groupRows };
  }

  /** True when as many rows have come as the group has, all while it had that many: rows only leave it, so it was the same. */
  isComplete(groupRows: number, members: readonly JsonObject[]): boolean {
    this.expect(groupRows);
    this.note(members);
    return this.#union.rows === groupRows;
  }
}

/** Notes records as they were sent. `fresh` is the number of those not yet known with this note. */
export function noteRecords(
  memory: RowMemory,
  table: Table,
  all: readonly JsonObject[],
  note: number,
): BroughtRecords & { readonly fresh: number } {
  let [repeated, fresh] = [0, 0];
  const records = all.filter((record) => {
    const key = JSON.stringify(table.keyColumns.map(({ name }) => record[name] ?? null));
    const known = memory.note({ key, content: JSON.stringify(record) }, note);
    if (known.note !== note) fresh++;
    if (known.note > 0 && !known.isSame) repeated++;
    return !known.isSame;
  });
  return { records, repeated, fresh };
}

/** True when far more rows have come than there are different ones, or than the peer spoke of at first. */
export function isEndless(rows: number, expected: number): boolean {
  return rows > MAX_GROWTH * expected + MIN_GROWTH_ROWS;
}

/** Throws `remote_invalid` for rows without end; null where none are expected. */
export function checkGrowth(rows: number, expectedRows: number | null): void {
  const expected = expectedRows ?? 0;
  if (!isEndless(rows, expected)) return;
  throw new AppError(
    "remote_invalid",
    `The remote sent ${rows} rows, far more than the ${expected} it reported, and does not stop`,
  );
}

/** True when no member can have been skipped between the last page and this one, as far as order tells. */
function followsOn(
  table: Table,
  pass: Pass,
  page: PullPage,
  members: readonly JsonObject[],
): boolean {
  if (!pass.isOrdered) return true;
  const keys = members.map((record) => convertKey(table, record));
  pass.isOrdered = page.limit >= MIN_TRUSTED_ROWS && isAscending(table, keys);
  if (!pass.isOrdered) return true;
  const [first] = keys;
  if (first && pass.lastKey !== null && compareKeys(table, first, pass.lastKey) > 0) return false;
  pass.lastKey = keys.at(-1) ?? null;
  return true;
}

/** The places of the members on a page, which stand together: `start` is the first one, `end` the one behind the last. */
function findMembers(
  times: readonly (string | null)[],
  isMember: (time: string | null) => boolean,
): { readonly start: number; readonly end: number } {
  const start = times.findIndex(isMember);
  if (start === -1) return { start: times.length, end: times.length };
  const length = times.slice(start).findIndex((time) => !isMember(time));
  return { start, end: length === -1 ? times.length : start + length };
}

function isAscending(table: Table, keys: readonly (Row | null)[]): boolean {
  return keys.every((key, i) => {
    const before = keys[i - 1];
    return key !== null && (!before || compareKeys(table, before, key) < 0);
  });
}
