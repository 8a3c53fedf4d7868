import type { Alert, MakeAlert } from "../../../src/domain/alerts/alert.ts";
import { queueAlerts } from "../../../src/repositories/alert-outbox.ts";
import { ALERTS } from "../../../src/repositories/run-collections.ts";
import type { MemoryDocuments } from "./documents.ts";

/** Alerts of the stores in memory, in their commits. */
export class MemoryAlerts {
  /** Set by who opens the reputation half. */
  makeAlert: MakeAlert | null = null;
  readonly #documents: MemoryDocuments;

  constructor(documents: MemoryDocuments) {
    this.#documents = documents;
  }

  /** Nothing without `makeAlert`. */
  tell(alert: Alert | null): void {
    const { makeAlert } = this;
    if (alert === null || makeAlert === null) return;
    this.#documents.writeNow((tx) => queueAlerts(tx, [makeAlert(alert)]));
  }

  dropOf(username: string): void {
    const all = this.#documents.readNow(ALERTS);
    const dropped = all.filter(({ account }) => account === username);
    this.#documents.writeNow((tx) => {
      for (const { id } of dropped) tx.remove(ALERTS, [id]);
    });
  }
}
