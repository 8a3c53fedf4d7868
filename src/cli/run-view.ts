// What a run shows while it goes on, and what it says at its end.
import {
  type DoneEvent,
  type RunNews,
  retryText,
  type SyncRun,
  type TableResult,
} from "../domain/sync/run/run.ts";
import { countOf, formatCount, movedText, type Output } from "./output.ts";
import type { Progress, ProgressBoard } from "./progress.ts";

export class RunView {
  readonly #output: Output;
  readonly #board: ProgressBoard;
  readonly #isDryRun: boolean;
  readonly #done: string[] = [];
  #progress: Progress | null = null;
  #retries = 0;

  constructor(output: Output, board: ProgressBoard, isDryRun: boolean) {
    this.#output = output;
    this.#board = board;
    this.#isDryRun = isDryRun;
  }

  show(news: RunNews): void {
    switch (news.type) {
      case "start":
        this.#progress = this.#board.start(`${news.direction} ${news.table}`);
        break;
      case "batch":
        this.#progress?.update({
          rows: news.totalSent,
          part: news.totalSent / Math.max(1, news.totalRecords),
        });
        break;
      case "done":
        this.#progress?.update({ rows: movedRows(news), part: 1 });
        // Lines between bars would break them, so they are printed at the end.
        if (this.#output.isTerminal) this.#done.push(this.#doneText(news));
        else this.#output.print(this.#doneText(news));
        break;
      case "retry":
        this.#retries++;
        this.#board.note(`${news.direction} ${news.table}: ${retryText(news)}`);
        break;
      case "error":
        this.#board.finish();
        this.#output.warn(
          news.table === "?" ? news.error : `${news.direction} ${news.table} failed: ${news.error}`,
        );
        break;
      case "finished":
        break;
    }
  }

  conclude(run: SyncRun): void {
    const tables = Object.entries(run.tables);
    this.#output.print(...this.#done);
    this.#output.print(...tables.flatMap(([name, result]) => driftLines(name, result)));
    const name = run.dryRun ? "Dry run" : `Run ${run.runId}`;
    const counts = run.dryRun ? movedTexts(run) : [...movedTexts(run), ...outcomeTexts(run)];
    if (this.#retries > 0) counts.push(countOf(this.#retries, "retry", "retries"));
    this.#output.print(`${name}: ${[run.status, ...counts, seconds(run.durationMs)].join(", ")}`);
    for (const [table, { warnings }] of tables) {
      this.#output.warn(...warnings.map((text) => `${table}: ${text}`));
    }
    if (run.errorCount === 0) return;
    this.#output.warn(
      `${countOf(run.errorCount, "record")} rejected; \`repsync rejected list\` shows them, ` +
        "and the next run tries them first",
    );
  }

  #doneText(event: DoneEvent): string {
    const label = `${event.direction} ${event.table}`;
    const rows = movedRows(event);
    if (this.#isDryRun) return `${label}: ${countOf(rows, "row")} would move`;
    return `${label}: ${movedText({ rows, ...transferred(event) })}`;
  }
}

function movedTexts({ totalPushed, totalPulled }: SyncRun): string[] {
  return [`${formatCount(totalPushed)} pushed`, `${formatCount(totalPulled)} pulled`];
}

/** What came of the rows of a run or a table: always those that changed, the others where there are any. */
export function outcomeTexts(
  result: Pick<TableResult, "changed" | "kept" | "erased" | "deletedHere" | "deletedThere">,
): string[] {
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

/** One line where both ends have another number of rows. D-7.5. */
export function driftLines(table: string, { countHere, countThere }: TableResult): string[] {
  if (countHere === null || countThere === null || countHere === countThere) return [];
  return [
    `${table}: ${countOf(countHere, "row")} here, ${formatCount(countThere)} there; ` +
      `\`repsync compare ${table}\` finds the difference`,
  ];
}

function movedRows(event: DoneEvent): number {
  return event.totalPushed ?? event.totalPulled ?? 0;
}

function transferred(event: DoneEvent) {
  return {
    elapsedMs: event.durationMs,
    bytesCompressed: event.bytesCompressed,
    bytesUncompressed: event.bytesUncompressed,
  };
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
