// The notes of rows that runs would pass over: of each table a mark that grows, and the earliest time noted since. D-7.4.
import { compareDateTimes, formatMs } from "../../shared/time.ts";
import { earliestTime } from "../rows/row-time.ts";
import { type Table, timestampColumnOf } from "../table/table.ts";

/** Notes kept of each kind. Fewer are as right, and make runs that stayed away for long begin earlier than they need to. */
const MAX_NOTES = 50;

/** The number of a mark, and the earliest canonical time noted since the mark before. */
type LateNote = readonly [number: number, time: string];

/** What a store keeps of a table. */
export interface LateNotes {
  /** Random; tells the marks of these notes from all others. */
  readonly origin: string;
  /** The number of the mark of now, from 0. */
  readonly last: number;
  /** Rows that runs of this deployment brought; both lists ascend by number and by time. */
  readonly byOwnRuns: readonly LateNote[];
  /** All other rows. */
  readonly byOthers: readonly LateNote[];
}

/** The earliest canonical times that one commit notes; null for none. */
export interface LateTimes {
  readonly byOwnRuns: string | null;
  readonly byOthers: string | null;
}

/** The canonical time before which the time of a row is late: further back than the lag. A `date` is its day's end. */
export function lateBefore(table: Table, nowMs: number): string {
  const limit = formatMs(nowMs - table.lagSeconds * 1000);
  const isDate = timestampColumnOf(table)?.type === "date";
  return isDate ? `${limit.slice(0, 10)}T00:00:00Z` : limit;
}

/** The earliest canonical times of the rows that a commit changed, and of those that it kept; null for none. */
interface CommittedTimes {
  readonly earliestChanged: string | null;
  readonly earliestKept: string | null;
}

/** What a commit notes that becomes visible at a time of the store's clock. `isOwnRun`: a run here brought its rows. */
export function lateTimesOf(
  table: Table,
  { earliestChanged, earliestKept }: CommittedTimes,
  isOwnRun: boolean,
  visibleMs: number,
): LateTimes {
  const limit = lateBefore(table, visibleMs);
  const isLate = earliestChanged !== null && compareDateTimes(earliestChanged, limit) < 0;
  const late = isLate ? earliestChanged : null;
  if (isOwnRun) return { byOwnRuns: late, byOthers: earliestKept };
  return { byOwnRuns: null, byOthers: earliestTime([late, earliestKept]) };
}

/** The notes of a table that has none yet. */
export function noLateNotes(origin: string): LateNotes {
  return { origin, last: 0, byOwnRuns: [], byOthers: [] };
}

/** The notes after a commit, which gets the next mark when it notes anything. */
export function addLateTimes(notes: LateNotes, times: LateTimes): LateNotes {
  if (times.byOwnRuns === null && times.byOthers === null) return notes;
  const last = notes.last + 1;
  return {
    origin: notes.origin,
    last,
    byOwnRuns: added(notes.byOwnRuns, last, times.byOwnRuns),
    byOthers: added(notes.byOthers, last, times.byOthers),
  };
}

/** The mark that stands for all these notes. */
export function markOf({ origin, last }: Pick<LateNotes, "origin" | "last">): string {
  return `${origin}-${last}`;
}

/**
 * The earliest time noted after a mark, or an earlier one where notes were put together; null when nothing was noted, and
 * the empty text, the start, for a mark that was never given.
 */
export function earliestAfter(
  notes: LateNotes,
  mark: string,
  isForOwnPush: boolean,
): string | null {
  const number = numberOf(notes, mark);
  if (number === null) return "";
  const lists = isForOwnPush ? [notes.byOthers] : [notes.byOthers, notes.byOwnRuns];
  const [earliest = null] = lists
    .map((list) => list.find(([other]) => other > number)?.[1])
    .filter((time) => time !== undefined)
    .toSorted(compareDateTimes);
  return earliest;
}

/** A note makes those useless that came before it with the same or a later time. */
function added(
  list: readonly LateNote[],
  number: number,
  time: string | null,
): readonly LateNote[] {
  if (time === null) return list;
  const needed = list.filter(([, other]) => compareDateTimes(other, time) < 0);
  const [first, second] = needed;
  const isFull = first !== undefined && second !== undefined && needed.length === MAX_NOTES;
  const kept: readonly LateNote[] = isFull ? [[second[0], first[1]], ...needed.slice(2)] : needed;
  return [...kept, [number, time]];
}

function numberOf({ origin, last }: LateNotes, mark: string): number | null {
  const number = Number(mark.slice(origin.length + 1));
  const isGiven = Number.isInteger(number) && number >= 0 && number <= last;
  return isGiven && mark === markOf({ origin, last: number }) ? number : null;
}
