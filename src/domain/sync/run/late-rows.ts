// Notes of the rows that runs would pass over: for each table a growing mark, and the earliest time noted since. D-7.4.
import { parsePlace, placeText } from "../../shared/list-query.ts";
import { compareDateTimes, dateTimeMs, formatMs } from "../../shared/time.ts";
import { earliestTime, startMs } from "../rows/row-time.ts";
import type { Table } from "../table/table.ts";

/** Notes kept of each kind. With fewer, runs after a long time begin earlier than they need to. */
const MAX_NOTES = 50;

/** The number of a mark, and the earliest canonical time noted since the mark before. */
type LateNote = readonly [number: number, time: string];

export interface LateNotes {
  /** Random; tells the marks of these notes from all others. */
  readonly origin: string;
  /** The number of the mark of now, from 0. */
  readonly last: number;
  /** Late rows that runs of this deployment brought. Each list ascends by number and by time. */
  readonly byOwnRuns: readonly LateNote[];
  /** All other late rows, and those that were kept. */
  readonly byOthers: readonly LateNote[];
  /** Changed rows that are not late, of a store that tells of every commit (`DocumentStore.tellsCommits`). D-12.3. */
  readonly freshByOwnRuns?: readonly LateNote[];
  readonly freshByOthers?: readonly LateNote[];
}

/** The earliest canonical times that one commit notes; null for none. */
export interface LateTimes {
  readonly byOwnRuns: string | null;
  readonly byOthers: string | null;
  readonly freshByOwnRuns?: string | null;
  readonly freshByOthers?: string | null;
}

/** The canonical time before which a row is late: further back than the lag. A `date` counts as the end of its day. */
export function lateBefore(table: Table, nowMs: number): string {
  return formatMs(startMs(table, nowMs - table.lagSeconds * 1_000));
}

/** The times that a commit notes, visible at `visibleMs` by the store's clock. `isOwnRun`: a run here brought its rows. */
export function lateTimesOf(
  table: Table,
  { earliestChanged, earliestKept }: Record<"earliestChanged" | "earliestKept", string | null>,
  isOwnRun: boolean,
  visibleMs: number,
): LateTimes {
  const limit = lateBefore(table, visibleMs);
  const isLate = earliestChanged !== null && compareDateTimes(earliestChanged, limit) < 0;
  const [late, fresh] = isLate ? [earliestChanged, null] : [null, earliestChanged];
  if (isOwnRun) return { byOwnRuns: late, byOthers: earliestKept, freshByOwnRuns: fresh };
  const byOthers = earliestTime([late, earliestKept]);
  return { byOwnRuns: null, byOthers, freshByOthers: fresh };
}

export function noLateNotes(origin: string): LateNotes {
  return { origin, last: 0, byOwnRuns: [], byOthers: [] };
}

/** The notes after a commit, which gets the next mark when it notes anything. */
export function addLateTimes(notes: LateNotes, times: LateTimes): LateNotes {
  if (hasNoTime(times)) return notes;
  const last = notes.last + 1;
  return {
    origin: notes.origin,
    last,
    byOwnRuns: added(notes.byOwnRuns, last, times.byOwnRuns),
    byOthers: added(notes.byOthers, last, times.byOthers),
    freshByOwnRuns: added(notes.freshByOwnRuns, last, times.freshByOwnRuns),
    freshByOthers: added(notes.freshByOthers, last, times.freshByOthers),
  };
}

export function hasNoTime(times: LateTimes): boolean {
  return Object.values(times).every((time) => time === null);
}

export function markOf({ origin, last }: LateNotes): string {
  return placeText(origin, last);
}

/**
 * The earliest times noted after a mark: `from` of late and kept rows, `freshFrom` of fresh ones; earlier where notes were put
 * together. Null when none was noted; empty, the start, for a mark that was never given.
 */
export function lateAndFreshAfter(notes: LateNotes, mark: string, isForOwnPush: boolean) {
  const number = parsePlace(notes.origin, notes.last, mark);
  if (number === null) return { from: "", freshFrom: "" };
  const first = (list: readonly LateNote[] = []) =>
    list.find(([other]) => other > number)?.[1] ?? null;
  const earliest = (byOthers?: readonly LateNote[], byOwnRuns?: readonly LateNote[]) =>
    earliestTime([first(byOthers), isForOwnPush ? null : first(byOwnRuns)]);
  return {
    from: earliest(notes.byOthers, notes.byOwnRuns),
    freshFrom: earliest(notes.freshByOthers, notes.freshByOwnRuns),
  };
}

/** Adds a note. It covers those of the same or a later time, which are dropped. */
function added(
  list: readonly LateNote[] = [],
  number: number,
  time: string | null = null,
): readonly LateNote[] {
  if (time === null) return list;
  const needed = list.filter(([, other]) => compareDateTimes(other, time) < 0);
  const notes: readonly LateNote[] = [...needed, [number, time]];
  return notes.length > MAX_NOTES ? putTogether(notes) : notes;
}

/** Joins the two neighbours whose gap is smallest beside their distance from the last time, so that runs begin little earlier. */
function putTogether(notes: readonly LateNote[]): readonly LateNote[] {
  const times = notes.map(([, time]) => dateTimeMs(time));
  const lastMs = times.at(-1) ?? 0;
  let [at, least] = [0, Number.POSITIVE_INFINITY];
  for (let i = 0; i + 2 < times.length; i++) {
    const [first = 0, second = 0] = [times[i], times[i + 1]];
    const loss = (second - first) / (lastMs - second + 1);
    if (loss < least) [at, least] = [i, loss];
  }
  const [[, time] = [0, ""], [number] = [0, ""]] = notes.slice(at, at + 2);
  return notes.toSpliced(at, 2, [number, time]);
}
