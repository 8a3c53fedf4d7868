import {
  type Alert,
  gatheredBody,
  MAX_ALERT_WAIT_MS,
  type QueuedAlert,
} from "../../../src/domain/alerts/alert.ts";
import type {
  AlertOutbox,
  AlertRetry,
  AlertSubject,
  MakeAlert,
  WaitingAlert,
} from "../../../src/ports/alerts/alert-outbox.ts";

interface Entry {
  readonly alert: WaitingAlert;
  readonly dueAtMs: number;
}

/** Those about no account come first. */
function rank({ alert }: Entry): number {
  return alert.account === null ? 0 : 1;
}

/** Alerts in memory. */
export class MemoryAlertOutbox implements AlertOutbox {
  /** Set by who opens the reputation half. */
  makeAlert: MakeAlert | null = null;
  readonly #entries = new Map<string, Entry>();

  async add(alerts: readonly QueuedAlert[]): Promise<void> {
    for (const alert of alerts) {
      if (this.#entries.has(alert.id)) continue;
      this.#entries.set(alert.id, { alert: { ...alert, attempts: 0 }, dueAtMs: alert.atMs });
    }
  }

  async due(nowMs: number, limit: number): Promise<readonly WaitingAlert[]> {
    return [...this.#entries.values()]
      .filter(({ dueAtMs }) => dueAtMs <= nowMs || dueAtMs > nowMs + MAX_ALERT_WAIT_MS)
      .sort((a, b) => rank(a) - rank(b) || a.dueAtMs - b.dueAtMs)
      .slice(0, limit)
      .map(({ alert }) => alert);
  }

  async gather({ account, type }: AlertSubject, dueAtMs: number): Promise<string | null> {
    const untried = [...this.#entries.values()]
      .map(({ alert }) => alert)
      .filter((alert) => alert.account === account && alert.type === type && alert.attempts === 0);
    const last = untried.at(-1);
    if (last === undefined) return null;
    for (const { id } of untried) this.#entries.delete(id);
    const body = gatheredBody(untried.map(({ body }) => body));
    this.#entries.set(last.id, { alert: { ...last, body }, dueAtMs });
    return last.id;
  }

  async postpone(id: string, { attempts, atMs }: AlertRetry): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.set(id, { alert: { ...entry.alert, attempts }, dueAtMs: atMs });
  }

  async remove(id: string): Promise<void> {
    this.#entries.delete(id);
  }

  async count(): Promise<number> {
    return this.#entries.size;
  }

  /** Keeps what other stores tell, in the caller's commit; nothing without `makeAlert`. */
  tell(alert: Alert | null): void {
    if (alert !== null && this.makeAlert !== null) void this.add([this.makeAlert(alert)]);
  }

  dropOf(username: string): void {
    for (const [id, { alert }] of this.#entries) {
      if (alert.account === username) this.#entries.delete(id);
    }
  }
}
