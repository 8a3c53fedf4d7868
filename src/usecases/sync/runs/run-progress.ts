// The results of a run so far, and its events, which any number of readers follow. S-6, D-4.3, D-4.4.
import type { AppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { SYNC_DIRECTIONS, type SyncDirection } from "../../../domain/sync/run/marker.ts";
import type {
  RunEvent,
  RunRequest,
  RunStatus,
  SyncRun,
  TableResult,
} from "../../../domain/sync/run/run.ts";
import { depsOfRun } from "../shared/run-context.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import type { TransferTotals } from "../transfer/transfer-report.ts";

const NO_RESULT: TableResult = {
  pushed: 0,
  pulled: 0,
  errorCount: 0,
  bytesCompressed: 0,
  bytesUncompressed: 0,
  durationMs: 0,
};

export class RunProgress {
  readonly runId: string;
  readonly request: RunRequest;
  /** In the order in which each table takes them. D-4.3. */
  readonly directions: readonly SyncDirection[];
  /** Their logger names the run. */
  readonly deps: SyncDeps;
  readonly startedAt: string;
  readonly events = new RunFeed();
  readonly #startedAtMs: number;
  readonly #tables = new Map<string, TableResult>();
  #error: AppError | null = null;

  constructor(deps: SyncDeps, runId: string, request: RunRequest) {
    this.runId = runId;
    this.request = request;
    this.directions = request.direction === "both" ? SYNC_DIRECTIONS : [request.direction];
    this.deps = depsOfRun(deps, runId);
    this.startedAt = formatMs(deps.clock.nowMs());
    this.#startedAtMs = deps.clock.monotonicMs();
  }

  /** The first failure, as callers may know it; null while there is none. */
  get error(): AppError | null {
    return this.#error;
  }

  add(table: string, direction: SyncDirection, totals: TransferTotals): void {
    const before = this.#tables.get(table) ?? NO_RESULT;
    this.#tables.set(table, {
      pushed: before.pushed + (direction === "push" ? totals.moved : 0),
      pulled: before.pulled + (direction === "pull" ? totals.moved : 0),
      errorCount: before.errorCount + totals.rejected,
      bytesCompressed: before.bytesCompressed + totals.bytesCompressed,
      bytesUncompressed: before.bytesUncompressed + totals.bytesUncompressed,
      durationMs: before.durationMs + totals.durationMs,
    });
  }

  /** Logs and publishes a failure of the run; one of a table names it. */
  fail(cause: unknown, table: string | null = null, direction: SyncDirection | null = null): void {
    this.deps.logger.error("Sync run failed", cause, { table, direction });
    const error = asSyncError(cause);
    this.#error = table === null ? error : (this.#error ?? error);
    this.events.publish({
      type: "error",
      table: table ?? this.request.tableName ?? "?",
      direction: direction ?? this.directions[0] ?? "push",
      error: error.message,
    });
  }

  end(): void {
    this.events.publish({ type: "finished" });
    this.events.close();
  }

  finished(): SyncRun {
    if (this.#error !== null) return this.#describe("failed");
    const isPartial = [...this.#tables.values()].some((table) => table.errorCount > 0);
    return this.#describe(isPartial ? "partial" : "success");
  }

  /** The run as lists show it while it goes on. */
  running(): SyncRun {
    return this.#describe("running");
  }

  #describe(status: RunStatus): SyncRun {
    const { clock } = this.deps;
    const { trigger, direction, isFull, isDryRun } = this.request;
    const run: SyncRun = {
      runId: this.runId,
      trigger,
      status,
      direction,
      tables: Object.fromEntries(this.#tables),
      totalPushed: this.#sum("pushed"),
      totalPulled: this.#sum("pulled"),
      errorCount: this.#sum("errorCount"),
      startedAt: this.startedAt,
      finishedAt: status === "running" ? null : formatMs(clock.nowMs()),
      durationMs: Math.round(clock.monotonicMs() - this.#startedAtMs),
      fullSync: isFull,
      dryRun: isDryRun,
    };
    return this.#error === null ? run : { ...run, error: this.#error.message };
  }

  #sum(field: keyof TableResult): number {
    return [...this.#tables.values()].reduce((total, table) => total + table[field], 0);
  }
}

interface Reader {
  readonly events: RunEvent[];
  wake(): void;
}

/**
 * The events of one run, for any number of readers, however slow: the run never waits for them. Batches of one table
 * and direction that a reader has not taken become one, which counts the rows and bytes of all of them; so what is kept
 * for a reader does not grow with the rows.
 */
export class RunFeed {
  readonly #all: RunEvent[] = [];
  readonly #readers = new Set<Reader>();
  #isClosed = false;

  publish(event: RunEvent): void {
    addEvent(this.#all, event);
    for (const reader of this.#readers) {
      addEvent(reader.events, event);
      reader.wake();
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) reader.wake();
  }

  /** The events from the first on; ends with the last. */
  async *read(): AsyncGenerator<RunEvent, void, undefined> {
    const reader: Reader = { events: [...this.#all], wake: () => {} };
    this.#readers.add(reader);
    try {
      for (;;) {
        const event = reader.events.shift();
        if (event !== undefined) yield event;
        else if (this.#isClosed) return;
        else {
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
        }
      }
    } finally {
      this.#readers.delete(reader);
    }
  }
}

function addEvent(events: RunEvent[], event: RunEvent): void {
  const last = events.at(-1);
  const isSameBatch =
    last?.type === "batch" &&
    event.type === "batch" &&
    last.table === event.table &&
    last.direction === event.direction;
  if (!isSameBatch) {
    events.push(event);
    return;
  }
  events[events.length - 1] = {
    ...event,
    recordsSent: last.recordsSent + event.recordsSent,
    bytesCompressed: last.bytesCompressed + event.bytesCompressed,
    bytesUncompressed: last.bytesUncompressed + event.bytesUncompressed,
    upserted: last.upserted + event.upserted,
    errorCount: last.errorCount + event.errorCount,
  };
}
