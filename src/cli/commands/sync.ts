import { Argument } from "commander";
import { isAppError } from "../../domain/shared/errors.ts";
import type {
  DoneEvent,
  RunDirection,
  RunEvent,
  RunRequest,
  SyncRun,
} from "../../domain/sync/run/run.ts";
import { StartedRun } from "../../usecases/sync/runs/start-run.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { countOf, formatCount, movedText, type Output } from "../output.ts";
import { openProgress, type Progress, type ProgressBoard } from "../progress.ts";

interface SyncOptions extends CommonOptions {
  readonly full?: true;
  readonly dryRun?: true;
  readonly events?: true;
}

export const addSyncCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "sync")
    .summary("push or pull rows, or both")
    .description(
      "Moves the rows that changed since the last run to or from the remote deployment (SYNC_REMOTE_URL). " +
        "A stopped run continues where it stopped when it is started again.",
    )
    .addArgument(new Argument("<direction>", "which way").choices(["push", "pull", "both"]))
    .argument("[table]", "one table; without it every table of the registry")
    .option("--full", "move every row: forget where the last runs ended")
    .option("--dry-run", "count what would move, and change nothing")
    .option("--events", "write the run's events to standard output, one JSON object per line")
    .action((direction: RunDirection, table: string | undefined, options: SyncOptions) =>
      run(options.events ? { json: true } : options, (tools) =>
        sync(tools, requestOf(direction, table, options), options.events === true),
      ),
    );
};

function requestOf(
  direction: RunDirection,
  table: string | undefined,
  options: SyncOptions,
): RunRequest {
  return {
    direction,
    tableName: table ?? null,
    isFull: options.full === true,
    isDryRun: options.dryRun === true,
    trigger: "cli",
  };
}

async function sync(
  { output, interruption, open }: CommandTools,
  request: RunRequest,
  isEvents: boolean,
): Promise<ExitCode> {
  const { config, services } = await open();
  const run = new StartedRun(services.sync, request);
  interruption.onStop(() => run.stop());
  const names = [...config.registry.keys()];
  const labelChars = "push ".length + Math.max(...names.map((name) => name.length));
  const board = openProgress(output, labelChars);
  const view = new RunView(output, board, request.isDryRun);
  for await (const event of run.events()) {
    if (isEvents) output.printJson(event);
    else if (event.type !== "error" || interruption.received() === null) view.show(event);
  }
  board.finish();
  const { run: result, error } = await run.outcome;
  if (!isEvents) output.printJson(result);
  view.conclude(result);
  const signal = interruption.received();
  if (result.status === "failed" && signal !== null) {
    output.warn(`Stopped by ${signal}; run the same command to continue`);
  }
  if (isAppError(error, "sync_misconfigured")) return EXIT.usage;
  return {
    success: EXIT.success,
    partial: EXIT.partial,
    failed: EXIT.failed,
    running: EXIT.failed,
  }[result.status];
}

class RunView {
  readonly #output: Output;
  readonly #board: ProgressBoard;
  readonly #isDryRun: boolean;
  readonly #done: string[] = [];
  #progress: Progress | null = null;

  constructor(output: Output, board: ProgressBoard, isDryRun: boolean) {
    this.#output = output;
    this.#board = board;
    this.#isDryRun = isDryRun;
  }

  show(event: RunEvent): void {
    switch (event.type) {
      case "start":
        this.#progress = this.#board.start(`${event.direction} ${event.table}`);
        break;
      case "batch":
        this.#progress?.update({
          rows: event.totalSent,
          part: event.totalSent / Math.max(1, event.totalRecords),
        });
        break;
      case "done":
        this.#progress?.update({ rows: movedRows(event), part: 1 });
        // Lines between bars would break them, so they are printed at the end.
        if (this.#output.isTerminal) this.#done.push(this.#doneText(event));
        else this.#output.print(this.#doneText(event));
        break;
      case "error":
        this.#board.finish();
        this.#output.warn(
          event.table === "?"
            ? event.error
            : `${event.direction} ${event.table} failed: ${event.error}`,
        );
        break;
      case "finished":
        break;
    }
  }

  conclude(run: SyncRun): void {
    this.#output.print(...this.#done);
    const name = run.dryRun ? "Dry run" : `Run ${run.runId}`;
    this.#output.print(
      `${name}: ${run.status}, ${formatCount(run.totalPushed)} pushed, ` +
        `${formatCount(run.totalPulled)} pulled, ${seconds(run.durationMs)}`,
    );
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
