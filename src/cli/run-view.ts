// The view of a run while it goes on, and at its end.
import { countOf, formatCount } from "../domain/shared/text.ts";
import {
  type EndCounts,
  type RowCounts,
  type RunNews,
  retryText,
  rowCounts,
  type SyncRun,
  type TableResult,
} from "../domain/sync/run/run.ts";
import { durationText, type Output } from "./output.ts";
import type { Progress, ProgressBoard } from "./progress.ts";

export class RunView {
  readonly #output: Output;
  readonly #board: ProgressBoard;
  readonly #soFar: () => SyncRun;
  readonly #done: string[] = [];
  /** The present table of the run. */
  #table: string | null = null;
  #progress: Progress | null = null;
  #retries = 0;

  constructor(output: Output, board: ProgressBoard, soFar: () => SyncRun) {
    this.#output = output;
    this.#board = board;
    this.#soFar = soFar;
  }

  show(news: RunNews): void {
    switch (news.type) {
      case "start":
        if (news.table !== this.#table) this.#endTable(news.table);
        this.#progress = this.#board.start(`${news.direction} ${news.table}`);
        break;
      case "batch":
        this.#progress?.update({
          rows: news.totalSent,
          part: news.totalSent / Math.max(1, news.totalRecords),
        });
        break;
      case "done":
        this.#progress?.update({ rows: news.totalPushed ?? news.totalPulled ?? 0, part: 1 });
        break;
      case "retry":
        this.#retries++;
        this.#board.note(`${news.direction} ${news.table}: ${retryText(news)}`);
        break;
      case "error":
        this.#board.finish();
        this.#endTable();
        this.#output.tellError(
          news.table === "?" ? news.error : `${news.direction} ${news.table} failed: ${news.error}`,
        );
        break;
      case "finished":
        this.#endTable();
        break;
    }
  }

  /** Prints a line for a table that had something to do. On a terminal lines wait for the end, as they would break the bars. */
  #endTable(next: string | null = null): void {
    const { dryRun = false, tables } = this.#soFar();
    const table = this.#table;
    this.#table = next;
    const result = table === null ? undefined : tables[table];
    if (result === undefined || !hadSomethingToDo(result, dryRun)) return;
    const texts = dryRun ? [wouldMoveText(result)] : resultTexts(result);
    const line = `${table}: ${texts.join(", ")}`;
    if (this.#output.isTerminal) this.#done.push(line);
    else this.#output.print(line);
  }

  conclude(run: SyncRun): void {
    const tables = Object.entries(run.tables);
    this.#output.print(...this.#done);
    this.#output.print(...tables.flatMap(([name, result]) => driftLines(name, result)));
    const name = run.dryRun ? "Dry run" : `Run ${run.runId}`;
    const counts = movedTexts(run.totalPushed, run.totalPulled);
    if (!run.dryRun) counts.push(...outcomeTexts(run));
    if (this.#retries > 0) counts.push(countOf(this.#retries, "retry", "retries"));
    this.#output.print(
      `${name}: ${[run.status, ...counts, durationText(run.durationMs)].join(", ")}`,
    );
    for (const [table, { warnings }] of tables) {
      this.#output.warn(...warnings.map((text) => `${table}: ${text}`));
    }
    if (run.errorCount === 0) return;
    this.#output.tellError(
      `${countOf(run.errorCount, "record")} rejected; \`repsync rejected list\` shows them, ` +
        "and the next run tries them first",
    );
  }
}

/** A pull always reads the last rows again, which alone is nothing to tell. */
function hadSomethingToDo(result: TableResult, isDryRun: boolean): boolean {
  if (isDryRun) return result.pushed + result.pulled > 0;
  return result.errorCount > 0 || Object.values(rowCounts(result)).some((rows) => rows > 0);
}

function wouldMoveText({ pushed, pulled }: TableResult): string {
  return `${countOf(pushed, "row")} would be pushed, ${formatCount(pulled)} pulled`;
}

function resultTexts(result: TableResult): string[] {
  const { pushed, pulled, errorCount, bytesCompressed, bytesUncompressed, durationMs } = result;
  return [
    ...movedTexts(pushed, pulled),
    ...outcomeTexts(result),
    ...(errorCount > 0 ? [`${formatCount(errorCount)} rejected`] : []),
    `${formatCount(bytesCompressed)} of ${formatCount(bytesUncompressed)} bytes`,
    durationText(durationMs),
  ];
}

export function movedTexts(pushed: number, pulled: number): string[] {
  return [`${formatCount(pushed)} pushed`, `${formatCount(pulled)} pulled`];
}

/** The changed rows of a run or table, and other rows where there are any. */
export function outcomeTexts(result: RowCounts): string[] {
  const others: [number, string][] = [
    [result.kept, "kept"],
    [result.erased, "of erased people left out"],
    [result.deletedHere, "deleted here"],
    [result.deletedThere, "deleted there"],
  ];
  return [
    `${formatCount(result.changed)} changed`,
    ...others.filter(([rows]) => rows > 0).map(([rows, what]) => `${formatCount(rows)} ${what}`),
  ];
}

/** A line where both ends have different counts. D-7.5. */
export function driftLines(table: string, { countHere, countThere }: EndCounts): string[] {
  if (countHere === null || countThere === null || countHere === countThere) return [];
  return [
    `${table}: ${countOf(countHere, "row")} here, ${formatCount(countThere)} there; ` +
      `\`repsync compare ${table}\` finds the difference`,
  ];
}
