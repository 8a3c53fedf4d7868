// Alerts in the commits of accounts and lookups, as the collection of documents has them.
import type { QueuedAlert } from "../../../domain/alerts/alert.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { keyBytes } from "./key-bytes.ts";

const ADD = "INSERT INTO repsync_alerts (key, doc, at_due, at_account) VALUES (?, ?, ?, ?)";
const DROP = "DELETE FROM repsync_alerts WHERE json_extract(doc, '$.account') = ?";

/** Keeps new alerts about accounts, within a write. */
export function addAlerts(database: SqliteDatabase, alerts: readonly QueuedAlert[]): void {
  for (const alert of alerts) {
    const { id, account, atMs } = alert;
    const doc = JSON.stringify({ ...alert, attempts: 0, dueAtMs: atMs });
    const places = [keyBytes([1, atMs, atMs, id]), keyBytes([account ?? "", atMs, id])];
    database.run(ADD, [keyBytes([id]), doc, ...places]);
  }
}

/** Removes the alerts about a person, within a write. */
export function dropAlertsOf(database: SqliteDatabase, username: string): void {
  database.run(DROP, [username]);
}
