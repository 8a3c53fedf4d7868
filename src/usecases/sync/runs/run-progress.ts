// The progress of a run: results of its tables, its failures, and the rows of both ends when it ends. D-4.3, D-7.5.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { MAX_RUN_ERROR_CHARS } from "../../../domain/shared/limits.ts";
import {
  addResults,
  type EndCounts,
  NO_TABLE_RESULT,
  type RunNews,
  type RunRequest,
  type RunStatus,
  rowCounts,
  rowsIn,
  SYNC_DIRECTIONS,
  type SyncDirection,
  type SyncRun,
  type TableResult,
} from "../../../domain/sync/run/run.ts";
import { type OwnerProblem, ownerError } from "../../../domain/sync/run/table-owner.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RunContext } from "../shared/run-context.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { countRows } from "../shared/sync-status.ts";
import { StartedWork } from "./started-work.ts";

/** Tables that the log of this process has named as without an owner. */
const toldUnowned = new WeakSet<Table>();

export abstract class RunProgress extends StartedWork<RunNews, SyncRun> {
  readonly request: RunRequest;
  /** The directions in the order of each table. D-4.3. */
  readonly directions: readonly SyncDirection[];
  readonly #tables = new Map<string, TableResult>();
  readonly #warnedOnce = new Set<string>();
  /** Tables that failed. */
  readonly #failed = new Set<string>();
  /** Tables that ended before their first row, by problem. D-11.9. */
  readonly #unowned = new Map<OwnerProblem, string[]>();
  #error: AppError | null = null;
  /** True for an error that ended the run, and not one table. */
  #isOfRun = false;

  constructor(deps: SyncDeps, request: RunRequest) {
    super(deps, { text: "The run was stopped", hint: "Run it again to continue" });
    this.request = request;
    this.directions = request.direction === "both" ? SYNC_DIRECTIONS : [request.direction];
    // Listed from the start: the process may end before the table does anything.
    if (request.tableName !== null) this.begin(request.tableName);
  }

  /** As callers may know it: tables without an owner, then the first other failure and the number of more; null without either. */
  get error(): AppError | null {
    const failure = this.#error === null ? null : this.#withOthers(this.#error);
    if (this.#unowned.size === 0) return failure;
    const unowned = [...this.#unowned].map(([problem, tables]) => ownerError(problem, tables));
    const errors = failure === null ? unowned : [...unowned, failure];
    if (errors.length === 1) return asSyncError(errors[0]);
    return asSyncError(new AppError("sync_failed", errors.map(({ text }) => text).join("; ")));
  }

  #withOthers(error: AppError): AppError {
    const unowned = [...this.#unowned.values()].flat().length;
    const others = this.#failed.size - unowned - 1;
    if (this.#isOfRun || others < 1 || error.kind !== "sync_failed") return error;
    const told = ` (${others} more ${others === 1 ? "table" : "tables"} failed)`;
    const { hint, isRecoverable } = error;
    const message = error.messageWithin(MAX_RUN_ERROR_CHARS - told.length) + told;
    return new AppError("sync_failed", message, { cause: error, hint, isRecoverable });
  }

  /** Lists a table among the results, whatever becomes of it. */
  begin(table: string): void {
    this.#tables.set(table, NO_TABLE_RESULT);
  }

  /** Adds the result of a transfer to that of its table. */
  add(table: string, result: TableResult): void {
    this.#tables.set(table, addResults(this.#resultOf(table), result));
  }

  /** Warns of something in a table that is no failure. */
  warn(table: string, text: string): void {
    this.deps.logger.warn(text, { table });
    this.#addWarning(table, text);
  }

  /** Warns once of something that concerns the whole run, with its first table. */
  warnOnce(table: string, text: string): void {
    if (this.#warnedOnce.has(text)) return;
    this.#warnedOnce.add(text);
    this.deps.logger.info(text, { table });
    this.#addWarning(table, text);
  }

  #addWarning(table: string, text: string): void {
    const before = this.#resultOf(table);
    this.#tables.set(table, { ...before, warnings: [...before.warnings, text] });
  }

  /**
   * Counts the rows of tables at both ends. The remote is asked, once for all tables, unless pulls have shown equal counts. A
   * difference that is new since the last run is a warning in the log, and each is kept for the metrics. What cannot be counted
   * is null. Never rejects.
   */
  async countEnds(run: RunContext, tables: readonly Table[]): Promise<void> {
    const counting = tables.map(async (table): Promise<[string, EndCounts]> => {
      const countHere = await countRows(this.deps, table);
      return [table.name, { countHere, countThere: this.#resultOf(table.name).countThere }];
    });
    const counts = new Map(await Promise.all(counting));
    const isAlike = ({ countHere, countThere }: EndCounts) =>
      countHere !== null && countHere === countThere;
    if (![...counts.values()].every(isAlike)) await countThere(run, counts);
    for (const [table, counted] of counts) {
      this.#tables.set(table, { ...this.#resultOf(table), ...counted });
    }
    try {
      await keepDrift(this.deps, counts);
    } catch (error) {
      this.deps.logger.error("Drift could not be kept", error);
    }
  }

  /** Logs and publishes a failure of the run; one of a table names it. */
  fail(cause: unknown, table: string | null = null, direction: SyncDirection | null = null): void {
    this.deps.logger.error("Sync run failed", cause, { table, direction });
    const error = asSyncError(cause);
    this.#error = table === null ? error : (this.#error ?? error);
    if (table === null) this.#isOfRun = true;
    else this.#failed.add(table);
    this.#publishError(table, direction, error.text);
  }

  /** Ends a table before its first row; the log tells of it once since the start. D-11.9. */
  endUnowned(table: Table, problem: OwnerProblem, direction: SyncDirection): void {
    const { name } = table;
    const { text } = asSyncError(ownerError(problem, [name]));
    if (!toldUnowned.has(table)) this.deps.logger.warn(text, { table: name });
    toldUnowned.add(table);
    this.#unowned.set(problem, [...(this.#unowned.get(problem) ?? []), name]);
    this.#failed.add(name);
    this.#publishError(name, direction, text);
  }

  #publishError(table: string | null, direction: SyncDirection | null, error: string): void {
    this.publish({
      type: "error",
      table: table ?? this.request.tableName ?? "?",
      direction: direction ?? this.directions[0] ?? "push",
      error,
    });
  }

  protected get isPartial(): boolean {
    return [...this.#tables.values()].some((table) => table.errorCount > 0);
  }

  describe(status: RunStatus): SyncRun {
    const { trigger, direction, isFull, isDryRun } = this.request;
    const total = [...this.#tables.values()].reduce(addResults, NO_TABLE_RESULT);
    const { error } = this;
    return {
      runId: this.runId,
      kind: "sync",
      trigger,
      status,
      direction,
      tables: Object.fromEntries(
        [...this.#tables].map(([name, result]) => [
          name,
          this.#failed.has(name) ? { ...result, isFailed: true } : result,
        ]),
      ),
      totalPushed: total.pushed,
      totalPulled: total.pulled,
      errorCount: total.errorCount,
      ...rowCounts(total),
      ...this.times(status),
      fullSync: isFull,
      ...(error === null ? {} : { error: error.text }),
      ...(isDryRun ? { dryRun: isDryRun } : {}),
    };
  }

  #resultOf(table: string): TableResult {
    return this.#tables.get(table) ?? NO_TABLE_RESULT;
  }
}

/** Asks without retries, as nothing depends on it. Counts from the begin of a pull are too old by now. */
async function countThere(
  { remote, deps, stop }: RunContext,
  counts: Map<string, EndCounts>,
): Promise<void> {
  let there: Readonly<Record<string, number>> = {};
  try {
    there = (await remote.peer.readStatus({ signal: stop })).tableCounts;
  } catch (error) {
    if (!isAppError(error)) throw error;
    deps.logger.info("The remote's rows could not be counted", { problem: error.message });
  }
  for (const [table, { countHere }] of counts) {
    counts.set(table, { countHere, countThere: rowsIn(there, table) });
  }
}

async function keepDrift(deps: SyncDeps, counts: ReadonlyMap<string, EndCounts>): Promise<void> {
  const kept = await deps.memory.drifts();
  const changed = new Map<string, number>();
  for (const [table, { countHere, countThere: there }] of counts) {
    if (countHere === null || there === null) continue;
    const drift = countHere - there;
    if (kept.get(table) === drift) continue;
    changed.set(table, drift);
    if (countHere === there) continue;
    // Before the drift is kept, so that a crash in between raises it again.
    await deps.alerts?.raise({ type: "drift.found", table, countHere, countThere: there });
    deps.logger.warn("Both ends have another number of rows", {
      table,
      count_here: countHere,
      count_there: there,
      advice: `repsync compare ${table}`,
    });
  }
  if (changed.size > 0) await deps.memory.keepDrifts(changed);
}
