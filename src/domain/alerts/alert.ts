// Alerts by webhook: their kinds, the body that is sent, and the times of further tries. D-10.12.
import { toWire } from "../shared/wire-names.ts";

/** A run or comparison that did not end well. */
interface RunAlert {
  readonly type: "run.failed" | "run.partial";
  /** The run as lists show it; its fields stand in the alert itself. */
  readonly run: object;
}

interface RejectedAlert {
  readonly type: "records.rejected";
  readonly runId: string;
  /** Records that either end rejected, by table; only tables with any. */
  readonly tables: Readonly<Record<string, number>>;
}

interface DriftAlert {
  readonly type: "drift.found";
  readonly table: string;
  /** Rows at each end. */
  readonly countHere: number;
  readonly countThere: number;
}

/** An account has used so much of its calls of the month. */
interface QuotaAlert {
  readonly type: "quota.80" | "quota.100";
  /** Its username. */
  readonly account: string;
  readonly limit: number;
  readonly used: number;
  /** `YYYY-MM`. */
  readonly month: string;
}

interface KeyAlert {
  readonly type: "key.revoked" | "key.rotated";
  /** The username of the account whose key it is. */
  readonly account: string;
  /** The key that was revoked, or that another one takes the place of. */
  readonly keyId: string;
  readonly name: string;
}

interface FileAlert {
  readonly type: "backup.failed" | "store.damaged";
  /** Why, in one line without paths and secrets. */
  readonly error: string;
}

/** Something that happened and that operators should know. */
export type Alert = RunAlert | RejectedAlert | DriftAlert | QuotaAlert | KeyAlert | FileAlert;

export type AlertType = Alert["type"];

/** An alert as it is kept until it is delivered. */
export interface QueuedAlert {
  readonly id: string;
  readonly type: AlertType;
  /** The time of the event, in milliseconds since 1970. */
  readonly atMs: number;
  /** The account whose erasure drops it; null when it is about no person. */
  readonly account: string | null;
  /** The JSON text that is sent, the same at every attempt. */
  readonly body: string;
}

/** Makes an alert of something that happens now, to be kept in the commit of what happened. */
export type MakeAlert = (alert: Alert) => QueuedAlert;

/** Time between two messages about one account and of one type; what happens in it is told together at its end. D-11.7. */
export const ALERT_WINDOW_MS = 60_000;
/** Time for which the delivery of an alert is tried again. */
export const ALERT_LIFE_MS = 86_400_000;
/** Wait after the first attempt that failed; it doubles with each one up to the greatest. */
const FIRST_WAIT_MS = 1_000;
export const MAX_ALERT_WAIT_MS = 15 * 60_000;

/** Makes an alert to be kept; `at` is its time as replies show times. */
export function queuedAlert(
  alert: Alert,
  { id, atMs, at }: { readonly id: string; readonly atMs: number; readonly at: string },
): QueuedAlert {
  const { type, ...fields } = alert;
  const shown = "run" in fields ? fields.run : fields;
  return {
    id,
    type,
    atMs,
    account: "account" in alert ? alert.account : null,
    body: JSON.stringify({ id, type, at, ...(toWire(shown) as object) }),
  };
}

/**
 * The body of one alert in place of several about one account and of one type, the last one's with their number. `bodies`
 * has the oldest first and may hold such bodies. D-11.7.
 */
export function gatheredBody(bodies: readonly string[]): string {
  const told = bodies.map((body) => JSON.parse(body) as { readonly count?: number });
  const count = told.reduce((sum, { count = 1 }) => sum + count, 0);
  return JSON.stringify({ ...told.at(-1), count });
}

/** Milliseconds to wait after `attempts` failed ones, 1 or more; `chance` is from 0 to below 1. */
export function alertWaitMs(attempts: number, chance: number): number {
  const fullMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_ALERT_WAIT_MS);
  return Math.round(fullMs * (0.5 + chance / 2));
}
