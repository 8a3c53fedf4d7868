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
import type { SqliteDatabase } from "../driver/database.ts";

export const TRAFFIC_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_traffic (
    unit TEXT NOT NULL, at_ms INTEGER NOT NULL, rows INTEGER NOT NULL, lookups INTEGER NOT NULL,
    PRIMARY KEY (unit, at_ms)
  ) WITHOUT ROWID`,
];

const ADD =
  "INSERT INTO repsync_traffic (unit, at_ms, rows, lookups) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE" +
  " SET rows = rows + excluded.rows, lookups = lookups + excluded.lookups";

const FORGET = "DELETE FROM repsync_traffic WHERE unit = ? AND at_ms < ?";

const READ =
  "SELECT at_ms AS atMs, rows, lookups FROM repsync_traffic WHERE unit = ? AND at_ms >= ? ORDER BY at_ms";

export class SqliteTrafficStore implements TrafficStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async add(minutes: readonly TrafficCounts[], nowMs: number): Promise<void> {
    const database = this.#database;
    await database.keep(() => {
      for (const unit of TRAFFIC_UNITS) {
        for (const { atMs, rows, lookups } of minutes) {
          database.run(ADD, [unit, startOf(unit, atMs), rows, lookups]);
        }
        database.run(FORGET, [unit, keptFrom(unit, nowMs)]);
      }
    });
  }

  async read(nowMs: number): Promise<TrafficHistory> {
    return await this.#database.read(() => ({
      minutes: this.#counts("minute", nowMs),
      hours: this.#counts("hour", nowMs),
    }));
  }

  #counts(unit: TrafficUnit, nowMs: number): readonly TrafficCounts[] {
    const found = this.#database.all(READ, [unit, keptFrom(unit, nowMs)]);
    return found.map(({ atMs, rows, lookups }) => ({
      atMs: Number(atMs),
      rows: Number(rows),
      lookups: Number(lookups),
    }));
  }
}
