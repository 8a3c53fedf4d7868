// One table in one direction: what pulling and pushing share.
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
import type { RemoteCalls } from "../shared/call-remote.ts";
import type { RunLease } from "../shared/hold-lease.ts";
import type { Remote, SyncDeps } from "../shared/sync-deps.ts";
import type { TransferReport } from "../shared/transfer-report.ts";

/** One table in one direction, about to move. */
export interface Transfer {
  readonly deps: SyncDeps;
  readonly table: Table;
  readonly direction: SyncDirection;
  readonly remote: Remote;
  readonly lease: RunLease;
  readonly calls: RemoteCalls;
  readonly report: TransferReport;
  /** Begins at the first row, whatever the marker says. */
  readonly isFull: boolean;
  /** When the run began, ISO 8601. */
  readonly startedAt: string;
  /** Null unless the run moves rows in both directions. */
  readonly twoWay: TwoWay | null;
}

/** What the push and the pull of one table in one run know of each other. */
export interface TwoWay {
  /** This deployment's time when the push began, canonical; null before that. */
  pushedAt: string | null;
  /** The push's markers, when it has sent all there was; null before that. */
  pushMarkers: MarkerBook | null;
}

/** Both clocks at the beginning of a transfer. */
export interface Clocks {
  /** The remote's `server_time` as received. */
  readonly remoteText: string;
  /** The same, canonical. */
  readonly remoteTime: string;
  readonly ownTime: string;
}

/** The markers of one transfer: where it begins, and what to commit with its rows. */
export interface MarkerBook {
  /** As kept; null when the transfer begins at the first row. */
  readonly start: string | null;
  /** The marker as it was last committed; null when there is none. */
  current(): string | null;
  /** What to commit once every row before this time has been applied; empty when nothing changes. */
  advance(seenUpTo: string | null): ReadonlyMap<string, string>;
}

/** The allowance for late commits of a table, in seconds. D-1.3. */
export function lagSecondsOf({ deps, table }: Pick<Transfer, "deps" | "table">): number {
  return table.lagSeconds ?? deps.lagSeconds;
}

/** Reads both clocks, before the first row. Throws `sync_failed` when the remote will not take part. */
export async function readClocks(
  transfer: Pick<Transfer, "deps" | "remote" | "calls" | "table">,
): Promise<Clocks> {
  const { deps, remote, calls } = transfer;
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
      `The remote's server_time is no date and time: "${status.serverTime}"`,
    );
  }
  return { remoteText: status.serverTime, remoteTime, ownTime };
}

/**
 * Opens the markers of a transfer. Throws `sync_failed` when they cannot be trusted any more: they belong to another
 * remote, or one of the clocks they were made by has been set back.
 */
export async function openMarkers(transfer: Transfer, clocks: Clocks): Promise<MarkerBook> {
  const { deps, table, direction, remote, isFull } = transfer;
  const kept = isFull ? new Map<string, string>() : await deps.markers.readAll();
  const written = new Map(kept);
  const start = kept.get(markerName(direction, table.name)) ?? null;
  if (start !== null) {
    if (parseDateTime(start) === null) {
      throw distrust(`it is no date and time: "${start}"`, transfer);
    }
    checkRemote(transfer, kept);
  }
  const atMs = dateTimeMs(direction === "pull" ? clocks.remoteTime : clocks.ownTime);
  const lagSeconds = lagSecondsOf(transfer);
  const companions = new Map([
    [remoteMarkerName(direction, table.name), remote.address],
    ...latestClocks(transfer, clocks, start === null ? new Map() : kept),
  ]);
  return {
    start,
    current: () => written.get(markerName(direction, table.name)) ?? null,
    advance(seenUpTo) {
      if (seenUpTo === null) return new Map();
      // Written as the rows have their times, which whoever sent them can read.
      const cap = markerCap(table, { sample: seenUpTo, atMs, lagSeconds });
      const wanted = new Map(companions);
      wanted.set(markerName(direction, table.name), cappedMarker(seenUpTo, cap));
      if ([...wanted].every(([name, value]) => written.get(name) === value)) return new Map();
      // All of them, as a run with full may have cleared them meanwhile.
      for (const [name, value] of wanted) written.set(name, value);
      return wanted;
    },
  };
}

function checkRemote(transfer: Transfer, kept: ReadonlyMap<string, string>): void {
  const { table, direction, remote } = transfer;
  const address = kept.get(remoteMarkerName(direction, table.name)) ?? remote.address;
  if (address !== remote.address) {
    throw distrust(`it belongs to another remote, ${address}`, transfer);
  }
}

/** The clocks to remember. Throws when one is further back than the allowance makes up for. */
function latestClocks(
  transfer: Transfer,
  clocks: Clocks,
  kept: ReadonlyMap<string, string>,
): [string, string][] {
  const { table, direction } = transfer;
  const remote = { name: clockMarkerName(direction, table.name), time: clocks.remoteTime };
  const own = { name: ownClockMarkerName(table.name), time: clocks.ownTime };
  return (direction === "pull" ? [remote] : [remote, own]).map(({ name, time }) => {
    const before = kept.get(name) ?? time;
    if (compareDateTimes(before, time) <= 0) return [name, time];
    if (dateTimeMs(before) - dateTimeMs(time) > lagSecondsOf(transfer) * 1000) {
      const whose = name === own.name ? "this machine's" : "the remote's";
      throw distrust(
        `it was made when ${whose} clock said ${before}, and now that says ${time}`,
        transfer,
      );
    }
    return [name, before];
  });
}

function distrust(problem: string, { table, direction }: Transfer): AppError {
  const text = `The ${direction} marker of "${table.name}" cannot be trusted, run with full to begin anew`;
  return new AppError("sync_failed", `${text}: ${problem}`);
}
