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
import { compareKeys, convertKey, type UpsertKey } from "../rows/row-key.ts";
import type { KnownRow, RowMemory } from "../rows/row-memory.ts";
import type { Table } from "../table/table.ts";

/** Pages at least this long are not in the order of their keys by accident. */
const MIN_TRUSTED_ROWS = 12;
/** Passes, and steps back in a row, before the pull gives up. A peer with ties in random order needs about ten. */
const MAX_PASSES = 60;
/** The part of a page that the next one repeats, to see whether it follows on: one row of so many. */
const ROWS_PER_REPEATED = 64;
/** A peer may send this many times the rows that it first spoke of; one that sends more is taken for endless. */
const MAX_GROWTH = 4;
const MIN_GROWTH_ROWS = 10_000;

interface GroupOptions {
  readonly table: Table;
  /** True for a record's canonical time when the record belongs to the group. */
  isMember(time: string | null): boolean;
  /** Names the group in messages, such as `without a timestamp`. */
  readonly label: string;
  /** Null when the group comes first; where it begins, or nearly, when it comes last (the rows without a timestamp). */
  readonly lastFrom: number | null;
  /** Rows seen before, as `noteRecord` keeps them; the group adds its own. */
  readonly seen: RowMemory;
}

export interface BroughtRecords {
  /** Records that did not come before with the same content. */
  readonly records: readonly JsonObject[];
  /** The number of these that came before with another content. */
  readonly repeated: number;
}

interface GroupPage extends BroughtRecords {
  /** The place on the page at which the rows behind the group begin, once all of the group has been seen; null before that. */
  readonly end: number | null;
  /** False when rows may stand between the group and `end`, as pages of one row never show both. */
  readonly isEndSure: boolean;
}

/** Rows of a page, from `start` to before `end`. */
interface PageRange {
  readonly start: number;
  readonly end: number;
}

const NOTHING: BroughtRecords = { records: [], repeated: 0 };

export class PullGroup {
  readonly #options: GroupOptions;
  readonly #walk: GroupWalk;
  readonly #rows: GroupRows;
  #firstTotal: number | null = null;

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#walk = new GroupWalk(options.lastFrom ?? 0, options.label);
    this.#rows = new GroupRows(options.table, options.seen);
  }

  get offset(): number {
    return this.#walk.offset;
  }

  /** Takes the reply, with the canonical times of its records. Throws `remote_invalid`. */
  accept(page: PullPage, times: readonly (string | null)[]): GroupPage {
    const { table, seen, isMember } = this.#options;
    this.#firstTotal ??= page.total;
    checkGrowth(seen.size, this.#firstTotal);
    const { start, end } = findMembers(times, isMember);
    if (start === end) return this.#acceptNone(page);
    const members = page.records.slice(start, end);
    const walk = this.#walk;
    const { pass } = walk;
    // A pass that finds a member at once, though it did not begin at the first row, may have begun inside the group.
    const isLate =
      pass.start === null && start === 0 && walk.begin > 0 && walk.offset === walk.begin;
    pass.start ??= walk.offset + start;
    const hasGap = !followsOn(table, pass, page, members);
    if (table.timestampColumn === null) this.#rows.expect(page.total);
    const brought = this.#rows.note(members);
    if (isLate) this.#again(page.limit);
    else if (hasGap) walk.stepBack(page);
    else if (end === page.records.length && page.hasMore) walk.goOn(page, seen.size);
    else if (this.#isProof(walk.offset + end - pass.start, members)) {
      return { ...brought, end, isEndSure: true };
    } else this.#again();
    return { ...brought, end: null, isEndSure: false };
  }

  /** The group has moved, has shrunk or is gone; where pages have one row it may have been read whole. */
  #acceptNone(page: PullPage): GroupPage {
    const walk = this.#walk;
    const isBehind = this.#options.lastFrom !== null && page.records.length > 0;
    if (isBehind && page.hasMore) {
      walk.skip(page.records.length);
      checkGrowth(walk.offset - walk.begin, this.#firstTotal ?? 0);
      return { ...NOTHING, end: null, isEndSure: false };
    }
    if (isBehind || walk.offset === 0) return { ...NOTHING, end: 0, isEndSure: true };
    const groupRows = walk.offset - (walk.pass.start ?? walk.offset);
    if (page.limit === 1 && groupRows > 0 && this.#rows.isComplete(groupRows, [])) {
      return { ...NOTHING, end: 0, isEndSure: false };
    }
    this.#again(page.limit);
    return { ...NOTHING, end: null, isEndSure: false };
  }

  #again(earlierRows = 0): void {
    this.#rows.beginPass();
    this.#walk.again(earlierRows);
  }

  #isProof(groupRows: number, members: readonly JsonObject[]): boolean {
    const isOnOnePage = members.length === groupRows;
    return this.#walk.pass.isOrdered || isOnOnePage || this.#rows.isComplete(groupRows, members);
  }
}

/** A pass through the group, from its beginning to its end. */
interface Pass {
  /** Offset of the group's first row in it; null until a member has come. */
  start: number | null;
  /** Key of the last member; null when rows are not in the order of their keys. */
  lastKey: UpsertKey | null;
  isOrdered: boolean;
}

/** The place up to which a group is read. It moves on, back, or to the beginning again. */
class GroupWalk {
  /** Offset at which passes begin. */
  begin: number;
  offset: number;
  pass = startPass();
  readonly #label: string;
  #passes = 1;
  #stepsBack = 0;

  constructor(begin: number, label: string) {
    this.begin = begin;
    this.offset = begin;
    this.#label = label;
  }

  /** Moves on to the next page, which overlaps this one. Throws `remote_invalid` for rows without end. */
  goOn(page: PullPage, seenRows: number): void {
    this.#stepsBack = 0;
    const overlap = Math.ceil(page.limit / ROWS_PER_REPEATED);
    this.offset += page.records.length - Math.min(page.records.length - 1, overlap);
    if (this.offset - (this.pass.start ?? 0) <= MAX_GROWTH * (seenRows + page.limit)) return;
    throw new AppError("remote_invalid", "The remote sends the same rows again and again");
  }

  /** Moves past a page without members. */
  skip(rows: number): void {
    this.offset += rows;
  }

  /** Goes back half a page, as rows may have been skipped. Throws `remote_invalid` after too many times. */
  stepBack(page: PullPage): void {
    if (++this.#stepsBack > MAX_PASSES) this.#giveUp();
    this.offset = Math.max(this.begin, this.offset - Math.ceil(page.limit / 2));
  }

  /** Begins another pass, `earlierRows` before the last one's begin. Throws as `stepBack` does. */
  again(earlierRows = 0): void {
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
    let repeated = 0;
    const records = members.filter((record) => {
      const known = noteRecord(this.#seen, this.#table, record, union.note);
      if (known.note !== union.note) union.rows++;
      if (known.note > 0 && !known.isSame) repeated++;
      return !known.isSame;
    });
    return { records, repeated };
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

  /**
   * True when as many different rows have come as the group has, all while it had that many: rows leave a group but do
   * not join it, so between two moments with the same number it stayed the same.
   */
  isComplete(groupRows: number, members: readonly JsonObject[]): boolean {
    this.expect(groupRows);
    this.note(members);
    return this.#union.rows === groupRows;
  }
}

/** Notes a record as it was sent, and tells what was known of it. */
export function noteRecord(
  memory: RowMemory,
  table: Table,
  record: JsonObject,
  note: number,
): KnownRow {
  const key = JSON.stringify(table.keyColumns.map(({ name }) => record[name] ?? null));
  return memory.note({ key, content: JSON.stringify(record) }, note);
}

/** Refuses rows without end: far more than the peer spoke of at first. Throws `remote_invalid`. */
export function checkGrowth(rows: number, firstTotal: number): void {
  if (rows <= MAX_GROWTH * firstTotal + MIN_GROWTH_ROWS) return;
  throw new AppError(
    "remote_invalid",
    `The remote sent ${rows} rows, far more than the ${firstTotal} it reported, and does not stop`,
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
  if (pass.lastKey !== null && compareKeys(table, first ?? [], pass.lastKey) > 0) return false;
  pass.lastKey = keys.at(-1) ?? null;
  return true;
}

/** The members on a page, which stand together. */
function findMembers(
  times: readonly (string | null)[],
  isMember: (time: string | null) => boolean,
): PageRange {
  const start = times.findIndex(isMember);
  if (start === -1) return { start: times.length, end: times.length };
  const length = times.slice(start).findIndex((time) => !isMember(time));
  return { start, end: length === -1 ? times.length : start + length };
}

function isAscending(table: Table, keys: readonly (UpsertKey | null)[]): boolean {
  return keys.every((key, i) => {
    const before = keys[i - 1];
    return key !== null && (!before || compareKeys(table, before, key) < 0);
  });
}
