// Documents of repositories that accounts and lookups change in their own commits.
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

/** Removes what waits of rows of a person, and what was dropped, within a transaction. D-8.2. */
export async function forgetRejected(
  db: Db,
  tables: readonly string[],
  username: string,
  session: ClientSession,
): Promise<void> {
  const within = tables.map((table) => [username, table]);
  const naming = conditionOf("_at.person", { within }) ?? {};
  const rejected = await db.collection("repsync_rejected").find(naming, { session }).toArray();
  const numbers = rejected.map(({ number }) => [Number(number)]);
  const texts = conditionOf("_id", { within: numbers });
  if (texts !== null) await db.collection("repsync_rejected_texts").deleteMany(texts, { session });
  await db.collection("repsync_rejected").deleteMany(naming, { session });
  await db.collection("repsync_dropped").deleteMany(naming, { session });
}

function alertsOf(db: Db) {
  return db.collection<{ readonly _id: Document }>("repsync_alerts");
}
