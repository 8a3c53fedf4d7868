// Where the transfer of a table begins: the two clocks, and the markers of earlier runs, if they can be trusted.
import { AppError } from "../../../domain/shared/errors.ts";
import {
  compareDateTimes,
  dateTimeMs,
  formatMs,
  parseDateTime,
} from "../../../domain/shared/time.ts";
import {
  cappedMarker,
  clockMarkerName,
  markerCap,
  markerName,
  ownClockMarkerName,
  remoteMarkerName,
  type SyncDirection,
} from "../../../domain/sync/run/marker.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { RemoteTable } from "../shared/run-context.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import type { TransferReport } from "./transfer-report.ts";

export interface TableTransfer extends RemoteTable {
  readonly direction: SyncDirection;
  readonly lease: RunLease;
  readonly report: TransferReport;
  /** Null unless the run moves rows in both directions. */
  readonly twoWay: TwoWay | null;
}

/** What the pull of a table needs to know of its push in the same run. D-4.7. */
export class TwoWay {
  /** This deployment's time when the push began, canonical; null before that. */
  pushedAt: string | null = null;
  /** The push's markers, when it has sent all there was; null before that. */
  pushMarkers: TransferMarkers | null = null;
}

export interface Clocks {
  /** The remote's `server_time` as received. */
  readonly remoteText: string;
  /** The same, canonical. */
  readonly remoteTime: string;
  readonly ownTime: string;
}

/** The allowance for late commits of a table, in seconds. D-1.3. */
export function lagSecondsOf(deps: SyncDeps, table: Table): number {
  return table.lagSeconds ?? deps.lagSeconds;
}

/** Reads both clocks, before the first row. Throws `sync_failed` when the remote will not take part. */
export async function readClocks({ run, calls }: RemoteTable): Promise<Clocks> {
  const { deps, remote } = run;
  const ownTime = formatMs(deps.clock.nowMs());
  const status = await calls.call((signal) => remote.peer.readStatus({ signal }));
  if (!status.syncEnabled) {
    const text = `The remote has sync disabled: ${remote.address}; set SYNC_ENABLED there`;
    throw new AppError("sync_failed", text);
  }
  const remoteTime = parseDateTime(status.serverTime);
  if (remoteTime === null) {
    throw new AppError(
      "remote_invalid",
      `The remote's server_time is not a date and time: "${status.serverTime}"`,
    );
  }
  return { remoteText: status.serverTime, remoteTime, ownTime };
}

/**
 * Opens the markers of a transfer, or of its table's other direction. Throws `sync_failed` when they cannot be trusted
 * any more: they belong to another remote, or one of the clocks they were made by has been set back. D-4.5, D-4.6.
 */
export async function openMarkers(
  { run, table }: TableTransfer,
  direction: SyncDirection,
  clocks: Clocks,
): Promise<TransferMarkers> {
  const kept = run.isFull ? new Map<string, string>() : await run.deps.markers.readAll();
  return new TransferMarkers({
    table,
    direction,
    clocks,
    kept,
    remoteAddress: run.remote.address,
    lagSeconds: lagSecondsOf(run.deps, table),
  });
}

/** Arguments of `TransferMarkers`. */
interface MarkerOptions {
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly clocks: Clocks;
  /** Values by name, as the store has them. */
  readonly kept: ReadonlyMap<string, string>;
  readonly remoteAddress: string;
  readonly lagSeconds: number;
}

/** The markers of one transfer: where it begins, and what to commit with its rows. */
class TransferMarkers {
  /** As kept, and readable; null when the transfer begins at the first row. */
  readonly start: string | null;
  readonly #options: MarkerOptions;
  readonly #name: string;
  /** Values by name, with what has been committed since. */
  readonly #written: Map<string, string>;
  /** The remote's address and the clocks: without them a marker cannot be trusted. */
  readonly #companions: ReadonlyMap<string, string>;

  /** Throws `sync_failed` for a marker that cannot be trusted. */
  constructor(options: MarkerOptions) {
    const { table, direction, kept, remoteAddress } = options;
    this.#options = options;
    this.#name = markerName(direction, table.name);
    this.#written = new Map(kept);
    this.start = kept.get(this.#name) ?? null;
    if (this.start !== null) this.#checkStart(this.start);
    this.#companions = new Map([
      [remoteMarkerName(direction, table.name), remoteAddress],
      ...this.#latestClocks(),
    ]);
  }

  /** The marker as it was last committed; null when there is none. */
  get current(): string | null {
    return this.#written.get(this.#name) ?? null;
  }

  /** What to commit once every row before this time has been applied; empty when nothing changes. */
  advance(seenUpTo: string | null): ReadonlyMap<string, string> {
    if (seenUpTo === null) return new Map();
    const { table, direction, clocks, lagSeconds } = this.#options;
    const startedAt = direction === "pull" ? clocks.remoteTime : clocks.ownTime;
    // In the notation of the rows' own times, which the end that sent them can read.
    const cap = markerCap(table, seenUpTo, dateTimeMs(startedAt), lagSeconds);
    const wanted = new Map(this.#companions);
    wanted.set(this.#name, cappedMarker(seenUpTo, cap));
    if ([...wanted].every(([name, value]) => this.#written.get(name) === value)) return new Map();
    // All of them, as a run with full may have cleared them meanwhile.
    for (const [name, value] of wanted) this.#written.set(name, value);
    return wanted;
  }

  #checkStart(start: string): void {
    if (parseDateTime(start) === null) throw this.#distrust(`it is no date and time: "${start}"`);
    const { table, direction, kept, remoteAddress } = this.#options;
    const address = kept.get(remoteMarkerName(direction, table.name)) ?? remoteAddress;
    if (address !== remoteAddress) throw this.#distrust(`it belongs to another remote, ${address}`);
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
    const before = this.start === null ? time : (kept.get(name) ?? time);
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
