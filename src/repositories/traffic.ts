import {
  TRAFFIC,
  type TrafficCounts,
  type TrafficDocument,
  type TrafficUnit,
} from "./collections.ts";
import { Repository } from "./repository.ts";

interface TrafficHistory {
  /** The minutes of the last day, the oldest first; without those that had no traffic. */
  readonly minutes: readonly TrafficCounts[];
  /** The hours of the last 31 days, likewise. */
  readonly hours: readonly TrafficCounts[];
}

const UNITS = ["minute", "hour"] as const;
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
function keptFrom(unit: TrafficUnit, nowMs: number): number {
  return nowMs - KEPT_MS[unit];
}

const MAX_FORGOTTEN = 1_000;

/** Summed over all instances. Each process adds every few seconds, so a crash loses the last of them. D-9.5. */
export class Traffic extends Repository {
  /** Adds counts of minutes, to their hours too, in one commit; forgets minutes after a day and hours after 31 days. */
  async add(minutes: readonly TrafficCounts[], nowMs: number): Promise<void> {
    const added = UNITS.flatMap((unit) =>
      minutes.map((counts) => ({ ...counts, unit, atMs: startOf(unit, counts.atMs) })),
    );
    const [oldMinutes, oldHours] = [before("minute", nowMs), before("hour", nowMs)];
    await this.writing("traffic.add", async (tx) => {
      const [present, ...old] = await tx.read(
        { from: TRAFFIC, keys: added.map(TRAFFIC.keyOf) },
        { from: TRAFFIC, keysOf: oldMinutes },
        { from: TRAFFIC, keysOf: oldHours },
      );
      for (const counts of summed([...present, ...added])) tx.put(TRAFFIC, counts);
      for (const key of old.flat()) tx.remove(TRAFFIC, key);
    });
  }

  async read(nowMs: number): Promise<TrafficHistory> {
    const [all] = await this.ask("traffic.read", { from: TRAFFIC, stretch: {} });
    const kept = (unit: TrafficUnit) =>
      all
        .filter((counts) => counts.unit === unit && counts.atMs >= keptFrom(unit, nowMs))
        .map(({ atMs, rows, lookups }) => ({ atMs, rows, lookups }));
    return { minutes: kept("minute"), hours: kept("hour") };
  }
}

/** Counts by minute or hour that are too old to be kept, the latest first. */
function before(unit: TrafficUnit, nowMs: number) {
  const after = [unit, Math.max(0, keptFrom(unit, nowMs))];
  return { within: [[unit]], after, isReverse: true, limit: MAX_FORGOTTEN };
}

function summed(all: readonly TrafficDocument[]): readonly TrafficDocument[] {
  const sums = new Map<string, TrafficDocument>();
  for (const { unit, atMs, rows, lookups } of all) {
    const name = `${unit}/${atMs}`;
    const sum = sums.get(name) ?? { unit, atMs, rows: 0, lookups: 0 };
    sums.set(name, { ...sum, rows: sum.rows + rows, lookups: sum.lookups + lookups });
  }
  return [...sums.values()];
}
