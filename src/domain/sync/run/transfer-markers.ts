// The markers of one transfer of a table: where it begins, and what to commit with its rows. It begins where earlier runs ended, if
// their marker can be trusted, or at rows noted since as late. D-4.5, D-4.6, D-7.4.
import { AppError } from "../../shared/errors.ts";
import { compareDateTimes, dateTimeMs, parseDateTime } from "../../shared/time.ts";
import { earliestTime, MAX_AHEAD_MS, rowTime, startLike } from "../rows/row-time.ts";
import type { Row, Table } from "../table/table.ts";
import type { LateRowsTold } from "../table/table-schema.ts";
import { addedColumns, type KnownColumns } from "./compare-schemas.ts";
import type { DirectionMemory, MemoryChange, TableMemory } from "./remote-memory.ts";
import type { SyncDirection } from "./run.ts";

/** Canonical times at which a run asked the remote, by the clocks of both stores, which note late rows and deletes. */
export interface Clocks {
  readonly remoteTime: string;
  readonly ownTime: string;
}

interface MarkerOptions {
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly clocks: Clocks;
  readonly kept: TableMemory;
  readonly columns: KnownColumns;
  /** The columns of the last push to keep once a pull has ended; null for no change. */
  readonly pushedAnew: KnownColumns | null;
  /** Seconds by which a row may be committed at the source later than its time says, without being noted. */
  readonly lagSeconds: number;
  /** Seconds by which the clock of an end may be set back between two runs. */
  readonly clockLagSeconds: number;
  readonly tellsOfLateRows: boolean;
  /** Late rows at the source since the mark that was kept last; null where nothing tells of them. */
  readonly late: LateRowsTold | null;
}

export class TransferMarkers {
  /** Time to begin at, which the source can read; null to begin at the first row. */
  readonly start: string | null;
  /** Canonical time from which on rows may have been noted as late; null for none, empty for all. */
  readonly lateFrom: string | null;
  readonly #options: MarkerOptions;
  /** The memory of the direction, as it was last committed. */
  #written: DirectionMemory;
  /** The clocks: without them a marker cannot be trusted. */
  readonly #companions: DirectionMemory;

  /** Throws `sync_failed` for a marker that cannot be trusted. */
  constructor(options: MarkerOptions) {
    const { direction, kept, late } = options;
    this.#options = options;
    this.#written = kept[direction];
    const marker = this.current;
    if (marker !== null && parseDateTime(marker) === null) {
      throw this.#distrust(`it is no date and time: "${marker}"`);
    }
    this.#companions = this.#latestClocks();
    this.lateFrom = kept[direction].lateMark === undefined ? "" : (late?.from ?? null);
    this.start = late === null ? marker : startAt(marker, this.lateFrom, late.freshFrom ?? null);
  }

  /** The marker as it was last committed; null when there is none. */
  get current(): string | null {
    return this.#written.marker || null;
  }

  isLate(row: Row): boolean {
    if (this.lateFrom === null || this.lateFrom === "") return this.lateFrom !== null;
    const time = rowTime(this.#options.table, row);
    return time !== null && compareDateTimes(time, this.lateFrom) >= 0;
  }

  /** The change to commit once every row before this time has been applied; empty when the marker does not move on. */
  advance(seenUpTo: string | null): MemoryChange {
    if (seenUpTo === null) return {};
    const { table, lagSeconds } = this.#options;
    const marker = markerBehind(table, seenUpTo, this.#startedAtMs() - lagSeconds * 1_000);
    if (this.current !== null && !isLater(marker, this.current)) return {};
    // All rows are read, and so all that were noted as late before the mark.
    const mark = this.lateFrom === "" ? this.#mark : {};
    return this.#keep({ ...this.#companions, marker, ...mark });
  }

  /**
   * The start of the transfer by the clock of the source. Rows that are too far ahead for the other end stay out there for now. A
   * remote that tells of late rows tells of them later; to any other they are sent again. D-7.1, D-7.4.
   */
  #startedAtMs(): number {
    const { direction, clocks, tellsOfLateRows } = this.#options;
    const [ownMs, remoteMs] = [dateTimeMs(clocks.ownTime), dateTimeMs(clocks.remoteTime)];
    const [sourceMs, targetMs] = direction === "push" ? [ownMs, remoteMs] : [remoteMs, ownMs];
    return tellsOfLateRows ? sourceMs : Math.min(sourceMs, targetMs + MAX_AHEAD_MS);
  }

  /**
   * The change to commit before the first row is sent, or with the first that come: the columns that take part, where some do not
   * that did, or are left out. An instance that knows more columns sees by it which ones did not move. `keepsFirst`: also where
   * none are kept yet. D-7.3.3.
   */
  begin(keepsFirst: boolean): MemoryChange {
    const { columns } = this.#options;
    const { columns: then } = this.#written;
    const isLess = then === undefined ? keepsFirst : addedColumns(columns, then).length > 0;
    return isLess || columns.leftOut.length > 0 ? this.#keep({ columns }) : {};
  }

  /** The change to commit when the transfer ends well; empty when nothing changes. */
  finish(): MemoryChange {
    const { columns, pushedAnew } = this.#options;
    const change = this.#keep({ columns, ...this.#mark });
    return pushedAnew === null ? change : { ...change, push: { columns: pushedAnew } };
  }

  get #mark(): DirectionMemory {
    const { late } = this.#options;
    return late === null ? {} : { lateMark: late.mark };
  }

  #keep(wanted: DirectionMemory): MemoryChange {
    const written = { ...this.#written, ...wanted };
    if (JSON.stringify(written) === JSON.stringify(this.#written)) return {};
    this.#written = written;
    // All fields, as a run with full may have cleared them meanwhile.
    return { [this.#options.direction]: wanted };
  }

  /** The clocks to keep. Throws when one was set back by more than its allowance. */
  #latestClocks(): DirectionMemory {
    const { direction, clocks, kept } = this.#options;
    const memory = kept[direction];
    const remoteClock = this.#latestClock("the remote's", memory.remoteClock, clocks.remoteTime);
    if (direction === "pull") return { remoteClock };
    const ownClock = this.#latestClock("this store's", memory.ownClock, clocks.ownTime);
    return { remoteClock, ownClock };
  }

  /** The later one of a clock's time and the time remembered with the marker. */
  #latestClock(whose: string, remembered: string | undefined, time: string): string {
    const { clockLagSeconds } = this.#options;
    const before = this.current === null ? time : (remembered ?? time);
    if (compareDateTimes(before, time) <= 0) return time;
    if (dateTimeMs(before) - dateTimeMs(time) <= clockLagSeconds * 1000) return before;
    throw this.#distrust(
      `it was made when ${whose} clock said ${before}, and now that says ${time}`,
    );
  }

  #distrust(problem: string): AppError {
    const { table, direction } = this.#options;
    const text = `The ${direction} marker of "${table.name}" cannot be trusted: ${problem}`;
    return new AppError("sync_failed", text, { hint: "Run with full to start again" });
  }
}

/** The marker once everything before it is applied: the earlier of `seenUpTo` and `latestMs`, in the sender's form of times. */
export function markerBehind(table: Table, seenUpTo: string, latestMs: number): string {
  const latest = startLike(table, seenUpTo, latestMs);
  return isLater(seenUpTo, latest) ? latest : seenUpTo;
}

/** A marker without a mark may be behind late rows: then all rows are read. */
function startAt(
  marker: string | null,
  lateFrom: string | null,
  freshFrom: string | null,
): string | null {
  if (marker === null || lateFrom === "") return null;
  const noted = earliestTime([lateFrom, freshFrom]);
  return noted !== null && isLater(marker, noted) ? noted : marker;
}

function isLater(a: string, b: string): boolean {
  const [x, y] = [parseDateTime(a), parseDateTime(b)];
  return x !== null && y !== null && compareDateTimes(x, y) > 0;
}
