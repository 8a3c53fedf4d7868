// The parts a pull is read in. Each asks and takes pages until it hands over to the next one. D-4.5.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { compareDateTimes, parseDateTime } from "../../shared/time.ts";
import type { PullPage } from "../rows/page.ts";
import { RowMemory } from "../rows/row-memory.ts";
import { FIRST_TIME_MS, formatLike, justAfter } from "../rows/times-alike.ts";
import type { Table } from "../table/table.ts";
import { type PullGroup, startPullGroup } from "./pull-group.ts";
import { noteRecord } from "./pull-group-rows.ts";
import { checkGrowth } from "./pull-group-walk.ts";

/** What to ask the peer for. */
export interface CursorRequest {
  /** A timestamp as the peer sent it; null for every row. */
  readonly since: string | null;
  readonly offset: number;
  readonly limit: number;
}

/** What a page brought to the part that asked for it. */
export interface ReaderPage {
  readonly records: readonly JsonObject[];
  /** How many of the records came before in the same place, with another content. */
  readonly repeated: number;
  /** Who asks next; null when the pull is at its end. */
  readonly next: PullReader | null;
}

/** One part of a pull. */
export interface PullReader {
  request(): CursorRequest;
  /** Takes a page and the canonical times of its records. Throws `remote_invalid`. */
  accept(page: PullPage, times: readonly (string | null)[]): ReaderPage;
}

/** What the parts of one pull share. */
export interface PullState {
  readonly table: Table;
  /** Rows to ask for at once. */
  readonly pageRows: number;
  /** Every row before this timestamp, as received, has been brought; null while there is none. */
  seenUpTo: string | null;
  /** Rows that are expected to come; null while nothing is known. */
  expectedRows: number | null;
}

/**
 * Reads the rows from a timestamp on, in their order: every page is asked for from the last timestamp seen, and rows
 * with that one come again. So nothing is lost to rows that move, as they move behind what was asked.
 */
export function readOrdered(
  state: PullState,
  from: { readonly since: string; readonly thenRows: number; readonly next: PullReader | null },
): PullReader {
  const { table } = state;
  let { since } = from;
  let group: PullGroup | null = null;
  let firstTotal: number | null = null;
  let arrivedRows = 0;
  // The rows at `since` that have been brought.
  let boundary = new RowMemory();

  function accept(page: PullPage, times: readonly (string | null)[]): ReaderPage {
    checkTimes(times, since);
    if (firstTotal === null) {
      firstTotal = page.total;
      state.expectedRows ??= page.total + from.thenRows;
    }
    const reached = times.at(-1);
    const isStuck = page.hasMore && reached === parseDateTime(since);
    if (group === null && isStuck) group = startTies();
    const brought = group === null ? acceptPage(page, times) : acceptGroup(page, times, group);
    arrivedRows += brought.records.length;
    checkGrowth(arrivedRows, firstTotal);
    state.seenUpTo = since;
    return brought;
  }

  function acceptPage(page: PullPage, times: readonly (string | null)[]): ReaderPage {
    let repeated = 0;
    const start = parseDateTime(since);
    const records = page.records.filter((record, i) => {
      if (times[i] !== start) return true;
      const known = noteRecord(boundary, { table, record, note: 1 });
      if (known.note > 0 && !known.isSame) repeated++;
      return !known.isSame;
    });
    const last = page.records.at(-1);
    if (last !== undefined && times.at(-1) !== start) moveTo(timeText(table, last));
    for (const [i, record] of page.records.entries()) {
      if (times[i] === times.at(-1)) noteRecord(boundary, { table, record, note: 1 });
    }
    return { records, repeated, next: page.hasMore ? reader : from.next };
  }

  function acceptGroup(
    page: PullPage,
    times: readonly (string | null)[],
    ties: PullGroup,
  ): ReaderPage {
    const { records, repeated, end, isEndSure } = ties.accept(page, times);
    if (end === null) return { records, repeated, next: reader };
    group = null;
    const beyond = page.records[end];
    const isEnd = beyond === undefined && !page.hasMore;
    if (!isEndSure) moveTo(justAfter(since));
    else if (beyond !== undefined) moveTo(timeText(table, beyond));
    return { records, repeated, next: isEnd ? from.next : reader };
  }

  function startTies(): PullGroup {
    const time = parseDateTime(since);
    return startPullGroup({
      table,
      isMember: (other) => other === time,
      label: `of the time ${since}`,
      lastFrom: null,
      seen: boundary,
    });
  }

  function moveTo(time: string): void {
    since = time;
    boundary = new RowMemory();
  }

  const reader: PullReader = {
    request: () => ({ since, offset: group?.offset() ?? 0, limit: state.pageRows }),
    accept,
  };
  return reader;
}

/** Reads one group over unfiltered pages: the rows without a timestamp, or a whole table without timestamps. */
export function readGroup(
  state: PullState,
  options: {
    readonly lastFrom: number | null;
    /** Gets the time from which the rows behind the group come, as the remote writes it; null when there are none. */
    next(timedFrom: string | null): PullReader | null;
  },
): PullReader {
  const { table } = state;
  const isWhole = table.timestampColumn === null;
  const group = startPullGroup({
    table,
    isMember: (time) => isWhole || time === null,
    label: isWhole ? `of "${table.name}"` : "without a timestamp",
    lastFrom: options.lastFrom,
    seen: new RowMemory(),
  });
  const reader: PullReader = {
    request: () => ({ since: null, offset: group.offset(), limit: state.pageRows }),
    accept(page, times) {
      if (isWhole) state.expectedRows ??= page.total;
      const { records, repeated, end, isEndSure } = group.accept(page, times);
      if (end === null) return { records, repeated, next: reader };
      const beyond = page.records[end];
      const time = beyond === undefined || isWhole ? null : timeText(table, beyond);
      const timedFrom = time === null || isEndSure ? time : formatLike(time, FIRST_TIME_MS);
      return { records, repeated, next: options.next(timedFrom) };
    },
  };
  return reader;
}

/** A record's timestamp as received. */
export function timeText(table: Table, record: JsonObject): string {
  return String(record[table.timestampColumn ?? ""]);
}

/** A page from a timestamp on must be in order, and hold nothing older. */
function checkTimes(times: readonly (string | null)[], since: string): void {
  let previous = parseDateTime(since);
  for (const [i, time] of times.entries()) {
    if (time !== null && previous !== null && compareDateTimes(time, previous) >= 0) {
      previous = time;
      continue;
    }
    const problem =
      i === 0 || time === null
        ? `rows older than the since "${since}" it was asked for`
        : "rows that are not in the order of their timestamps";
    throw new AppError(
      "remote_invalid",
      `The remote sent ${problem}; check that both ends have the same table, then run with full`,
    );
  }
}
