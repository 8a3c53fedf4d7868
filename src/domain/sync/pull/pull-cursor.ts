// Chooses the next page of a pull, so that no row is missed though rows move while they are read. D-4.5.
//
// A peer orders pages by timestamp, and rows that are written meanwhile move to the end. An offset over all rows would
// then skip as many rows as have moved. So a pull resumes from the last timestamp it has seen, always at offset 0, and
// recognizes the rows with that timestamp, which come again. That is the ordered part (`readOrdered`).
//
// Some rows cannot be read like that: those with one timestamp when they fill more than a page, those without any, which
// match no `since`, and tables without a timestamp column. These are groups, read by offset, with proof (pull-group.ts).
//
// Peers put rows without a timestamp first or last, so a pull begins with a look at the first row (`readAll`).
//
// Pure: `transfer/pull-table.ts` makes the requests.
import { AppError, assert } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { compareDateTimes, FIRST_TIME_MS, parseDateTime } from "../../shared/time.ts";
import type { PullPage } from "../rows/page.ts";
import { RowMemory } from "../rows/row-memory.ts";
import { formatLike, justAfter, rowTime } from "../rows/row-time.ts";
import type { Table } from "../table/table.ts";
import {
  type ArrivedPage,
  type Asking,
  type BroughtRecords,
  type CursorRequest,
  checkGrowth,
  NOTHING_BROUGHT,
  noteRecords,
  type PullProgress,
  walkGroup,
} from "./pull-group.ts";

/** What a page brings: records to apply, in order. */
interface AcceptedPage extends BroughtRecords {
  /** A timestamp as received: every row before it has been brought, this page included. Null while there is none. */
  readonly seenUpTo: string | null;
  /** Rows the pull is going to bring, as far as the peer has told; null while nothing is known. */
  readonly totalRows: number | null;
  readonly isDone: boolean;
}

/** The state of one pull of a table. Feed it every page it asked for, in order. */
export class PullCursor {
  readonly #pull: PullProgress;
  readonly #asking: Asking;
  #next: IteratorResult<CursorRequest, void>;
  #tableRows: number | null = null;
  #arrivedRows = 0;

  private constructor(pull: PullProgress, asking: Asking) {
    this.#pull = pull;
    this.#asking = asking;
    this.#next = asking.next();
  }

  /**
   * A whole pull. `marker` is the timestamp to begin at, as received; null for the whole table. `isTimelessFirst` says that
   * the peer puts rows without a timestamp first, as this service does (D-3.1); false when nobody knows.
   */
  static begin(
    table: Table,
    marker: string | null,
    pageRows: number,
    isTimelessFirst = false,
  ): PullCursor {
    const pull = startProgress(table, pageRows);
    return new PullCursor(pull, readAll(pull, marker, isTimelessFirst));
  }

  /** The rows from a timestamp on alone, without those that have none. */
  static beginSince(table: Table, marker: string, pageRows: number): PullCursor {
    const pull = startProgress(table, pageRows);
    return new PullCursor(pull, readOrdered(pull, marker));
  }

  request(): CursorRequest {
    assert(this.#next.done !== true, "The pull is at its end");
    return this.#next.value;
  }

  /** Rows of the peer's table, as it told them in this pull; null when it has not. */
  get tableRows(): number | null {
    return this.#tableRows;
  }

  /** Takes the reply to `request()`. Throws `remote_invalid` for a page that no peer of the document sends. */
  accept(page: PullPage): AcceptedPage {
    if (page.since === null) this.#tableRows = page.total;
    if (page.records.length === 0 && page.hasMore) {
      throw new AppError("remote_invalid", "The remote says has_more but sent no rows");
    }
    const pull = this.#pull;
    const times = page.records.map((record) => rowTime(pull.table, record));
    pull.brought = NOTHING_BROUGHT;
    this.#next = this.#asking.next({ page, times });
    const { brought, seenUpTo, expectedRows } = pull;
    this.#arrivedRows += brought.records.length - brought.repeated;
    checkGrowth(this.#arrivedRows, expectedRows);
    const totalRows = expectedRows === null ? null : Math.max(expectedRows, this.#arrivedRows);
    return { ...brought, seenUpTo, totalRows, isDone: this.#next.done === true };
  }
}

function startProgress(table: Table, pageRows: number): PullProgress {
  return { table, pageRows, brought: NOTHING_BROUGHT, seenUpTo: null, expectedRows: null };
}

/** Looks at the first row, to learn where the rows without a timestamp are; then reads them, and the others from a marker on. */
function* readAll(pull: PullProgress, marker: string | null, isTimelessFirst: boolean): Asking {
  const { table } = pull;
  if (table.timestampColumn === null) {
    yield* readGroup(pull, null);
    return;
  }
  const { page, times } = yield { since: null, offset: 0, limit: 1 };
  const [first] = page.records;
  if (marker === null || first === undefined) pull.expectedRows = page.total;
  if (first === undefined) return;
  const firstTime = times[0] === null ? null : sentTime(table, first);
  const since = marker ?? firstTime;
  if (since === null) {
    const timedFrom = yield* readGroup(pull, null);
    if (timedFrom !== null) yield* readOrdered(pull, timedFrom);
  } else if (firstTime !== null && isTimelessFirst) yield* readOrdered(pull, since);
  else {
    // Rows with a timestamp are counted. All others have none, and are read last, wherever the peer puts them.
    const timed = firstTime ?? formatLike(since, FIRST_TIME_MS);
    const { total } = (yield { since: timed, offset: 0, limit: 1 }).page;
    const timelessRows = Math.max(0, page.total - total);
    yield* readOrdered(pull, since, timelessRows);
    if (firstTime === null) yield* readGroup(pull, null);
    else if (timelessRows > 0) yield* readGroup(pull, Math.max(0, total - 1));
  }
}

/** Reads the rows from a timestamp on, as the peer writes it, in their order. `thenRows` rows are to be read behind them. */
function* readOrdered(pull: PullProgress, from: string, thenRows = 0): Asking {
  const { table, pageRows } = pull;
  let since = from;
  /** The rows at `since` that have been brought. */
  let boundary = new RowMemory();
  const moveTo = (time: string) => {
    since = time;
    boundary = new RowMemory();
  };
  function* ask(offset: number): Asking<ArrivedPage> {
    const arrived = yield { since, offset, limit: pageRows };
    checkTimes(arrived.times, since);
    pull.expectedRows ??= arrived.page.total + thenRows;
    return arrived;
  }
  for (let hasMore = true; hasMore; ) {
    const arrived = yield* ask(0);
    const { page, times } = arrived;
    const start = parseDateTime(since);
    pull.seenUpTo = since;
    if (page.hasMore && times.at(-1) === start) {
      const isMember = (time: string | null) => time === start;
      const label = `of the time ${since}`;
      const group = { isMember, label, lastFrom: null, seen: boundary, ask };
      const { beyond, isEndSure } = yield* walkGroup(pull, group, arrived);
      if (!isEndSure) moveTo(justAfter(since));
      else if (beyond !== undefined) moveTo(sentTime(table, beyond));
      hasMore = beyond !== undefined;
    } else {
      const again = times.filter((time) => time === start).length;
      const { records, repeated } = noteRecords(boundary, table, page.records.slice(0, again), 1);
      pull.brought = { records: [...records, ...page.records.slice(again)], repeated };
      const last = page.records.at(-1);
      if (last !== undefined && times.at(-1) !== start) moveTo(sentTime(table, last));
      const latest = page.records.filter((_, i) => times[i] === times.at(-1));
      noteRecords(boundary, table, latest, 1);
      hasMore = page.hasMore;
    }
    pull.seenUpTo = since;
  }
}

/**
 * Reads the rows without a timestamp, or a whole table without a timestamp column, over pages without a `since`. `lastFrom` as in
 * `walkGroup`. Returns the time from which the rows behind come, as the remote writes it; null when there are none.
 */
function* readGroup(pull: PullProgress, lastFrom: number | null): Asking<string | null> {
  const { table, pageRows } = pull;
  const isWhole = table.timestampColumn === null;
  function* ask(offset: number): Asking<ArrivedPage> {
    const arrived = yield { since: null, offset, limit: pageRows };
    // A peer that begins with its newest row would be taken for one whose rows without a timestamp come last.
    checkOrder(arrived.times);
    pull.expectedRows ??= arrived.page.total;
    return arrived;
  }
  const { beyond, isEndSure } = yield* walkGroup(pull, {
    isMember: (time) => isWhole || time === null,
    label: isWhole ? `of "${table.name}"` : "without a timestamp",
    lastFrom,
    seen: new RowMemory(),
    ask,
  });
  if (beyond === undefined) return null;
  const time = sentTime(table, beyond);
  return isEndSure ? time : formatLike(time, FIRST_TIME_MS);
}

/** A record's timestamp as received; the record must have one. */
function sentTime(table: Table, record: JsonObject): string {
  return String(record[table.timestampColumn ?? ""]);
}

/** A page from a timestamp on must be in order, and hold nothing older. */
function checkTimes(times: readonly (string | null)[], since: string): void {
  const [first] = times;
  const isOlder = first && compareDateTimes(first, parseDateTime(since) ?? "") < 0;
  if (isOlder || times.includes(null)) {
    throw disordered(`rows older than the since "${since}" it was asked for`);
  }
  checkOrder(times);
}

/** The rows of a page with a timestamp must be in its order. */
function checkOrder(times: readonly (string | null)[]): void {
  let previous: string | null = null;
  for (const time of times) {
    if (time === null) continue;
    if (previous !== null && compareDateTimes(time, previous) < 0) {
      throw disordered("rows that are not in the order of their timestamps");
    }
    previous = time;
  }
}

function disordered(problem: string): AppError {
  return new AppError("remote_invalid", `The remote sent ${problem}`, {
    hint: "Check that both ends have the same table, then run with full",
  });
}
