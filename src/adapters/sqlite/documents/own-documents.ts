// Documents of repositories that accounts and lookups change in their own commits.
import type { QueuedAlert } from "../../../domain/alerts/alert.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { keyBytes } from "../driver/key-bytes.ts";

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

const NAMING = (collection: string) =>
  `DELETE FROM repsync_${collection} WHERE json_extract(doc, '$.table') = ?1 AND json_extract(doc, '$.person') = ?2`;
const TEXTS_NAMING = `DELETE FROM repsync_rejected_texts WHERE json_extract(doc, '$.number') IN
  (SELECT json_extract(doc, '$.number') FROM repsync_rejected
   WHERE json_extract(doc, '$.table') = ?1 AND json_extract(doc, '$.person') = ?2)`;

/** Removes what waits of rows of a person, and what was dropped, within a write. D-8.2. */
export function forgetRejected(
  database: SqliteDatabase,
  tables: readonly string[],
  username: string,
): void {
  for (const table of tables) {
    for (const sql of [TEXTS_NAMING, NAMING("rejected"), NAMING("dropped")]) {
      database.run(sql, [table, username]);
    }
  }
}
