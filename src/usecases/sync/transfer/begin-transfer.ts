// Where the transfer of a table begins: at the marker of earlier runs, if that can be trusted, or at rows noted since as
// late. D-4.5, D-4.6, D-7.4.
import { AppError } from "../../../domain/shared/errors.ts";
import { compareDateTimes, dateTimeMs, parseDateTime } from "../../../domain/shared/time.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { MAX_AHEAD_MS } from "../../../domain/sync/rows/time-rank.ts";
import { type KnownColumns, leavingOut } from "../../../domain/sync/run/known-columns.ts";
import { cappedMarker, markerCap, type SyncDirection } from "../../../domain/sync/run/marker.ts";
import {
  type DirectionMemory,
  isSameMemory,
  type MemoryChange,
  NO_MEMORY,
  type TableMemory,
} from "../../../domain/sync/run/remote-memory.ts";
import type { ConflictRule, Row, Table } from "../../../domain/sync/table/table.ts";
import type { LateRowsReply } from "../../../repositories/late-rows.ts";
import type { Clocks, Handshake } from "../shared/handshake.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { RemoteTable, RunContext } from "../shared/run-context.ts";
import type { DeletesReadAhead } from "./meeting.ts";
import type { TransferMemory } from "./transfer-memory.ts";
import type { TransferReport } from "./transfer-report.ts";

/** What writing here under a transfer's lease takes. */
export interface OwnTransfer {
  readonly run: Pick<RunContext, "deps" | "isDryRun">;
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly lease: RunLease;
  /** Null where it is not known which remote something came from. */
  readonly memory: TransferMemory | null;
  /** Which rows stay at the end that is written to: the newer ones in a run. Null, with `force`: as its table says. D-7.1. */
  readonly conflict: ConflictRule | null;
  /** Columns that took no part before: all rows are moved for them. */
  readonly added: readonly string[];
  /** Columns in which a null of the remote empties nothing here. */
  readonly silent: readonly string[];
}

export interface TableTransfer extends OwnTransfer, RemoteTable {
  readonly run: RunContext;
  readonly table: Table;
  readonly memory: TransferMemory;
  readonly report: TransferReport;
  readonly handshake: Handshake;
  /** That of `memory` by which it begins. */
  readonly last: TableMemory;
  /** The columns that take part; `added` are among them. D-7.3. */
  readonly columns: KnownColumns;
  readonly readAhead: DeletesReadAhead;
}

/**
 * Opens the markers of a transfer. `late` tells of late rows at its source since the mark kept last; null for a remote
 * that tells of none. Throws `sync_failed` when markers of the run's directions cannot be trusted any more: one
 * of the clocks they were made by has been set back.
 */
export function openMarkers(transfer: TableTransfer, late: LateRowsReply | null): TransferMarkers {
  const { run, table, handshake, last, columns } = transfer;
  const options = {
    // With full they were cleared; another run may have kept its own since.
    kept: run.isFull ? NO_MEMORY : last,
    table,
    columns,
    clocks: handshake.clocks,
    pushedAnew: columnsPushedAnew(transfer),
    lagSeconds: Math.max(table.lagSeconds, handshake.schema?.lagSeconds ?? 0),
    tellsOfLateRows: handshake.schema !== null,
  };
  // What is not possible in another direction fails the table before anything has moved.
  for (const direction of run.directions)
    new TransferMarkers({ ...options, direction, late: null });
  return new TransferMarkers({ ...options, direction: transfer.direction, late });
}

/**
 * What to keep of the columns of the last push once a pull has ended, null for no change: what it left here in added columns,
 * and wrote to rows that came, is not there, so the next push begins anew. D-7.3.
 */
function columnsPushedAnew({ direction, last, added }: TableTransfer): KnownColumns | null {
  const pushed = last.push.columns;
  return direction === "push" || pushed === undefined ? null : leavingOut(pushed, added);
}

interface MarkerOptions {
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly clocks: Clocks;
  readonly kept: TableMemory;
  readonly columns: KnownColumns;
  readonly pushedAnew: KnownColumns | null;
  readonly lagSeconds: number;
  /** The remote does. */
  readonly tellsOfLateRows: boolean;
  readonly late: LateRowsReply | null;
}

/** The markers of one transfer: where it begins, and what to commit with its rows. */
export class TransferMarkers {
  /** Time to begin at, which the source can read; null to begin at the first row. */
  readonly start: string | null;
  /**
   * Canonical: rows from this time on may have been noted as late. Null when none was, the empty text when all may have
   * been.
   */
  readonly lateFrom: string | null;
  readonly #options: MarkerOptions;
  /** What is remembered of the direction, with what has been committed since. */
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
    this.start = late === null ? marker : startAt(marker, this.lateFrom);
  }

  /** The marker as it was last committed; null when there is none. */
  get current(): string | null {
    return this.#written.marker || null;
  }

  /** True for a row that may have been noted as late. */
  isLate(row: Row): boolean {
    if (this.lateFrom === null || this.lateFrom === "") return this.lateFrom !== null;
    const time = rowTime(this.#options.table, row);
    return time !== null && compareDateTimes(time, this.lateFrom) >= 0;
  }

  /** What to commit once every row before this time has been applied; empty when the marker does not move on. */
  advance(seenUpTo: string | null): MemoryChange {
    if (seenUpTo === null) return {};
    const { table, lagSeconds } = this.#options;
    // In the notation of the rows' own times, which the end that sent them can read.
    const cap = markerCap(table, seenUpTo, this.#startedAtMs(), lagSeconds);
    const marker = cappedMarker(seenUpTo, cap);
    if (this.current !== null && !isLater(marker, this.current)) return {};
    // All rows are read, so those noted as late before the mark are among them.
    const mark = this.lateFrom === "" ? this.#mark : {};
    return this.#keep({ ...this.#companions, marker, ...mark });
  }

  /**
   * By the clock of the source. What is too far ahead for the other end stays out there for now: a remote that tells of
   * such rows does so in time, of any other they are met again. D-7.1, D-7.4.
   */
  #startedAtMs(): number {
    const { direction, clocks, tellsOfLateRows } = this.#options;
    const [ownMs, remoteMs] = [dateTimeMs(clocks.ownTime), dateTimeMs(clocks.remoteTime)];
    const [sourceMs, targetMs] = direction === "push" ? [ownMs, remoteMs] : [remoteMs, ownMs];
    return tellsOfLateRows ? sourceMs : Math.min(sourceMs, targetMs + MAX_AHEAD_MS);
  }

  /** What to commit when the transfer ends well; empty when nothing changes. */
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
    if (isSameMemory(written, this.#written)) return {};
    this.#written = written;
    // All of them, as a run with full may have cleared them meanwhile.
    return { [this.#options.direction]: wanted };
  }

  /** The clocks to keep. Throws when one was set back by more than the allowance for late commits. */
  #latestClocks(): DirectionMemory {
    const { direction, clocks, kept } = this.#options;
    const memory = kept[direction];
    const remoteClock = this.#latestClock("the remote's", memory.remoteClock, clocks.remoteTime);
    if (direction === "pull") return { remoteClock };
    const ownClock = this.#latestClock("this machine's", memory.ownClock, clocks.ownTime);
    return { remoteClock, ownClock };
  }

  /** The later one of a clock's time and what is remembered of it with the marker. */
  #latestClock(whose: string, remembered: string | undefined, time: string): string {
    const { lagSeconds } = this.#options;
    const before = this.current === null ? time : (remembered ?? time);
    if (compareDateTimes(before, time) <= 0) return time;
    if (dateTimeMs(before) - dateTimeMs(time) <= lagSeconds * 1000) return before;
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

/** A marker that nobody kept a mark with may be behind rows that came late: then all rows are read. */
function startAt(marker: string | null, lateFrom: string | null): string | null {
  if (marker === null || lateFrom === "") return null;
  return lateFrom !== null && isLater(marker, lateFrom) ? lateFrom : marker;
}

function isLater(a: string, b: string): boolean {
  const [x, y] = [parseDateTime(a), parseDateTime(b)];
  return x !== null && y !== null && compareDateTimes(x, y) > 0;
}
