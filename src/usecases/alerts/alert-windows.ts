import { ALERT_WINDOW_MS } from "../../domain/alerts/alert.ts";
import type { WaitingAlert } from "../../repositories/run-collections.ts";

interface AlertWindow {
  /** Of the alert that is sent at its beginning. */
  readonly firstId: string;
  /** In monotonic milliseconds. */
  readonly endMs: number;
}

/** What one instance has told of accounts within the last minute. D-11.7. */
export class AlertWindows {
  readonly #windows = new Map<string, AlertWindow>();

  /** Milliseconds for which an alert is to wait, 0 when there is no window or it is its first. `nowMs` is monotonic. */
  leftMs(alert: WaitingAlert, nowMs: number): number {
    const { firstId = alert.id, endMs = 0 } = this.#windows.get(keyOf(alert)) ?? {};
    return firstId === alert.id ? 0 : Math.max(0, endMs - nowMs);
  }

  /** Begins the window of an alert that is sent, and forgets those that are over. */
  begin(alert: WaitingAlert, nowMs: number): void {
    for (const [key, { endMs }] of this.#windows) if (endMs <= nowMs) this.#windows.delete(key);
    this.#windows.set(keyOf(alert), { firstId: alert.id, endMs: nowMs + ALERT_WINDOW_MS });
  }
}

function keyOf({ account, type }: WaitingAlert): string {
  return `${type} ${account}`;
}
