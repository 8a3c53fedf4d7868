import type { QueuedAlert } from "../../../domain/alerts/alert.ts";
import { MAX_KEPT_DRY_RUNS, MAX_KEPT_RUNS } from "../../../domain/shared/limits.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import { type KeptRun, readKeptRun } from "../../../domain/sync/run/run.ts";
import type { RunQuery, RunStore, ToldRun } from "../../../ports/runs/run-store.ts";
import { addAlerts } from "../alerts/alert-outbox.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";

/** Runs as JSON, numbered in the order in which they were first saved. */
export const RUN_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, run TEXT NOT NULL
  )`,
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_runs_id ON repsync_runs (id)",
  `CREATE TABLE IF NOT EXISTS repsync_dry_runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, run TEXT NOT NULL
  )`,
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_dry_runs_id ON repsync_dry_runs (id)",
  "CREATE TABLE IF NOT EXISTS repsync_run_news (id TEXT PRIMARY KEY, news TEXT NOT NULL) WITHOUT ROWID",
  `CREATE TABLE IF NOT EXISTS repsync_run_cancellations (
    id TEXT PRIMARY KEY, reason TEXT NOT NULL
  ) WITHOUT ROWID`,
];

/** The SQL of one of the two tables of runs, with its limit. */
function tableSql(name: string, limit: number) {
  return {
    replace: `UPDATE ${name} SET run = ?2 WHERE id = ?1`,
    insert: `INSERT INTO ${name} (id, run) VALUES (?, ?)`,
    dropOldest:
      `DELETE FROM ${name} WHERE number <=` +
      ` (SELECT number FROM ${name} ORDER BY number DESC LIMIT 1 OFFSET ${limit})`,
  };
}

const RUNS = tableSql("repsync_runs", MAX_KEPT_RUNS);
const DRY_RUNS = tableSql("repsync_dry_runs", MAX_KEPT_DRY_RUNS);

const SAVE_NEWS =
  "INSERT INTO repsync_run_news (id, news) VALUES (?, ?)" +
  " ON CONFLICT (id) DO UPDATE SET news = excluded.news";

const IS_GONE =
  " WHERE id NOT IN (SELECT id FROM repsync_runs) AND id NOT IN (SELECT id FROM repsync_dry_runs)";

const DROP_OLD_NEWS = `DELETE FROM repsync_run_news${IS_GONE}`;

const CANCEL =
  "INSERT INTO repsync_run_cancellations (id, reason) SELECT id, ?2 FROM" +
  " (SELECT id FROM repsync_runs UNION ALL SELECT id FROM repsync_dry_runs) WHERE id = ?1" +
  " ON CONFLICT (id) DO NOTHING";

const DROP_OLD_CANCELLATIONS = `DELETE FROM repsync_run_cancellations${IS_GONE}`;

const CANCELLATION = "SELECT reason FROM repsync_run_cancellations WHERE id = ?";

const FIND =
  "SELECT run FROM repsync_runs WHERE id = ?1" +
  " UNION ALL SELECT run FROM repsync_dry_runs WHERE id = ?1";

const FIND_NEWS = "SELECT news FROM repsync_run_news WHERE id = ?";

const LIST = "SELECT run FROM repsync_runs ORDER BY number DESC LIMIT ?";

const LIST_BEFORE =
  "SELECT run FROM repsync_runs WHERE number < (SELECT number FROM repsync_runs WHERE id = ?)" +
  " ORDER BY number DESC LIMIT ?";

export class SqliteRunStore implements RunStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async save(
    run: KeptRun,
    news?: readonly News[],
    alerts: readonly QueuedAlert[] = [],
  ): Promise<void> {
    const database = this.#database;
    const sql = run.kind === "sync" && run.dryRun ? DRY_RUNS : RUNS;
    const values = [run.runId, JSON.stringify(run)];
    const newsText = news === undefined ? null : JSON.stringify(news);
    await database.keep(() => {
      if (database.run(sql.replace, values) === 0) {
        database.run(sql.insert, values);
        database.run(sql.dropOldest);
        database.run(DROP_OLD_NEWS);
      }
      if (newsText !== null) database.run(SAVE_NEWS, [run.runId, newsText]);
      addAlerts(database, alerts);
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

  async findTold(runId: string): Promise<ToldRun | null> {
    const [row, told] = await this.#database.read(() => [
      this.#database.all(FIND, [runId])[0],
      this.#database.all(FIND_NEWS, [runId])[0],
    ]);
    if (row === undefined) return null;
    const news = told === undefined ? [] : JSON.parse(String(told["news"]));
    return { run: readRun(row), news };
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
