// Lag of tables, by what runs have kept: for metrics and the overview. D-6.8, D-9.5.
import { dateTimeMs, parseDateTime } from "../../domain/shared/time.ts";
import type { DirectionMemory } from "../../domain/sync/run/remote-memory.ts";

/** Seconds from a marker to now; null without a marker that is a time. */
export function markerLagSeconds(
  memory: DirectionMemory | undefined,
  nowMs: number,
): number | null {
  const time = parseDateTime(memory?.marker ?? "");
  return time === null ? null : (nowMs - dateTimeMs(time)) / 1000;
}
