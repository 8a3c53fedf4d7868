import {
  type AlertType,
  gatheredBody,
  MAX_ALERT_WAIT_MS,
  type QueuedAlert,
} from "../../../domain/alerts/alert.ts";
import type {
  AlertOutbox,
  AlertRetry,
  AlertSubject,
  WaitingAlert,
} from "../../../ports/alerts/alert-outbox.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";

/** Alerts that wait, `number` in the order in which they were added. */
export const ALERT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_alerts (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, type TEXT NOT NULL, account TEXT,
    at_ms INTEGER NOT NULL, body TEXT NOT NULL, attempts INTEGER NOT NULL, due_at_ms INTEGER NOT NULL
  )`,
  // Named, as SQLite's own name for it would not begin with repsync_.
  "CREATE UNIQUE INDEX IF NOT EXISTS repsync_alerts_id ON repsync_alerts (id)",
  "CREATE INDEX IF NOT EXISTS repsync_alerts_due ON repsync_alerts (due_at_ms)",
];

const ADD =
  "INSERT INTO repsync_alerts (id, type, account, at_ms, body, attempts, due_at_ms)" +
  " VALUES (?1, ?2, ?3, ?4, ?5, 0, ?4) ON CONFLICT DO NOTHING";
const DUE =
  "SELECT id, type, account, at_ms, body, attempts FROM repsync_alerts" +
  " WHERE due_at_ms <= ? OR due_at_ms > ? ORDER BY account IS NOT NULL, due_at_ms, number LIMIT ?";
const UNTRIED =
  "SELECT id, body FROM repsync_alerts WHERE account = ? AND type = ? AND attempts = 0 ORDER BY number";
const GATHER = "UPDATE repsync_alerts SET body = ?, due_at_ms = ? WHERE id = ?";
const POSTPONE = "UPDATE repsync_alerts SET attempts = ?, due_at_ms = ? WHERE id = ?";
const REMOVE = "DELETE FROM repsync_alerts WHERE id = ?";
const DROP = "DELETE FROM repsync_alerts WHERE account = ?";
const COUNT = "SELECT count(*) AS n FROM repsync_alerts";

export class SqliteAlertOutbox implements AlertOutbox {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async add(alerts: readonly QueuedAlert[]): Promise<void> {
    await this.#database.keep(() => addAlerts(this.#database, alerts));
  }

  async due(nowMs: number, limit: number): Promise<readonly WaitingAlert[]> {
    const values = [nowMs, nowMs + MAX_ALERT_WAIT_MS, limit];
    const rows = await this.#database.read(() => this.#database.all(DUE, values));
    return rows.map(waitingAlertOf);
  }

  async gather({ account, type }: AlertSubject, dueAtMs: number): Promise<string | null> {
    return await this.#database.keep(() => {
      const untried = this.#database.all(UNTRIED, [account, type]);
      const last = untried.pop();
      if (last === undefined) return null;
      for (const { id } of untried) this.#database.run(REMOVE, [String(id)]);
      const body = gatheredBody([...untried, last].map(({ body }) => String(body)));
      this.#database.run(GATHER, [body, dueAtMs, String(last["id"])]);
      return String(last["id"]);
    });
  }

  async postpone(id: string, { attempts, atMs }: AlertRetry): Promise<void> {
    await this.#database.keep(() => this.#database.run(POSTPONE, [attempts, atMs, id]));
  }

  async remove(id: string): Promise<void> {
    await this.#database.keep(() => this.#database.run(REMOVE, [id]));
  }

  async count(): Promise<number> {
    const [row] = await this.#database.read(() => this.#database.all(COUNT));
    return Number(row?.["n"]);
  }
}

/** Keeps alerts, within a write. */
export function addAlerts(
  database: Pick<SqliteDatabase, "run">,
  alerts: readonly QueuedAlert[],
): void {
  for (const { id, type, account, atMs, body } of alerts) {
    database.run(ADD, [id, type, account, atMs, body]);
  }
}

/** Removes the alerts about a person, within a write. */
export function dropAlertsOf(database: SqliteDatabase, username: string): void {
  database.run(DROP, [username]);
}

function waitingAlertOf(row: SqliteRow): WaitingAlert {
  return {
    id: String(row["id"]),
    type: row["type"] as AlertType,
    account: row["account"] as string | null,
    atMs: Number(row["at_ms"]),
    body: String(row["body"]),
    attempts: Number(row["attempts"]),
  };
}
