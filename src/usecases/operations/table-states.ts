// Drift and lag of tables, by what runs have kept: for metrics and the overview. D-6.8, D-7.5, D-9.5.
import { dateTimeMs, parseDateTime } from "../../domain/shared/time.ts";
import { driftName, markerName, type SyncDirection } from "../../domain/sync/run/marker.ts";

/** Kept markers by name. */
type Markers = ReadonlyMap<string, string>;

/** Seconds from a marker to now; null without a marker that is a time. */
export function markerLagSeconds(
  markers: Markers,
  direction: SyncDirection,
  tableName: string,
  nowMs: number,
): number | null {
  const time = parseDateTime(markers.get(markerName(direction, tableName)) ?? "");
  return time === null ? null : (nowMs - dateTimeMs(time)) / 1000;
}

/** Rows that this end had more than the remote when the last run over a table ended; null when no run has counted. */
export function keptDrift(markers: Markers, tableName: string): number | null {
  const rows = Number.parseInt(markers.get(driftName(tableName)) ?? "", 10);
  return Number.isNaN(rows) ? null : rows;
}
