import { DEFAULT_LIST_ITEMS } from "../../../domain/shared/limits.ts";
import type { ListParameters } from "../../../domain/shared/list-query.ts";
import type { RunItem } from "../../../usecases/sync/runs/run-item.ts";
import { findRun, listRuns } from "../../../usecases/sync/runs/sync-lists.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { formatCount } from "../../output.ts";
import { driftLines, outcomeTexts } from "../../run-view.ts";
import { runsTable } from "../../runs-table.ts";
import { wholeId } from "../../whole-id.ts";

export interface ListOptions extends CommonOptions {
  readonly limit: string;
  readonly cursor?: string;
}

export const addRunsCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "runs")
    .description("Lists the sync runs of this deployment, however they were started, newest first.")
    .argument("[id]", "shows this run only; the beginning of its id is enough")
    .option("--limit <n>", "how many", String(DEFAULT_LIST_ITEMS))
    .option("--cursor <cursor>", "continue where the previous list ended")
    .action((id: string | undefined, options: ListOptions) =>
      run(options, (tools) => (id === undefined ? list(tools, options) : show(tools, id))),
    );
};

async function list({ output, openStore }: CommandTools, options: ListOptions): Promise<ExitCode> {
  const { sync } = (await openStore()).services;
  const { limit, cursor = null } = options;
  const part = await listRuns(sync, { limit, cursor });
  output.printJson(part);
  const { items } = part;
  output.print(
    ...(items.length === 0
      ? ["No run yet"]
      : runsTable(items, { columns: process.stdout.columns })),
  );
  printNext(output, part.nextCursor);
  return EXIT.success;
}

export function printNext(output: CommandTools["output"], nextCursor: string | null): void {
  if (nextCursor !== null) output.print(`More: --cursor ${nextCursor}`);
}

async function show({ output, openStore }: CommandTools, id: string): Promise<ExitCode> {
  const { sync } = (await openStore()).services;
  const runs = {
    read: (query: ListParameters) => listRuns(sync, query),
    idOf: ({ runId }: RunItem) => runId,
  };
  const found = await findRun(sync, await wholeId(id, runs));
  output.printJson(found);
  const { error: _, ...run } = found;
  output.print(...runsTable([run], { columns: process.stdout.columns, hasWholeIds: true }));
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
