import { DEFAULT_LIST_ITEMS } from "../../domain/shared/limits.ts";
import type { RunItem } from "../../usecases/sync/runs/run-item.ts";
import { findRun, listRuns } from "../../usecases/sync/runs/sync-lists.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { formatCount, tableLines } from "../output.ts";
import { driftLines, outcomeTexts } from "../run-view.ts";

export interface ListOptions extends CommonOptions {
  readonly limit: string;
  readonly cursor?: string;
}

const COUNTS = ["pushed", "pulled", "changed", "kept", "deleted", "rejected"];
const HEADER = ["run", "started", "by", "direction", "status", ...COUNTS];

export const addRunsCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "runs")
    .summary("list the last sync runs")
    .description("Lists the sync runs of this deployment, however they were started, newest first.")
    .argument("[id]", "shows this run only")
    .option("--limit <n>", "how many", String(DEFAULT_LIST_ITEMS))
    .option("--cursor <cursor>", "continue where the previous list ended")
    .action((id: string | undefined, options: ListOptions) =>
      run(options, (tools) => (id === undefined ? list(tools, options) : show(tools, id))),
    );
};

async function list({ output, open }: CommandTools, options: ListOptions): Promise<ExitCode> {
  const { sync } = (await open()).services;
  const { limit, cursor = null } = options;
  const part = await listRuns(sync, { limit, cursor });
  output.printJson(part);
  const rows = part.items.map(runCells);
  output.print(...(rows.length === 0 ? ["No run yet"] : tableLines([HEADER, ...rows], COUNTS)));
  printNext(output, part.nextCursor);
  return EXIT.success;
}

export function printNext(output: CommandTools["output"], nextCursor: string | null): void {
  if (nextCursor !== null) output.print(`More: --cursor ${nextCursor}`);
}

async function show({ output, open }: CommandTools, id: string): Promise<ExitCode> {
  const { sync } = (await open()).services;
  const found = await findRun(sync, id);
  output.printJson(found);
  output.print(...tableLines([HEADER, runCells(found)], COUNTS));
  for (const [table, result] of Object.entries("tables" in found ? found.tables : {})) {
    const [pushed, pulled, rejected] = [result.pushed, result.pulled, result.errorCount].map(
      formatCount,
    );
    const counts = [`${pushed} pushed`, `${pulled} pulled`, ...outcomeTexts(result)];
    output.print(`  ${table}: ${[...counts, `${rejected} rejected`].join(", ")}`);
    const lines = [
      ...driftLines(table, result),
      ...result.warnings.map((text) => `${table}: ${text}`),
    ];
    output.print(...lines.map((line) => `  ${line}`));
  }
  if (found.error !== undefined) output.print(`  ${found.error}`);
  return EXIT.success;
}

function runCells(run: RunItem): string[] {
  const { runId: id, startedAt, trigger, status } = run;
  if (run.kind === "compare") {
    const differing = run.different + run.missingHere + run.missingThere;
    const repaired = formatCount(run.repaired ?? 0);
    const kept = formatCount(run.kept ?? 0);
    const counts = [`${formatCount(differing)} differ`, "", repaired, kept, "", ""];
    return [id, startedAt, trigger, `compare ${run.table}`, status, ...counts];
  }
  const deleted = run.deletedHere + run.deletedThere;
  const counts = [run.totalPushed, run.totalPulled, run.changed, run.kept, deleted, run.errorCount];
  return [id, startedAt, trigger, run.direction, status, ...counts.map(formatCount)];
}
