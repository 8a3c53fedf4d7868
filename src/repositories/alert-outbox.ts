import {
  type Alert,
  type AlertType,
  gatheredBody,
  MAX_ALERT_WAIT_MS,
  type QueuedAlert,
  queuedAlert,
} from "../domain/alerts/alert.ts";
import { formatMs } from "../domain/shared/time.ts";
import type { Stretch, Transaction } from "../ports/documents.ts";
import type { Clock, Ids } from "../ports/runtime/runtime.ts";
import { Repository } from "./repository.ts";
import { ALERTS, type WaitingAlert } from "./run-collections.ts";

/** The common fields of alerts that are told together. */
interface AlertSubject {
  readonly account: string;
  readonly type: AlertType;
}

/** The time to try an alert again. */
interface AlertRetry {
  /** Attempts that have failed. */
  readonly attempts: number;
  /** The time of the alert, in milliseconds since 1970. */
  readonly atMs: number;
}

/**
 * Alerts that wait for their delivery, alike for all instances; other repositories queue theirs in their own commits, and the
 * erasure of a person removes those about them. Every method throws `store_unavailable`. D-10.12.
 */
export class AlertOutbox extends Repository {
  /** Keeps alerts, all in one commit, durably. They are due at once. Those whose id is kept already stay as they are. */
  async add(alerts: readonly QueuedAlert[]): Promise<void> {
    await this.writing("alerts.add", async (tx) => {
      const [known] = await tx.read({ from: ALERTS, keys: alerts.map(({ id }) => [id]) });
      const ids = new Set(known.map(({ id }) => id));
      queueAlerts(
        tx,
        alerts.filter(({ id }) => !ids.has(id)),
      );
    });
  }

  /**
   * Reads up to `limit` alerts, 1 or more, whose time has come: those about no account first, and of each kind those that have waited longest.
   * A time that is later than `MAX_ALERT_WAIT_MS` from now has come too: the clock was set back since.
   */
  async due(nowMs: number, limit: number): Promise<readonly WaitingAlert[]> {
    const read = await this.ask(
      "alerts.due",
      { from: ALERTS, stretch: dueBy(0, nowMs, limit) },
      { from: ALERTS, stretch: dueAfter(0, nowMs + MAX_ALERT_WAIT_MS, limit) },
      { from: ALERTS, stretch: dueBy(1, nowMs, limit) },
      { from: ALERTS, stretch: dueAfter(1, nowMs + MAX_ALERT_WAIT_MS, limit) },
    );
    return read
      .flat()
      .slice(0, limit)
      .map(({ dueAtMs: _, ...alert }) => alert);
  }

  /**
   * Makes one of all alerts about an account and of a type that were not tried yet (`gatheredBody`): the last one, to be due
   * at a time in milliseconds since 1970. One commit.
   */
  async gather({ account, type }: AlertSubject, dueAtMs: number): Promise<void> {
    await this.writing("alerts.gather", async (tx) => {
      const [all] = await tx.read({ from: ALERTS, stretch: alertsAbout(account) });
      const untried = all.filter((alert) => alert.type === type && alert.attempts === 0);
      const last = untried.at(-1);
      if (last === undefined) return;
      for (const { id } of untried.slice(0, -1)) tx.remove(ALERTS, [id]);
      tx.put(ALERTS, { ...last, body: gatheredBody(untried.map(({ body }) => body)), dueAtMs });
    });
  }

  /** Keeps an alert for a later attempt; nothing happens when it is gone. */
  async postpone(id: string, { attempts, atMs }: AlertRetry): Promise<void> {
    await this.writing("alerts.postpone", async (tx) => {
      const [[alert]] = await tx.read({ from: ALERTS, keys: [[id]] });
      if (alert !== undefined) tx.put(ALERTS, { ...alert, attempts, dueAtMs: atMs });
    });
  }

  /** Forgets an alert. Idempotent. */
  async remove(id: string): Promise<void> {
    await this.writing("alerts.remove", async (tx) => {
      tx.remove(ALERTS, [id]);
    });
  }

  /** The number of those that wait. */
  async count(): Promise<number> {
    const [count] = await this.ask("alerts.count", { from: ALERTS, count: {} });
    return count;
  }
}

/** Adds new alerts to those that wait, in the commit of what they tell. */
export function queueAlerts(tx: Transaction, alerts: readonly QueuedAlert[]): void {
  for (const alert of alerts) tx.put(ALERTS, { ...alert, attempts: 0, dueAtMs: alert.atMs });
}

/** The stretch of alerts about an account, the oldest first: its erasure removes them. */
export function alertsAbout(account: string): Stretch {
  return { index: "account", within: [[account]] };
}

/** `kind` as in the index. */
function dueBy(kind: number, nowMs: number, limit: number): Stretch {
  return { index: "due", within: [[kind]], upTo: [kind, nowMs + 1], limit };
}

function dueAfter(kind: number, atMs: number, limit: number): Stretch {
  return { index: "due", within: [[kind]], after: [kind, atMs + 1], limit };
}

interface AlertsDeps {
  readonly outbox: AlertOutbox;
  readonly clock: Pick<Clock, "nowMs">;
  readonly ids: Ids;
}

/** Raises alerts. There is one only where `WEBHOOK_URL` is set: nothing is kept for nobody. */
export class Alerts {
  readonly #deps: AlertsDeps;

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
  }

  /** An alert of something that happens now, for the commit of what happens. */
  make(alert: Alert): QueuedAlert {
    const { clock, ids } = this.#deps;
    const atMs = clock.nowMs();
    return queuedAlert(alert, { id: ids.next(), atMs, at: formatMs(atMs) });
  }

  /** Keeps an alert in a commit of its own. Throws `store_unavailable`. */
  async raise(alert: Alert): Promise<void> {
    await this.#deps.outbox.add([this.make(alert)]);
  }
}
