import { formatCount } from "../../../domain/shared/text.ts";
import type { TableResult } from "../../../domain/sync/run/table-result.ts";
import { findRun, listRuns } from "../../../usecases/sync/runs/kept-runs.ts";
import { type AddCommands, type CommandTools, declareCommand } from "../../command-runner.ts";
import { addListOptions, type ListOptions, wholeId } from "../../lists.ts";
import { driftLines, outcomeTexts } from "../../run-view.ts";
import { runsTable } from "../../runs-table.ts";

export const addCommands: AddCommands = (parent, run) => {
  const command = declareCommand(parent, "runs")
    .description("Lists the runs and comparisons of this deployment, newest first.")
    .argument("[id]", "shows this run only; the beginning of its id is enough");
  addListOptions(command).action(
    run((tools, id: string | undefined, options: ListOptions) =>
      id === undefined ? list(tools, options) : show(tools, id),
    ),
  );
};

async function list({ output, openToRead }: CommandTools, options: ListOptions): Promise<void> {
  const { sync } = (await openToRead()).services;
  output.showList(await listRuns(sync, options), "No run yet", (items) =>
    runsTable(items, { columns: process.stdout.columns }),
  );
}

async function show({ output, openToRead }: CommandTools, id: string): Promise<void> {
  const { sync } = (await openToRead()).services;
  const runId = await wholeId(
    id,
    (query) => listRuns(sync, query),
    (item) => item.runId,
  );
  const found = await findRun(sync, runId);
  const { error, ...run } = found;
  const tables = Object.entries("tables" in found ? found.tables : {});
  output.show(
    found,
    ...runsTable([run], { columns: process.stdout.columns, hasWholeIds: true }),
    ...tables.flatMap(([table, result]) => tableResultLines(table, result)),
    ...(error === undefined ? [] : [`  ${error}`]),
  );
}

function tableResultLines(table: string, result: TableResult): string[] {
  const { pushed, pulled, errorCount, warnings } = result;
  const moved = [`${formatCount(pushed)} pushed`, `${formatCount(pulled)} pulled`];
  const counts = [...moved, ...outcomeTexts(result), `${formatCount(errorCount)} rejected`];
  const notes = [...driftLines(table, result), ...warnings.map((text) => `${table}: ${text}`)];
  return [`${table}: ${counts.join(", ")}`, ...notes].map((line) => `  ${line}`);
}
