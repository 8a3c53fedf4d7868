// Raises alerts: makes them and keeps them for delivery. D-10.12.
import { type Alert, type QueuedAlert, queuedAlert } from "../../domain/alerts/alert.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Clock, Ids } from "../../ports/runtime/runtime.ts";
import type { AlertOutbox } from "../../repositories/alert-outbox.ts";

interface AlertsDeps {
  readonly outbox: AlertOutbox;
  readonly clock: Pick<Clock, "nowMs">;
  readonly ids: Ids;
}

/** There is one only where `WEBHOOK_URL` is set: nothing is kept for nobody. */
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
