import type { AlertType } from "../../domain/alerts/alert.ts";
import type { SyncDirection, SyncRun } from "../../domain/sync/run/run.ts";
import type { CacheCounts } from "./runtime.ts";

/** Methods that metrics and traces name: those that callers invent must not become labels. */
export const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export interface AnsweredRequest {
  /** The pattern of its path; null where nothing is served. */
  readonly route: string | null;
  readonly method: string;
  readonly status: number;
}

/** Rows and bytes of one table that a run has moved. */
export interface TransferCounts {
  readonly table: string;
  readonly direction: SyncDirection;
  /** Written there, or arrived here. */
  readonly rows: number;
  /** Rejected there or here. */
  readonly rejected: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

export interface TableGauge {
  readonly table: string;
  readonly direction: SyncDirection;
  readonly value: number;
}

/** State that is read when the metrics are asked for. */
export interface ServiceState {
  readonly activeRuns: number;
  /** Null when the store does not answer. */
  readonly store: {
    /** Seconds from each marker to now. */
    readonly markerLags: readonly TableGauge[];
    readonly rejectedRecords: readonly TableGauge[];
    /** Rows by which both ends differed when the last run ended, by table; without tables that no run has counted. */
    readonly driftRows: ReadonlyMap<string, number>;
    readonly pendingAlerts: number;
    /** Seconds since the last scheduled backup; null before the first. D-10.7. */
    readonly backupAgeSeconds: number | null;
  } | null;
  /** True when this process has met damage of the store. D-11.6. */
  readonly isStoreDamaged: boolean;
  /** True when the registry file cannot be taken up, or a table is not used. D-14.6. */
  readonly hasRegistryProblem: boolean;
  readonly lookups: {
    readonly outcomes: readonly LookupCount[];
    readonly cache: CacheCounts;
  };
}

/** The result of an attempt to deliver an alert; `expired` for one that could not be delivered for a day. D-10.12. */
export type AlertOutcome = "delivered" | "failed" | "expired";

/** Lookups with one outcome since the start. */
export interface LookupCount {
  readonly outcome: "allowed" | "denied" | "limited" | "refused";
  /** Code of the problem; empty when allowed. */
  readonly code: string;
  readonly count: number;
}

/** Counts what this process does, for `/metrics`. Nothing here waits or throws. D-6.8. */
export interface Metrics {
  /** Called for every request: costs next to nothing. */
  countRequest(request: AnsweredRequest, durationMs: number): void;

  countRun(run: SyncRun): void;

  countMoved(moved: TransferCounts): void;

  countAlert(type: AlertType, outcome: AlertOutcome): void;

  /** Everything counted so far, and the given state, in the text format 0.0.4 of Prometheus. */
  expose(state: ServiceState): Promise<string>;
}
