import { keptFrom, startOf, type TrafficUnit } from "../../../src/domain/sync/run/traffic.ts";
import type {
  TrafficCounts,
  TrafficHistory,
  TrafficStore,
} from "../../../src/ports/runs/traffic-store.ts";

/** Traffic in memory. */
export class MemoryTrafficStore implements TrafficStore {
  readonly #all: TrafficCounts[] = [];
  /** Hours before are forgotten. */
  #fromMs = Number.NEGATIVE_INFINITY;

  async add(minutes: readonly TrafficCounts[], nowMs: number): Promise<void> {
    this.#all.push(...minutes);
    this.#fromMs = Math.max(this.#fromMs, keptFrom("hour", nowMs));
  }

  async read(nowMs: number): Promise<TrafficHistory> {
    return { minutes: this.#counts("minute", nowMs), hours: this.#counts("hour", nowMs) };
  }

  #counts(unit: TrafficUnit, nowMs: number): readonly TrafficCounts[] {
    const groups = Map.groupBy(this.#all, ({ atMs }) => startOf(unit, atMs));
    const sum = (counts: readonly TrafficCounts[], field: "rows" | "lookups") =>
      counts.reduce((total, count) => total + count[field], 0);
    return [...groups]
      .map(([atMs, group]) => ({ atMs, rows: sum(group, "rows"), lookups: sum(group, "lookups") }))
      .filter(({ atMs }) => atMs >= Math.max(this.#fromMs, keptFrom(unit, nowMs)))
      .sort((a, b) => a.atMs - b.atMs);
  }
}
