// The times of records that bring none. D-14.2.
import { compareDateTimes, formatMs } from "../../shared/time.ts";
import { aheadLimit, changeTime } from "./row-time.ts";
import { outlives } from "./tombstone.ts";

/** The stamp of rows that had no time when their table became stamped: nobody knows which of two is newer. */
export const FIRST_STAMP = "1970-01-01T00:00:00Z";

/** The stamps of records. */
export interface StampRule {
  /** Canonical time of the records' file; null for none. New rows get it, or the present time when that is earlier. */
  readonly fileTime: string | null;
  /** True: rows that were deleted after the time of the file come back. */
  readonly restores: boolean;
}

export const STAMP_NOW: StampRule = { fileTime: null, restores: false };

/** A record, and what the store has of its key. */
interface StampedWrite {
  /** The record's canonical time; null when it has none. */
  readonly time: string | null;
  /** True when the record has a value in the time column, even one that is no time. */
  readonly bringsTime: boolean;
  /** The row of its key: canonical time, and whether the record changes another column; null for none. */
  readonly here: { readonly time: string | null; readonly isChanged: boolean } | null;
  /** The time of its key's tombstone; null for none. */
  readonly deletedAt: string | null;
  readonly nowMs: number;
}

/** A time to stamp a record with. `own`: the record is written unchanged; `same` and `deleted`: it is not written. */
type StampFate = { readonly time: string } | "own" | "same" | "deleted";

export function stampFate(rule: StampRule, write: StampedWrite): StampFate {
  const { here, deletedAt, bringsTime, nowMs } = write;
  if (isDeletedSince(rule, write)) {
    return rule.restores ? { time: changeTime(deletedAt, nowMs) } : "deleted";
  }
  if (bringsTime) return "own";
  if (here !== null) return here.isChanged ? { time: timeBehind(write) } : "same";
  const { fileTime } = rule;
  const isOfFile = fileTime !== null && compareDateTimes(fileTime, formatMs(nowMs)) < 0;
  const isBuried =
    deletedAt !== null && fileTime !== null && compareDateTimes(deletedAt, fileTime) >= 0;
  return { time: isOfFile && !isBuried ? fileTime : timeBehind(write) };
}

/** True for a record whose row was deleted after its file was written, unless its own time is later still. */
function isDeletedSince({ fileTime }: StampRule, write: StampedWrite): boolean {
  const { here, deletedAt, time, nowMs } = write;
  if (fileTime === null || here !== null || deletedAt === null) return false;
  return compareDateTimes(deletedAt, fileTime) > 0 && !outlives(time, deletedAt, aheadLimit(nowMs));
}

/** Now, or right behind the row and the tombstone: whoever writes has seen both. */
function timeBehind({ here, deletedAt, nowMs }: StampedWrite): string {
  const ofRow = changeTime(here?.time ?? null, nowMs);
  const ofTombstone = changeTime(deletedAt, nowMs);
  return compareDateTimes(ofRow, ofTombstone) < 0 ? ofTombstone : ofRow;
}
