import type { Alert, AlertType, QueuedAlert } from "../../domain/alerts/alert.ts";

/** An alert that was not delivered yet. */
export interface WaitingAlert extends QueuedAlert {
  /** Attempts that failed, 0 or more. */
  readonly attempts: number;
}

/** What alerts that are told together have in common. */
export interface AlertSubject {
  readonly account: string;
  readonly type: AlertType;
}

/** When to try an alert again. */
export interface AlertRetry {
  /** Attempts that have failed. */
  readonly attempts: number;
  /** In milliseconds since 1970. */
  readonly atMs: number;
}

/** Makes an alert of something that happens now. For stores, which keep it in the commit of what happened. */
export type MakeAlert = (alert: Alert) => QueuedAlert;

/**
 * Alerts that wait for their delivery, alike for all instances; other stores add theirs in their own commits, and the
 * erasure of a person removes those about them. Every method throws `store_unavailable`. D-10.12.
 */
export interface AlertOutbox {
  /** Keeps alerts, all in one commit, durably. They are due at once. Those whose id is kept already stay as they are. */
  add(alerts: readonly QueuedAlert[]): Promise<void>;

  /**
   * Up to `limit` alerts whose time has come: those about no account first, and of each kind those that have waited longest.
   * A time that is later than
   * `MAX_ALERT_WAIT_MS` from now has come too: the clock was set back since.
   */
  due(nowMs: number, limit: number): Promise<readonly WaitingAlert[]>;

  /**
   * Makes one of all alerts about an account and of a type that were not tried yet (`gatheredBody`): the last one, to be due
   * at a time in milliseconds since 1970. One commit. Resolves to its id, null when there is none.
   */
  gather(about: AlertSubject, dueAtMs: number): Promise<string | null>;

  /** Keeps an alert for a later attempt; nothing happens when it is gone. */
  postpone(id: string, retry: AlertRetry): Promise<void>;

  /** Forgets an alert. Idempotent. */
  remove(id: string): Promise<void>;

  /** How many wait. */
  count(): Promise<number>;
}
