import type { ClientSession, Collection, Db } from "mongodb";
import { gatheredBody, MAX_ALERT_WAIT_MS, type QueuedAlert } from "../../../domain/alerts/alert.ts";
import type {
  AlertOutbox,
  AlertRetry,
  AlertSubject,
  WaitingAlert,
} from "../../../ports/alerts/alert-outbox.ts";
import type { InternalCollection } from "../driver/collections.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreDeps,
  writeOne,
  writeTogether,
} from "../driver/operations.ts";

/** Alerts that wait, by id. */
export const ALERTS: InternalCollection = {
  name: "repsync_alerts",
  indexes: [
    { name: "repsync_due", key: { dueAtMs: 1, atMs: 1 } },
    { name: "repsync_account", key: { account: 1 } },
  ],
};

interface AlertDocument extends Omit<WaitingAlert, "id"> {
  readonly _id: string;
  readonly dueAtMs: number;
}

export class MongoAlertOutbox implements AlertOutbox {
  readonly #deps: StoreDeps;
  readonly #alerts: Collection<AlertDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#alerts = alertsOf(deps.db);
  }

  async add(alerts: readonly QueuedAlert[]): Promise<void> {
    await writeTogether(this.#deps, (tx) => addAlerts(this.#deps.db, alerts, tx));
  }

  async due(nowMs: number, limit: number): Promise<readonly WaitingAlert[]> {
    const isDue = {
      $or: [{ dueAtMs: { $lte: nowMs } }, { dueAtMs: { $gt: nowMs + MAX_ALERT_WAIT_MS } }],
    };
    return await readCommitted(this.#deps, async () => {
      const find = async (account: null | { $ne: null }, limit: number) =>
        await this.#alerts
          .find({ ...isDue, account }, { ...COMMITTED, sort: { dueAtMs: 1, atMs: 1 }, limit })
          .toArray();
      const found = await find(null, limit);
      const left = limit - found.length;
      // 0 would be no limit.
      if (left > 0) found.push(...(await find({ $ne: null }, left)));
      return found.map(({ _id: id, dueAtMs: _, ...alert }) => ({ id, ...alert }));
    });
  }

  async gather(about: AlertSubject, dueAtMs: number): Promise<string | null> {
    return await writeTogether(this.#deps, async (session) => {
      const isUntried = { ...about, attempts: 0 };
      const options = { session, sort: { atMs: 1 } } as const;
      const untried = await this.#alerts.find(isUntried, options).toArray();
      const last = untried.pop();
      if (last === undefined) return null;
      const gone = untried.map(({ _id }) => _id);
      await this.#alerts.deleteMany({ _id: { $in: gone } }, { session });
      const body = gatheredBody([...untried, last].map(({ body }) => body));
      await this.#alerts.updateOne({ _id: last._id }, { $set: { body, dueAtMs } }, { session });
      return last._id;
    });
  }

  async postpone(id: string, { attempts, atMs }: AlertRetry): Promise<void> {
    const retry = { $set: { attempts, dueAtMs: atMs } };
    await writeOne(this.#deps, (options) => this.#alerts.updateOne({ _id: id }, retry, options));
  }

  async remove(id: string): Promise<void> {
    await writeOne(this.#deps, (options) => this.#alerts.deleteOne({ _id: id }, options));
  }

  async count(): Promise<number> {
    return await readCommitted(this.#deps, () => this.#alerts.countDocuments({}, COMMITTED));
  }
}

/** Keeps alerts, within a transaction. */
export async function addAlerts(
  db: Db,
  alerts: readonly QueuedAlert[],
  tx: ClientSession,
): Promise<void> {
  for (const { id, ...alert } of alerts) {
    const added = { $setOnInsert: { ...alert, attempts: 0, dueAtMs: alert.atMs } };
    await alertsOf(db).updateOne({ _id: id }, added, { upsert: true, session: tx });
  }
}

/** Removes the alerts about a person, within a transaction. */
export async function dropAlertsOf(db: Db, username: string, tx: ClientSession): Promise<void> {
  await alertsOf(db).deleteMany({ account: username }, { session: tx });
}

function alertsOf(db: Db): Collection<AlertDocument> {
  return db.collection(ALERTS.name);
}
