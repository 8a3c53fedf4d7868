import type { Collection } from "mongodb";
import {
  keptFrom,
  startOf,
  TRAFFIC_UNITS,
  type TrafficUnit,
} from "../../../domain/sync/run/traffic.ts";
import type {
  TrafficCounts,
  TrafficHistory,
  TrafficStore,
} from "../../../ports/runs/traffic-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { COMMITTED, readCommitted, type StoreDeps, writeTogether } from "../driver/operations.ts";

export const TRAFFIC: InternalCollection = {
  name: "repsync_traffic",
  indexes: [{ name: "repsync_at", key: { unit: 1, atMs: 1 }, unique: true }],
};

interface TrafficDocument {
  /** `<unit>/<start>`. */
  readonly _id: string;
  readonly unit: TrafficUnit;
  readonly atMs: number;
  readonly rows: number;
  readonly lookups: number;
}

export class MongoTrafficStore implements TrafficStore {
  readonly #deps: StoreDeps;
  readonly #traffic: Collection<TrafficDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#traffic = deps.db.collection(TRAFFIC.name);
  }

  async add(minutes: readonly TrafficCounts[], nowMs: number): Promise<void> {
    await writeTogether(this.#deps, async (tx) => {
      for (const unit of TRAFFIC_UNITS) {
        for (const { atMs: minuteMs, rows, lookups } of minutes) {
          const atMs = startOf(unit, minuteMs);
          const change = { $inc: { rows, lookups }, $setOnInsert: { unit, atMs } };
          const options = { upsert: true, session: tx };
          await this.#traffic.updateOne({ _id: `${unit}/${atMs}` }, change, options);
        }
        const old = { unit, atMs: { $lt: keptFrom(unit, nowMs) } };
        await this.#traffic.deleteMany(old, { session: tx });
      }
    });
  }

  async read(nowMs: number): Promise<TrafficHistory> {
    const [minutes, hours] = await Promise.all([
      this.#counts("minute", nowMs),
      this.#counts("hour", nowMs),
    ]);
    return { minutes, hours };
  }

  async #counts(unit: TrafficUnit, nowMs: number): Promise<readonly TrafficCounts[]> {
    const kept = { unit, atMs: { $gte: keptFrom(unit, nowMs) } };
    const found = await readCommitted(this.#deps, () =>
      this.#traffic.find(kept, { ...COMMITTED, sort: { atMs: 1 } }).toArray(),
    );
    return found.map(({ atMs, rows, lookups }) => ({ atMs, rows, lookups }));
  }
}
