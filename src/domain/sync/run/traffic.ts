// The minutes and hours by which traffic is kept. D-9.5.

export const TRAFFIC_UNITS = ["minute", "hour"] as const;
export type TrafficUnit = (typeof TRAFFIC_UNITS)[number];

export interface TrafficCounts {
  /** Start of the minute or hour, in milliseconds since 1970. */
  readonly atMs: number;
  /** Rows moved: written or removed by synchronization. */
  readonly rows: number;
  readonly lookups: number;
}

export interface TrafficHistory {
  /** The minutes of the last day, the oldest first; without those that had no traffic. */
  readonly minutes: readonly TrafficCounts[];
  /** The hours of the last 31 days, likewise. */
  readonly hours: readonly TrafficCounts[];
}

const UNIT_MS: Readonly<Record<TrafficUnit, number>> = { minute: 60_000, hour: 3_600_000 };
const KEPT_MS: Readonly<Record<TrafficUnit, number>> = {
  minute: 86_400_000,
  hour: 31 * 86_400_000,
};

/** Start of the minute or hour that a time is part of, in ms since 1970. */
export function startOf(unit: TrafficUnit, atMs: number): number {
  return Math.floor(atMs / UNIT_MS[unit]) * UNIT_MS[unit];
}

/** The time before which units are forgotten, in ms since 1970. */
export function keptFrom(unit: TrafficUnit, nowMs: number): number {
  return nowMs - KEPT_MS[unit];
}
