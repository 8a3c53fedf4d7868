// What the first process and its workers say to each other. D-10.11.
import type { MetricsSnapshot } from "../ports/runtime/metrics.ts";

/** What a worker starts with. */
export interface WorkerStart {
  readonly type: "start";
  /** From 1 on. */
  readonly number: number;
  /** Settings that the first process read from a file. */
  readonly settings: Readonly<Record<string, string>>;
  /** All listen on the same one. */
  readonly port: number;
}

export type MessageToWorker =
  | WorkerStart
  /** Another worker listens in its place: it finishes what it has, and ends. */
  | { readonly type: "replace" }
  /** The service stops. */
  | { readonly type: "stop" }
  | { readonly type: "count"; readonly id: number }
  /** The reply to `others`. */
  | {
      readonly type: "others";
      readonly id: number;
      readonly snapshots: readonly MetricsSnapshot[];
    };

export type MessageFromWorker =
  /** It listens. */
  | { readonly type: "ready"; readonly url: string; readonly hasAdministrator: boolean }
  /** Replaced, it takes no connection any more. */
  | { readonly type: "closed" }
  | ({ readonly type: "failed" } & StartFailure)
  /** What it has counted; `id` is that of the question, null without one. */
  | { readonly type: "counted"; readonly id: number | null; readonly snapshot: MetricsSnapshot }
  /** Asks what the other workers have counted, and tells its own: what was shown once must not get less. */
  | { readonly type: "others"; readonly id: number; readonly snapshot: MetricsSnapshot };

/** Why a worker did not start. */
export interface StartFailure {
  readonly problem: string;
  readonly exitCode: number;
}
