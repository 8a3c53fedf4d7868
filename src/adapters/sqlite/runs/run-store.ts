import { MAX_KEPT_RUNS } from "../../../domain/shared/limits.ts";
import { type KeptRun, readKeptRun } from "../../../domain/sync/run/run.ts";
import type { RunQuery, RunStore } from "../../../ports/runs/run-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";

/** Runs as JSON, numbered in the order in which they were first saved. */
export const RUN_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, run TEXT NOT NULL
  )`,
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_runs_id ON repsync_runs (id)",
  `CREATE TABLE IF NOT EXISTS repsync_run_cancellations (
    id TEXT PRIMARY KEY, reason TEXT NOT NULL
  ) WITHOUT ROWID`,
];

const SAVE =
  "INSERT INTO repsync_runs (id, run) VALUES (?, ?)" +
  " ON CONFLICT (id) DO UPDATE SET run = excluded.run";

const DROP_OLDEST =
  "DELETE FROM repsync_runs WHERE number <=" +
  ` (SELECT number FROM repsync_runs ORDER BY number DESC LIMIT 1 OFFSET ${MAX_KEPT_RUNS})`;

const CANCEL =
  "INSERT INTO repsync_run_cancellations (id, reason)" +
  " SELECT id, ?2 FROM repsync_runs WHERE id = ?1 ON CONFLICT (id) DO NOTHING";

const DROP_OLD_CANCELLATIONS =
  "DELETE FROM repsync_run_cancellations WHERE id NOT IN (SELECT id FROM repsync_runs)";

const CANCELLATION = "SELECT reason FROM repsync_run_cancellations WHERE id = ?";

const FIND = "SELECT run FROM repsync_runs WHERE id = ?";

const LIST = "SELECT run FROM repsync_runs ORDER BY number DESC LIMIT ?";

const LIST_BEFORE =
  "SELECT run FROM repsync_runs WHERE number < (SELECT number FROM repsync_runs WHERE id = ?)" +
  " ORDER BY number DESC LIMIT ?";

export class SqliteRunStore implements RunStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async save(run: KeptRun): Promise<void> {
    const database = this.#database;
    await database.keep(() => {
      database.run(SAVE, [run.runId, JSON.stringify(run)]);
      database.run(DROP_OLDEST);
    });
  }

  async cancel(runId: string, reason: string): Promise<void> {
    const database = this.#database;
    await database.keep(() => {
      database.run(DROP_OLD_CANCELLATIONS);
      database.run(CANCEL, [runId, reason]);
    });
  }

  async cancellation(runId: string): Promise<string | null> {
    const [row] = await this.#database.read(() => this.#database.all(CANCELLATION, [runId]));
    return row === undefined ? null : String(row["reason"]);
  }

  async find(runId: string): Promise<KeptRun | null> {
    const [row] = await this.#database.read(() => this.#database.all(FIND, [runId]));
    return row === undefined ? null : readRun(row);
  }

  async list({ beforeId, limit }: RunQuery): Promise<readonly KeptRun[]> {
    const rows = await this.#database.read(() =>
      beforeId === null
        ? this.#database.all(LIST, [limit])
        : this.#database.all(LIST_BEFORE, [beforeId, limit]),
    );
    return rows.map(readRun);
  }
}

function readRun(row: SqliteRow): KeptRun {
  return readKeptRun(String(row["run"]));
}
