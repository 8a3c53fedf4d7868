import { useEffect, useState } from "preact/hooks";
import type { CompareEvent, RunEvent } from "../../api/interface.ts";
import { readEventStream } from "../../api/request.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { reloadShown } from "../../state/use-service.ts";

/** Events are shown at most so often. */
const SHOW_MS = 100;
/** The pause before a broken stream is read again. */
const AGAIN_MS = 1_500;

interface Watching {
  readonly watched: WatchedRun;
  /** Why no events come at present; null while they may. */
  readonly error: RequestError | null;
}

/**
 * Watches a run or comparison from its beginning. A broken stream is read anew until the run has finished; then the page is loaded
 * again. A hidden tab does not watch, as a browser opens few connections to a service.
 */
export function useWatchedRun(runId: string): Watching {
  const [watching, setWatching] = useState<Watching>({ watched: NOTHING_TOLD, error: null });
  useEffect(() => {
    let controller = new AbortController();

    async function look() {
      controller.abort();
      if (document.hidden) return;
      controller = new AbortController();
      const { signal } = controller;
      await watch(runId, signal, setWatching);
      if (!signal.aborted) document.removeEventListener("visibilitychange", look);
    }

    document.addEventListener("visibilitychange", look);
    void look();
    return () => {
      controller.abort();
      document.removeEventListener("visibilitychange", look);
    };
  }, [runId]);
  return watching;
}

async function watch(
  runId: string,
  signal: AbortSignal,
  show: (watching: Watching) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await readWhole(runId, signal, show);
      return await reloadShown();
    } catch (failure) {
      if (signal.aborted) return;
      const error = asRequestError(failure);
      show({ watched: NOTHING_TOLD, error });
      // The service would refuse the next request, too.
      if (error.status >= 400 && error.status < 500 && error.status !== 429) return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Shows the stream's events, up to the last one. */
async function readWhole(
  runId: string,
  signal: AbortSignal,
  show: (watching: Watching) => void,
): Promise<void> {
  let watched = NOTHING_TOLD;
  let timer: number | undefined;
  const showNow = () => {
    timer = undefined;
    if (!signal.aborted) show({ watched, error: null });
  };
  const take = (next: WatchedRun) => {
    watched = next;
    timer ??= window.setTimeout(showNow, SHOW_MS);
  };
  try {
    const events = readEventStream("get /api/v1/sync/runs/{run_id}/events", {
      path: { run_id: runId },
      signal,
      // Each comment is about a retry, such as `retry 3 of 8 in 4 s: <reason>`.
      onComment: (retry) => take(withLine({ ...watched, retry }, retry)),
    });
    for await (const event of events) take(afterEvent(watched, event));
  } finally {
    clearTimeout(timer);
  }
  showNow();
}

type WatchedEvent = RunEvent | CompareEvent;
export type Difference = Extract<CompareEvent, { readonly type: "difference" }>;

export interface Transfer {
  readonly table: string;
  readonly direction: "push" | "pull";
  readonly total: number;
  readonly moved: number;
  /** Null before the first batch. */
  readonly rowsPerSecond: number | null;
  readonly status: "running" | "success" | "partial" | "failed";
}

interface Comparison {
  readonly total: number | null;
  readonly rows: number;
  readonly differences: readonly Difference[];
}

export interface WatchedRun {
  readonly transfers: readonly Transfer[];
  /** Null for runs. */
  readonly comparison: Comparison | null;
  /** The retry that is waited for. */
  readonly retry: string | null;
  /** Why tables failed. */
  readonly failures: readonly string[];
  /** The last events in words, the newest last. */
  readonly lines: readonly string[];
}

const NOTHING_TOLD: WatchedRun = {
  transfers: [],
  comparison: null,
  retry: null,
  failures: [],
  lines: [],
};

const MAX_LINES = 200;

function afterEvent(watched: WatchedRun, event: WatchedEvent): WatchedRun {
  const next = { ...advanced(watched, event), retry: null };
  const line = lineOf(event);
  return line === null ? next : withLine(next, line);
}

function withLine(watched: WatchedRun, line: string): WatchedRun {
  return { ...watched, lines: [...watched.lines, line].slice(-MAX_LINES) };
}

function advanced(watched: WatchedRun, event: WatchedEvent): WatchedRun {
  const { comparison } = watched;
  switch (event.type) {
    case "start":
      return "direction" in event
        ? { ...watched, transfers: [...watched.transfers, transferOf(event)] }
        : { ...watched, comparison: { total: event.total_records, rows: 0, differences: [] } };
    case "batch":
      return withChange(watched, event, {
        moved: event.total_sent,
        total: event.total_records,
        rowsPerSecond: event.rows_per_second,
      });
    case "progress":
      if (comparison === null) return watched;
      return { ...watched, comparison: { ...comparison, rows: event.rows } };
    case "difference": {
      if (comparison === null) return watched;
      const differences = [...comparison.differences, event];
      return { ...watched, comparison: { ...comparison, differences } };
    }
    case "done":
      return "direction" in event ? withChange(watched, event, { status: event.status }) : watched;
    case "error": {
      const failures = [...watched.failures, `${event.table}: ${event.error}`];
      const failed = { ...watched, failures };
      return "direction" in event ? withChange(failed, event, { status: "failed" }) : failed;
    }
    case "finished":
      return watched;
  }
}

type TransferEvent = Extract<RunEvent, { readonly direction: unknown }>;

function transferOf(event: Extract<TransferEvent, { readonly type: "start" }>): Transfer {
  const { table, direction, total_records: total } = event;
  return { table, direction, total, moved: 0, rowsPerSecond: null, status: "running" };
}

function withChange(
  watched: WatchedRun,
  { table, direction }: TransferEvent,
  change: Partial<Transfer>,
): WatchedRun {
  const transfers = watched.transfers.map((transfer) =>
    transfer.table === table && transfer.direction === direction
      ? { ...transfer, ...change }
      : transfer,
  );
  return { ...watched, transfers };
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

function batchLine(event: Extract<RunEvent, { readonly type: "batch" }>): string {
  const { direction, table, batch, total_batches: batches, elapsed_ms: elapsed } = event;
  const rows = `${event.records_sent.toLocaleString()} rows`;
  const rejected = event.error_count === 0 ? "" : `, ${event.error_count} rejected`;
  const seconds = (elapsed / 1_000).toFixed(1);
  const of = `batch ${batch} of ${Math.max(batches, batch)}`;
  return `${of}: ${direction} of ${table}, ${rows}${rejected}, ${seconds} s since the start`;
}
