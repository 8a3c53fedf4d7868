// The parts that a pull is read in, each of which asks for its pages. The overview is in pull-cursor.ts. D-4.5.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { compareDateTimes, FIRST_TIME_MS, parseDateTime } from "../../shared/time.ts";
import { RowMemory } from "../rows/row-memory.ts";
import { formatLike, justAfter } from "../rows/row-time.ts";
import type { Table } from "../table/table.ts";
import {
  type ArrivedPage,
  type Asking,
  type BroughtRecords,
  checkGrowth,
  noteRecords,
  walkGroup,
} from "./pull-group.ts";

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

/** Reads the rows from a timestamp on, as the peer writes it, in their order. `thenRows` rows are to be read behind them. */
export function* readOrdered(pull: PullProgress, from: string, thenRows = 0): Asking {
  const { table, pageRows } = pull;
  let since = from;
  /** The rows at `since` that have been brought. */
  let boundary = new RowMemory();
  let firstTotal: number | null = null;
  let arrivedRows = 0;
  const moveTo = (time: string) => {
    since = time;
    boundary = new RowMemory();
  };
  const bring = (brought: BroughtRecords) => {
    pull.brought = brought;
    arrivedRows += brought.records.length;
    checkGrowth(arrivedRows, firstTotal ?? 0);
  };
  function* ask(offset: number): Asking<ArrivedPage> {
    const arrived = yield { since, offset, limit: pageRows };
    checkTimes(arrived.times, since);
    firstTotal ??= arrived.page.total;
    pull.expectedRows ??= firstTotal + thenRows;
    return arrived;
  }
  for (let hasMore = true; hasMore; ) {
    const arrived = yield* ask(0);
    const { page, times } = arrived;
    const start = parseDateTime(since);
    pull.seenUpTo = since;
    if (page.hasMore && times.at(-1) === start) {
      const isMember = (time: string | null) => time === start;
      const group = { table, isMember, label: `of the time ${since}`, lastFrom: null };
      const { last, end, isEndSure } = yield* walkGroup(
        { ...group, seen: boundary, ask, bring },
        arrived,
      );
      const beyond = last.records[end];
      if (!isEndSure) moveTo(justAfter(since));
      else if (beyond !== undefined) moveTo(sentTime(table, beyond));
      hasMore = beyond !== undefined;
    } else {
      const again = times.filter((time) => time === start).length;
      const { records, repeated } = noteRecords(boundary, table, page.records.slice(0, again), 1);
      bring({ records: [...records, ...page.records.slice(again)], repeated });
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
export function* readGroup(pull: PullProgress, lastFrom: number | null): Asking<string | null> {
  const { table, pageRows } = pull;
  const isWhole = table.timestampColumn === null;
  function* ask(offset: number): Asking<ArrivedPage> {
    const arrived = yield { since: null, offset, limit: pageRows };
    // A peer that begins with its newest row would be taken for one whose rows without a timestamp come last.
    checkOrder(arrived.times);
    pull.expectedRows ??= arrived.page.total;
    return arrived;
  }
  const { last, end, isEndSure } = yield* walkGroup({
    table,
    isMember: (time) => isWhole || time === null,
    label: isWhole ? `of "${table.name}"` : "without a timestamp",
    lastFrom,
    seen: new RowMemory(),
    ask,
    bring(brought) {
      pull.brought = brought;
    },
  });
  const beyond = last.records[end];
  if (beyond === undefined) return null;
  const time = sentTime(table, beyond);
  return isEndSure ? time : formatLike(time, FIRST_TIME_MS);
}

/** A record's timestamp as received; the record must have one. */
export function sentTime(table: Table, record: JsonObject): string {
  return String(record[table.timestampColumn ?? ""]);
}

/** A page from a timestamp on must be in order, and hold nothing older. */
function checkTimes(times: readonly (string | null)[], since: string): void {
  const start = parseDateTime(since);
  const isOlder = (time: string | null) =>
    time === null || start === null || compareDateTimes(time, start) < 0;
  if (times.some(isOlder)) {
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
