// Sync runs, what lists and the status show of them, and their events. S-2.5, S-2.6, S-4.4, S-6, D-4.
import type { JsonObject } from "../../shared/json.ts";
import type { SyncDirection } from "./marker.ts";

export type RunDirection = SyncDirection | "both";

type RunTrigger = "api" | "stream" | "cli" | "schedule";

export interface RunRequest {
  readonly direction: RunDirection;
  /** Null for every table of the registry. */
  readonly tableName: string | null;
  /** Clears the markers first and moves every row. */
  readonly isFull: boolean;
  /** Counts what would move; writes and clears nothing. */
  readonly isDryRun: boolean;
  readonly trigger: RunTrigger;
}

/** `partial`: it ended, and records were rejected at either end. D-4.3. */
export type RunStatus = "running" | "success" | "partial" | "failed";

/** The result of one table. D-4.3. */
export interface TableResult {
  /** Rows written there, unchanged ones too; not rejected ones. */
  readonly pushed: number;
  /** Rows that arrived here, unchanged ones too; not rejected ones. */
  readonly pulled: number;
  /** Records rejected there or here. */
  readonly errorCount: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly durationMs: number;
}

/** A run, as lists show it. D-4.3, D-4.9. */
export interface SyncRun {
  readonly runId: string;
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  readonly direction: RunDirection;
  readonly tables: Readonly<Record<string, TableResult>>;
  readonly totalPushed: number;
  readonly totalPulled: number;
  readonly errorCount: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null while it runs. */
  readonly finishedAt: string | null;
  readonly durationMs: number;
  readonly fullSync: boolean;
  readonly dryRun: boolean;
  /** Why it failed; only when it did. */
  readonly error?: string;
}

/** A rejected record, as lists show it. D-4.9. */
export interface RejectedItem {
  readonly id: string;
  readonly table: string;
  readonly direction: SyncDirection;
  readonly key: JsonObject;
  readonly message: string;
  /** Times it was rejected, 1 or more. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
}

/** The status result. S-2.5, in its field order. */
export interface SyncStatus {
  readonly syncEnabled: boolean;
  /** Registry table names; empty when sync is disabled. */
  readonly tables: readonly string[];
  /** Rows by table name; -1 for a table that cannot be counted. */
  readonly tableCounts: Readonly<Record<string, number>>;
  /** Non-empty markers by name. */
  readonly lastSync: Readonly<Record<string, string>>;
  /** Current UTC time, ISO 8601. */
  readonly serverTime: string;
  readonly features: SyncFeatures;
}

/** The features of S-2.5, always all. */
interface SyncFeatures {
  readonly gzip: true;
  readonly sha256: true;
  readonly incremental: true;
}

/** S-6, D-4.4. Every event names its table and direction; `finished` has neither. */
export type RunEvent = StartEvent | BatchEvent | DoneEvent | ErrorEvent | FinishedEvent;

interface StartEvent {
  readonly type: "start";
  readonly table: string;
  readonly direction: SyncDirection;
  readonly totalRecords: number;
}

/** A batch was acknowledged there, or a page committed here. */
export interface BatchEvent {
  readonly type: "batch";
  readonly table: string;
  readonly direction: SyncDirection;
  readonly batch: number;
  readonly totalBatches: number;
  readonly recordsSent: number;
  readonly totalSent: number;
  readonly totalRecords: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly upserted: number;
  readonly errorCount: number;
  readonly elapsedMs: number;
  readonly rowsPerSecond: number;
}

export interface DoneEvent {
  readonly type: "done";
  readonly table: string;
  readonly direction: SyncDirection;
  readonly status: "success" | "partial";
  /** Only of a push. */
  readonly totalPushed?: number;
  /** Only of a pull. */
  readonly totalPulled?: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly durationMs: number;
}

interface ErrorEvent {
  readonly type: "error";
  /** `?` when the request named none. */
  readonly table: string;
  readonly direction: SyncDirection;
  /** The whole message of a configuration problem; any other is cut to 200 characters. */
  readonly error: string;
}

/** Always last. */
interface FinishedEvent {
  readonly type: "finished";
}
