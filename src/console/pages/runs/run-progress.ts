// What a stream of events has told of a run or a comparison so far. S-6, D-4.4, D-9.5.
import type { CompareEvent, RunEvent } from "../../api/interface.ts";

type WatchedEvent = RunEvent | CompareEvent;
export type Difference = Extract<CompareEvent, { readonly type: "difference" }>;
type Batch = Extract<RunEvent, { readonly type: "batch" }>;

/** One table in one direction. */
export interface TransferProgress {
  readonly table: string;
  readonly direction: "push" | "pull";
  readonly total: number;
  readonly moved: number;
  /** Null before the first batch. */
  readonly rowsPerSecond: number | null;
  readonly status: "running" | "success" | "partial" | "failed";
}

/** A comparison. */
export interface CompareProgress {
  readonly total: number | null;
  readonly rows: number;
  readonly differences: readonly Difference[];
  /** Null until it has ended well. */
  readonly result: Extract<CompareEvent, { readonly type: "done" }> | null;
}

export interface RunProgress {
  readonly transfers: readonly TransferProgress[];
  /** Null for runs. */
  readonly comparison: CompareProgress | null;
  /** What is waited for; null when nothing is. */
  readonly retry: string | null;
  /** The last events in words, the newest last. */
  readonly lines: readonly string[];
  readonly isFinished: boolean;
}

export const NOTHING_TOLD: RunProgress = {
  transfers: [],
  comparison: null,
  retry: null,
  lines: [],
  isFinished: false,
};

const MAX_LINES = 200;

/** The progress after an event. */
export function afterEvent(progress: RunProgress, event: WatchedEvent): RunProgress {
  const next = { ...advanced(progress, event), retry: null };
  const line = lineOf(event);
  return line === null ? next : withLine(next, line);
}

/** The progress after a comment, such as `retry 3 of 8 in 4 s: <reason>`. */
export function afterComment(progress: RunProgress, text: string): RunProgress {
  return withLine({ ...progress, retry: text }, text);
}

function withLine(progress: RunProgress, line: string): RunProgress {
  return { ...progress, lines: [...progress.lines, line].slice(-MAX_LINES) };
}

function advanced(progress: RunProgress, event: WatchedEvent): RunProgress {
  const { comparison } = progress;
  switch (event.type) {
    case "start":
      return "direction" in event ? withTransfer(progress, event) : withComparison(progress, event);
    case "batch":
      return withChange(progress, event, {
        moved: event.total_sent,
        total: event.total_records,
        rowsPerSecond: event.rows_per_second,
      });
    case "progress":
      if (comparison === null) return progress;
      return { ...progress, comparison: { ...comparison, rows: event.rows } };
    case "difference": {
      if (comparison === null) return progress;
      const differences = [...comparison.differences, event];
      return { ...progress, comparison: { ...comparison, differences } };
    }
    case "done":
      if ("direction" in event) return withChange(progress, event, { status: event.status });
      if (comparison === null) return progress;
      return { ...progress, comparison: { ...comparison, result: event } };
    case "error":
      return "direction" in event ? withChange(progress, event, { status: "failed" }) : progress;
    case "finished":
      return { ...progress, isFinished: true };
  }
}

function withTransfer(
  progress: RunProgress,
  event: Extract<RunEvent, { readonly type: "start" }>,
): RunProgress {
  const { table, direction, total_records: total } = event;
  const transfer: TransferProgress = {
    table,
    direction,
    total,
    moved: 0,
    rowsPerSecond: null,
    status: "running",
  };
  return { ...progress, transfers: [...progress.transfers, transfer] };
}

function withComparison(
  progress: RunProgress,
  event: Extract<CompareEvent, { readonly type: "start" }>,
): RunProgress {
  const { total_records: total } = event;
  return { ...progress, comparison: { total, rows: 0, differences: [], result: null } };
}

function withChange(
  progress: RunProgress,
  { table, direction }: { readonly table: string; readonly direction: string },
  change: Partial<TransferProgress>,
): RunProgress {
  const transfers = progress.transfers.map((transfer) =>
    transfer.table === table && transfer.direction === direction
      ? { ...transfer, ...change }
      : transfer,
  );
  return { ...progress, transfers };
}

function lineOf(event: WatchedEvent): string | null {
  switch (event.type) {
    case "start": {
      const count = event.total_records?.toLocaleString() ?? "an unknown number of";
      const what = "direction" in event ? `${event.direction} of` : "comparison of";
      return `start: ${what} ${event.table}, ${count} rows`;
    }
    case "batch":
      return batchLine(event);
    case "done":
      return "direction" in event
        ? `done: ${event.direction} of ${event.table}, ${event.status}`
        : `done: comparison of ${event.table}`;
    case "error":
      return `error: ${event.table}: ${event.error}`;
    case "finished":
      return "finished";
    default:
      return null;
  }
}

function batchLine(event: Batch): string {
  const { direction, table, batch, total_batches: batches, elapsed_ms: elapsed } = event;
  const rows = `${event.records_sent.toLocaleString()} rows`;
  const rejected = event.error_count === 0 ? "" : `, ${event.error_count} rejected`;
  const seconds = (elapsed / 1_000).toFixed(1);
  const of = `batch ${batch} of ${Math.max(batches, batch)}`;
  return `${of}: ${direction} of ${table}, ${rows}${rejected}, ${seconds} s since the start`;
}
