import { Option } from "commander";
import type { SyncDirection } from "../../domain/sync/run/marker.ts";
import { compareTables } from "../../usecases/sync/compare/compare-tables.ts";
import type { CompareResult } from "../../usecases/sync/compare/comparison.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { countOf, formatCount } from "../output.ts";

interface CompareOptions extends CommonOptions {
  readonly repair?: SyncDirection;
}

const KINDS = {
  different: "different",
  missingHere: "missing here",
  missingThere: "missing there",
} as const;

export const addCompareCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "compare")
    .summary("compare a table with the remote's, and repair it")
    .description(
      "Compares the rows of a table with those of the remote deployment. Exit code 3 when any differ.",
    )
    .argument("<table>", "table of the registry")
    .addOption(
      new Option("--repair <direction>", "send or fetch exactly the rows that differ").choices([
        "push",
        "pull",
      ]),
    )
    .action((tableName: string, options: CompareOptions) =>
      run(options, (tools) => compare(tools, tableName, options.repair ?? null)),
    );
};

async function compare(
  { output, open }: CommandTools,
  tableName: string,
  repair: SyncDirection | null,
): Promise<ExitCode> {
  const { sync } = (await open()).services;
  const result = await compareTables(sync, { tableName, repair });
  output.printJson({ table: tableName, ...result });
  output.print(...resultLines(tableName, result));
  const differing = result.different + result.missingHere + result.missingThere;
  return differing > (result.repaired ?? 0) ? EXIT.partial : EXIT.success;
}

function resultLines(table: string, result: CompareResult): string[] {
  const lines = [`${table}: ${countOf(result.matched, "row")} equal`];
  for (const [kind, text] of Object.entries(KINDS) as [keyof typeof KINDS, string][]) {
    if (result[kind] === 0) continue;
    lines.push(`${table}: ${countOf(result[kind], "row")} ${text}`);
    for (const key of result.examples[kind]) lines.push(`  ${JSON.stringify(key)}`);
  }
  if (result.repaired !== undefined) lines.push(`${formatCount(result.repaired)} repaired`);
  return lines;
}
