// Sync runs: what lists and the status show of them, and their events. S-2.5, S-2.6, S-4.4, S-6, D-4.

export type SyncDirection = "push" | "pull";

/** Both directions, in the order a run with `both` takes them. D-4.3. */
export const SYNC_DIRECTIONS: readonly SyncDirection[] = ["push", "pull"];

export type RunDirection = SyncDirection | "both";

export type RunTrigger = "api" | "stream" | "cli" | "schedule";

export interface RunRequest {
  readonly direction: RunDirection;
  /** Null for every table of the registry. */
  readonly tableName: string | null;
  /** Clears the markers first and moves every row. S-4.4.2. */
  readonly isFull: boolean;
  /** Counts what would move; writes and clears nothing. D-4.11. */
  readonly isDryRun: boolean;
  /** Overwrites newer rows; only with one direction. D-7.1. */
  readonly isForced: boolean;
  /** Rows that may be deleted of each table at an end; null for the table's own limit. D-7.6. */
  readonly maxDeletes: number | null;
  readonly trigger: RunTrigger;
}

/** `partial`: it ended, and records were rejected at either end. D-4.3. */
export type RunStatus = "running" | "success" | "partial" | "failed";

/** Common fields of runs and comparisons, as lists show them. D-4.9, D-7.8. */
interface StoredRunBase {
  readonly runId: string;
  readonly trigger: RunTrigger;
  readonly status: RunStatus;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null while it runs. */
  readonly finishedAt: string | null;
  readonly durationMs: number;
  /** Why it failed; only when it did. */
  readonly error?: string;
}

export interface SyncRun extends StoredRunBase, RowCounts {
  readonly kind: "sync";
  readonly direction: RunDirection;
  readonly tables: Readonly<Record<string, TableResult>>;
  readonly totalPushed: number;
  readonly totalPulled: number;
  /** Records rejected there or here. */
  readonly errorCount: number;
  readonly fullSync: boolean;
  /** Only of a dry run. */
  readonly dryRun?: true;
}

/** A comparison of a table, with the counts that it has so far. D-4.10, D-7.8. */
export interface CompareRun extends StoredRunBase, CompareCounts {
  readonly kind: "compare";
  readonly table: string;
  readonly repair: CompareRepair | null;
}

/** The way of rows that differ: to the remote, from it, or the newer of two to the other end. D-7.5. */
export type CompareRepair = SyncDirection | "newest";

export interface CompareCounts {
  readonly matched: number;
  readonly different: number;
  readonly missingHere: number;
  readonly missingThere: number;
  /** Rows that the repair changed; only with one. */
  readonly repaired?: number;
  /** Rows that stay as they are: only with a repair, or where the owner of one has it otherwise. D-7.5, D-8.1. */
  readonly kept?: number;
  /** Rows of the remote that are left out, as the people whom they name were erased here; only where there are any. D-8.2. */
  readonly erased?: number;
}

/** An import of a file that came by HTTP; only its events can be read. D-14.4. */
export interface ImportRun extends StoredRunBase {
  readonly kind: "import";
  readonly table: string;
}

export type ListedRun = SyncRun | CompareRun;

/** An entry of the store; dry runs and imports stand in no list. */
export type StoredRun = ListedRun | ImportRun;

export function isDryRun(run: StoredRun): boolean {
  return run.kind === "sync" && run.dryRun === true;
}

export function isListed(run: StoredRun): run is ListedRun {
  return run.kind !== "import" && !isDryRun(run);
}

/** Reads the JSON text of a stored run. Runs of earlier programs say `dryRun: false`, or lack newer counts. */
export function readStoredRun(text: string): StoredRun {
  const { dryRun, ...stored } = JSON.parse(text);
  const run = dryRun ? { ...stored, dryRun } : stored;
  if (run.kind !== "sync") return run;
  const tables = Object.entries(run.tables).map(([name, result]) => [
    name,
    { ...NO_TABLE_RESULT, ...Object(result) },
  ]);
  // The run also comes first, for the order of its fields.
  return { ...run, ...NO_ROWS, ...run, tables: Object.fromEntries(tables) };
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
  readonly features: { readonly gzip: true; readonly sha256: true; readonly incremental: true };
}

/** The rows of a table by a status; null where it tells none, or -1. S-2.5. */
export function rowsIn(counts: SyncStatus["tableCounts"], table: string): number | null {
  const rows = Object.hasOwn(counts, table) ? (counts[table] ?? -1) : -1;
  return rows < 0 ? null : rows;
}

// The result of a run for a table: one type from the end of a transfer to the list of runs. D-4.3.

/** Counts of the rows of a table, or of a whole run. */
export interface RowCounts {
  /** Newer rows that stayed at either end. D-7.1. */
  readonly kept: number;
  /** Rows that either end left out, as they name people who were erased there. D-8.2. */
  readonly erased: number;
  /** Rows really written, here and there. D-7.11. */
  readonly changed: number;
  /** Rows removed here and there. D-7.6. */
  readonly deletedHere: number;
  readonly deletedThere: number;
}

/** Rows at each end when the run over the table ended; null when not known. D-7.5. */
export interface EndCounts {
  readonly countHere: number | null;
  readonly countThere: number | null;
}

export interface TableResult extends RowCounts, EndCounts {
  /** Rows written there, unchanged ones too; not rejected ones. */
  readonly pushed: number;
  /** Rows that arrived here, unchanged ones too; not rejected ones. */
  readonly pulled: number;
  /** Records rejected there or here. */
  readonly errorCount: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly durationMs: number;
  /** Notes for the user that are no failures. D-7.3. */
  readonly warnings: readonly string[];
  /** True for a table that failed while others did not; else absent. */
  readonly isFailed?: true;
}

type Summed = Exclude<keyof TableResult, keyof EndCounts | "warnings" | "isFailed">;

/** A new count is added here and in `RowCounts`. */
export const NO_ROWS: RowCounts = {
  kept: 0,
  erased: 0,
  changed: 0,
  deletedHere: 0,
  deletedThere: 0,
};
const NO_SUMS: Readonly<Record<Summed, number>> = {
  pushed: 0,
  pulled: 0,
  errorCount: 0,
  bytesCompressed: 0,
  bytesUncompressed: 0,
  durationMs: 0,
  ...NO_ROWS,
};

export const NO_TABLE_RESULT: TableResult = {
  ...NO_SUMS,
  countHere: null,
  countThere: null,
  warnings: [],
};

/** The sum of two results. The row counts of both ends are the later result's, as a push changes them. */
export function addResults(before: TableResult, after: TableResult): TableResult {
  const names = Object.keys(NO_SUMS) as Summed[];
  const sums = names.map((name) => [name, before[name] + after[name]]);
  const warnings = [...before.warnings, ...after.warnings];
  return { ...after, ...(Object.fromEntries(sums) as Record<Summed, number>), warnings };
}

export function rowCounts(result: RowCounts): RowCounts {
  const names = Object.keys(NO_ROWS) as (keyof RowCounts)[];
  const counts = names.map((name) => [name, result[name]]);
  return Object.fromEntries(counts) as unknown as RowCounts;
}

interface OfTable {
  readonly table: string;
  readonly direction: SyncDirection;
}

/** S-6, D-4.4. Every event names its table and direction; `finished` has neither. */
export type RunEvent =
  | (OfTable & { readonly type: "start"; readonly totalRecords: number })
  | BatchEvent
  | DoneEvent
  /** The whole message of a configuration problem, any other cut to 200 characters; the table is `?` when the request named none. */
  | (OfTable & { readonly type: "error"; readonly error: string })
  | FinishedEvent;

/** A batch was acknowledged there, or a page committed here. */
export interface BatchEvent extends OfTable {
  readonly type: "batch";
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
  /** The mean since the transfer began, rejected rows too. */
  readonly rowsPerSecond: number;
}

interface DoneEvent extends OfTable {
  readonly type: "done";
  readonly status: "success" | "partial";
  /** Only of a push. */
  readonly totalPushed?: number;
  /** Only of a pull. */
  readonly totalPulled?: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly durationMs: number;
}

/** Always last. */
export interface FinishedEvent {
  readonly type: "finished";
}

/** A failed request to the remote is repeated after a wait. D-7.11. */
export interface RetryNotice extends OfTable {
  readonly type: "retry";
  /** Number of the attempt that comes, 2 or more. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly waitMs: number;
  /** Why the attempt before failed, in one line. */
  readonly reason: string;
}

export type RunNews = RunEvent | RetryNotice;

/** The text of a notice, such as `retry 3 of 8 in 4 s: <reason>`; part of a second counts as one. D-7.11. */
export function retryText({ attempt, maxAttempts, waitMs, reason }: RetryNotice): string {
  return `retry ${attempt} of ${maxAttempts} in ${Math.ceil(waitMs / 1000)} s: ${reason}`;
}
