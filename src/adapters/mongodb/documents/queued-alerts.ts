// Alerts in the commits of accounts and lookups, as the collection of documents has them.
import type { ClientSession, Db, Document } from "mongodb";
import type { QueuedAlert } from "../../../domain/alerts/alert.ts";
import { conditionOf, keyDocument } from "./key-document.ts";

/** Keeps new alerts about accounts, within a transaction. */
export async function addAlerts(
  db: Db,
  alerts: readonly QueuedAlert[],
  session: ClientSession,
): Promise<void> {
  const added = alerts.map((alert) => {
    const { id, account, atMs } = alert;
    const due = keyDocument([1, atMs, atMs, id]);
    const places = { due, account: keyDocument([account ?? "", atMs, id]) };
    return { _id: keyDocument([id]), ...alert, attempts: 0, dueAtMs: atMs, _at: places };
  });
  await alertsOf(db).insertMany(added, { session });
}

/** Removes the alerts about a person, within a transaction. */
export async function dropAlertsOf(
  db: Db,
  username: string,
  session: ClientSession,
): Promise<void> {
  const about = conditionOf("_at.account", { within: [[username]] }) ?? {};
  await alertsOf(db).deleteMany(about, { session });
}

function alertsOf(db: Db) {
  return db.collection<{ readonly _id: Document }>("repsync_alerts");
}
