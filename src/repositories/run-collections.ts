// The data model of what runs keep, and of what waits to be told.
import type { QueuedAlert } from "../domain/alerts/alert.ts";
import type { AnyCollection, Collection } from "../ports/documents.ts";

/** An alert that was not delivered yet. */
export interface WaitingAlert extends QueuedAlert {
  /** Attempts that failed, 0 or more. */
  readonly attempts: number;
}

export interface AlertDocument extends WaitingAlert {
  readonly dueAtMs: number;
}

export const ALERTS: Collection<AlertDocument> = {
  name: "alerts",
  keyOf: ({ id }) => [id],
  indexes: {
    /** Those about no account first. */
    due: ({ account, dueAtMs, atMs }) => [account === null ? 0 : 1, dueAtMs, atMs],
    account: ({ account, atMs }) => (account === null ? null : [account, atMs]),
  },
};

export const RUN_COLLECTIONS: readonly AnyCollection[] = [ALERTS];
