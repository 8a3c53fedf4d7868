// Alerts by webhook: their kinds, the body that is sent, and the times of further tries. D-10.12.
import { toWire } from "../shared/wire-names.ts";

interface RunAlert {
  readonly type: "run.failed" | "run.partial";
  /** The run as lists show it. The body that is sent has its fields in place of `run`. */
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
  readonly countHere: number;
  readonly countThere: number;
}

export interface QuotaAlert {
  readonly type: "quota.80" | "quota.100";
  /** Its username. */
  readonly account: string;
  readonly limit: number;
  /** Calls when the percentage was reached, or now, where the limit was lowered since. */
  readonly used: number;
  /** `YYYY-MM`. */
  readonly month: string;
}

interface KeyAlert {
  readonly type: "key.revoked" | "key.rotated";
  readonly account: string;
  readonly keyId: string;
  readonly name: string;
}

interface FileAlert {
  readonly type: "backup.failed" | "store.damaged";
  /** Why, in one line without paths and secrets. */
  readonly error: string;
}

export type Alert = RunAlert | RejectedAlert | DriftAlert | QuotaAlert | KeyAlert | FileAlert;

export type AlertType = Alert["type"];

export interface QueuedAlert {
  readonly id: string;
  readonly type: AlertType;
  /** The time of the event, in milliseconds since 1970. */
  readonly atMs: number;
  /** The account whose erasure drops the alert; null for an alert about no person. */
  readonly account: string | null;
  /** The JSON text that is sent, the same at every attempt. */
  readonly body: string;
}

/** Makes an alert with the present time. The caller stores it in the commit of the event. */
export type MakeAlert = (alert: Alert) => QueuedAlert;

/** Least time between two messages of one account and type; alerts within it are sent as one at its end. D-11.7. */
export const ALERT_WINDOW_MS = 60_000;
/** Time over which the delivery of an alert is tried. */
export const ALERT_LIFE_MS = 86_400_000;
/** Wait after the first failed attempt. Each further one doubles it, up to `MAX_ALERT_WAIT_MS`. */
const FIRST_WAIT_MS = 1_000;
export const MAX_ALERT_WAIT_MS = 15 * 60_000;

/** `at` is `atMs` as replies show times. */
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

/** One body for several alerts of one account and type, the oldest first: the last one, with their `count`. D-11.7. */
export function gatheredBody(bodies: readonly string[]): string {
  const told = bodies.map((body) => JSON.parse(body) as { readonly count?: number });
  const count = told.reduce((sum, { count = 1 }) => sum + count, 0);
  return JSON.stringify({ ...told.at(-1), count });
}

/** Milliseconds to wait after so many failed attempts, 1 or more; `chance` is from 0 to below 1. */
export function alertWaitMs(attempts: number, chance: number): number {
  const fullMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_ALERT_WAIT_MS);
  return Math.round(fullMs * (0.5 + chance / 2));
}
