// Where the transfer of a table begins: at the marker of earlier runs, if that can be trusted, or at rows noted since as
// late. D-4.5, D-4.6, D-7.4.
import { AppError } from "../../../domain/shared/errors.ts";
import { compareDateTimes, dateTimeMs, parseDateTime } from "../../../domain/shared/time.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { MAX_AHEAD_MS } from "../../../domain/sync/rows/time-rank.ts";
import {
  type KnownColumns,
  leavingOut,
  readColumns,
  writeColumns,
} from "../../../domain/sync/run/known-columns.ts";
import {
  cappedMarker,
  clockMarkerName,
  columnsName,
  markerCap,
  markerName,
  markName,
  ownClockMarkerName,
  type SyncDirection,
} from "../../../domain/sync/run/marker.ts";
import type { ConflictRule, Row, Table } from "../../../domain/sync/table/table.ts";
import type { LateRowsReply } from "../../../ports/tables/late-rows.ts";
import type { Clocks, Handshake } from "../shared/handshake.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { RemoteTable, RunContext } from "../shared/run-context.ts";
import type { DeletesReadAhead } from "./meeting.ts";
import type { RemoteMemory } from "./remote-memory.ts";
import type { TransferReport } from "./transfer-report.ts";

/** What writing here under a transfer's lease takes. */
export interface OwnTransfer {
  readonly run: Pick<RunContext, "deps" | "isDryRun">;
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly lease: RunLease;
  /** Null where it is not known which remote something came from. */
  readonly memory: RemoteMemory | null;
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
  readonly memory: RemoteMemory;
  readonly report: TransferReport;
  readonly handshake: Handshake;
  /** Those of `memory` by which it begins. */
  readonly lastMarkers: ReadonlyMap<string, string>;
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
  const { run, table, handshake, lastMarkers, columns } = transfer;
  const options = {
    // With full they were cleared; another run may have kept its own since.
    kept: run.isFull ? new Map<string, string>() : lastMarkers,
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
function columnsPushedAnew({ table, direction, lastMarkers, added }: TableTransfer): string | null {
  const pushed = readColumns(lastMarkers.get(columnsName("push", table.name)));
  if (direction === "push" || pushed === null) return null;
  const columns = leavingOut(pushed, added);
  return columns === null ? null : writeColumns(columns);
}

interface MarkerOptions {
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly clocks: Clocks;
  readonly kept: ReadonlyMap<string, string>;
  readonly columns: KnownColumns;
  readonly pushedAnew: string | null;
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
  readonly #name: string;
  /** Values by name, with what has been committed since. */
  readonly #written: Map<string, string>;
  /** The clocks: without them a marker cannot be trusted. */
  readonly #companions: ReadonlyMap<string, string>;

  /** Throws `sync_failed` for a marker that cannot be trusted. */
  constructor(options: MarkerOptions) {
    const { table, direction, kept, late } = options;
    this.#options = options;
    this.#name = markerName(direction, table.name);
    this.#written = new Map(kept);
    const marker = this.current;
    if (marker !== null && parseDateTime(marker) === null) {
      throw this.#distrust(`it is no date and time: "${marker}"`);
    }
    this.#companions = new Map(this.#latestClocks());
    this.lateFrom = kept.has(markName(direction, table.name)) ? (late?.from ?? null) : "";
    this.start = late === null ? marker : startAt(marker, this.lateFrom);
  }

  /** The marker as it was last committed; null when there is none. */
  get current(): string | null {
    return this.#written.get(this.#name) ?? null;
  }

  /** True for a row that may have been noted as late. */
  isLate(row: Row): boolean {
    if (this.lateFrom === null || this.lateFrom === "") return this.lateFrom !== null;
    const time = rowTime(this.#options.table, row);
    return time !== null && compareDateTimes(time, this.lateFrom) >= 0;
  }

  /** What to commit once every row before this time has been applied; empty when the marker does not move on. */
  advance(seenUpTo: string | null): ReadonlyMap<string, string> {
    if (seenUpTo === null) return new Map();
    const { table, lagSeconds } = this.#options;
    // In the notation of the rows' own times, which the end that sent them can read.
    const cap = markerCap(table, seenUpTo, this.#startedAtMs(), lagSeconds);
    const marker = cappedMarker(seenUpTo, cap);
    if (this.current !== null && !isLater(marker, this.current)) return new Map();
    const wanted = new Map([...this.#companions, [this.#name, marker]]);
    // All rows are read, so those noted as late before the mark are among them.
    if (this.lateFrom === "") this.#addMark(wanted);
    return this.#keep(wanted);
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
  finish(): ReadonlyMap<string, string> {
    const { table, direction, columns, pushedAnew } = this.#options;
    const wanted = new Map([[columnsName(direction, table.name), writeColumns(columns)]]);
    if (pushedAnew !== null) wanted.set(columnsName("push", table.name), pushedAnew);
    this.#addMark(wanted);
    return this.#keep(wanted);
  }

  #addMark(wanted: Map<string, string>): void {
    const { table, direction, late } = this.#options;
    if (late !== null) wanted.set(markName(direction, table.name), late.mark);
  }

  #keep(wanted: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    if ([...wanted].every(([name, value]) => this.#written.get(name) === value)) return new Map();
    // All of them, as a run with full may have cleared them meanwhile.
    for (const [name, value] of wanted) this.#written.set(name, value);
    return wanted;
  }

  /** The clocks to keep. Throws when one was set back by more than the allowance for late commits. */
  #latestClocks(): [string, string][] {
    const { table, direction, clocks } = this.#options;
    const remoteName = clockMarkerName(direction, table.name);
    const remote = this.#latestClock("the remote's", remoteName, clocks.remoteTime);
    if (direction === "pull") return [[remoteName, remote]];
    const ownName = ownClockMarkerName(table.name);
    const own = this.#latestClock("this machine's", ownName, clocks.ownTime);
    return [
      [remoteName, remote],
      [ownName, own],
    ];
  }

  /** The later one of a clock's time and what the marker remembers of it. */
  #latestClock(whose: string, name: string, time: string): string {
    const { kept, lagSeconds } = this.#options;
    const before = this.current === null ? time : (kept.get(name) ?? time);
    if (compareDateTimes(before, time) <= 0) return time;
    if (dateTimeMs(before) - dateTimeMs(time) <= lagSeconds * 1000) return before;
    throw this.#distrust(
      `it was made when ${whose} clock said ${before}, and now that says ${time}`,
    );
  }

  #distrust(problem: string): AppError {
    const { table, direction } = this.#options;
    const text = `The ${direction} marker of "${table.name}" cannot be trusted, run with full to start again`;
    return new AppError("sync_failed", `${text}: ${problem}`);
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
