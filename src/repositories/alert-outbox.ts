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
import { ALERTS, type AlertDocument, type WaitingAlert } from "./run-collections.ts";

interface AlertSubject {
  readonly account: string;
  readonly type: AlertType;
}

/** Alerts that wait for delivery. Repositories queue theirs in their own commits; erasures remove those about a person. D-10.12. */
export class AlertOutbox extends Repository {
  /** Keeps alerts, due at once, in one durable commit. Those whose id is kept already stay as they are. */
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
   * Reads up to `limit` alerts, 1 or more, whose time has come: those about no account first, and of each kind the longest waiting
   * first. A time later than `MAX_ALERT_WAIT_MS` from now has come, too: the clock was set back since.
   */
  async due(nowMs: number, limit: number): Promise<readonly WaitingAlert[]> {
    // The kinds of the index: about no account, and about one.
    const due = [0, 1].flatMap((kind) => {
      const ofKind = { index: "due", within: [[kind]], limit };
      const passed = { ...ofKind, upTo: [kind, nowMs + 1] };
      return [passed, { ...ofKind, after: [kind, nowMs + MAX_ALERT_WAIT_MS + 1] }];
    });
    const queries = due.map((stretch) => ({ from: ALERTS, stretch }));
    const read = await this.ask("alerts.due", ...queries);
    return read
      .flat()
      .slice(0, limit)
      .map(({ dueAtMs: _, ...alert }) => alert);
  }

  /** Makes one of all untried alerts about an account and of a type (`gatheredBody`): the last, due at `dueAtMs`. One commit. */
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
  async postpone(
    id: string,
    { attempts, dueAtMs }: Pick<AlertDocument, "attempts" | "dueAtMs">,
  ): Promise<void> {
    await this.writing("alerts.postpone", async (tx) => {
      const [[alert]] = await tx.read({ from: ALERTS, keys: [[id]] });
      if (alert !== undefined) tx.put(ALERTS, { ...alert, attempts, dueAtMs });
    });
  }

  /** Forgets an alert. Idempotent. */
  async remove(id: string): Promise<void> {
    await this.writing("alerts.remove", async (tx) => {
      tx.remove(ALERTS, [id]);
    });
  }

  async count(): Promise<number> {
    const [count] = await this.ask("alerts.count", { from: ALERTS, count: {} });
    return count;
  }
}

/** Adds new alerts to those that wait, in the commit of what they tell. */
export function queueAlerts(tx: Transaction, alerts: readonly QueuedAlert[]): void {
  for (const alert of alerts) tx.put(ALERTS, { ...alert, attempts: 0, dueAtMs: alert.atMs });
}

/** The alerts about an account, the oldest first. */
export function alertsAbout(account: string): Stretch {
  return { index: "account", within: [[account]] };
}

interface AlertsDeps {
  readonly outbox: AlertOutbox;
  readonly clock: Pick<Clock, "nowMs">;
  readonly ids: Ids;
}

/** Raises alerts. Made only where `WEBHOOK_URL` is set, as else nobody reads them. */
export class Alerts {
  readonly #deps: AlertsDeps;

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
  }

  /** As `MakeAlert`. */
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
