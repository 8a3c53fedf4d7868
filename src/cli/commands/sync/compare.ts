import { Option } from "commander";
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject, JsonValue } from "../../../domain/shared/json.ts";
import { countOf, cutText, formatCount } from "../../../domain/shared/text.ts";
import type { RowPair } from "../../../domain/sync/run/compare-events.ts";
import type { CompareRepair } from "../../../domain/sync/run/run.ts";
import type { CompareResult } from "../../../usecases/sync/compare/comparison.ts";
import { StartedComparison } from "../../../usecases/sync/runs/start-comparison.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import {
  type AddCommands,
  type CommandTools,
  declareJob,
  EXIT,
  type ExitCode,
  readWhole,
} from "../../command-runner.ts";
import type { Output } from "../../output.ts";
import { confirm } from "../../prompts.ts";

interface CompareOptions {
  readonly repair?: CompareRepair;
  readonly delete?: true;
  readonly maxDeletes?: number;
  readonly force?: true;
}

const KINDS = {
  different: "different",
  missingHere: "missing here",
  missingThere: "missing there",
} as const;

/** The longest value shown of a column that differs. */
const MAX_VALUE_CHARS = 60;

export const addCommands: AddCommands = (parent, run) => {
  declareJob(parent, "compare")
    .description("Compares the rows of a table with those of the remote deployment.")
    .argument("[table]", "one table; without it every table of the registry")
    .addOption(
      new Option(
        "--repair <way>",
        "push: make the remote like this end; pull: this end like the remote; newest: keep the newer rows",
      ).choices(["push", "pull", "newest"]),
    )
    .option("--delete", "with push or pull, also remove what only the end being repaired has")
    .option("--force", 'with push or pull, overwrite newer rows of tables with "conflict": "newer"')
    .option("--max-deletes <n>", "rows that --delete may remove of a table", readWhole)
    .action(run(compare));
};

async function compare(
  tools: CommandTools,
  tableName: string | undefined,
  options: CompareOptions,
): Promise<ExitCode> {
  const { output, open } = tools;
  const { sync } = (await open()).services;
  if (options.delete === true) await requireYes(output, options.repair);
  const names = tableName === undefined ? [...sync.registry.keys()] : [tableName];
  const results: object[] = [];
  let isEqual = true;
  for (const name of names) {
    const { result, lines } = await compareOne(tools, sync, name, options);
    results.push({ table: name, ...result });
    output.print(...lines);
    const differing = result.different + result.missingHere + result.missingThere;
    if (differing > (result.repaired ?? 0)) isEqual = false;
  }
  output.printJson(tableName === undefined ? { tables: results } : results[0]);
  return isEqual ? EXIT.success : EXIT.partial;
}

/** Asks on a terminal before rows are removed. Throws `conflict` for a no. */
async function requireYes(output: Output, repair: CompareRepair | undefined): Promise<void> {
  // The comparison itself refuses a removal without an end.
  if (!output.isTerminal || (repair !== "push" && repair !== "pull")) return;
  const where = repair === "pull" ? "here" : "at the remote";
  const isYes = await confirm(`Remove rows ${where} that the other end lacks?`);
  if (!isYes) throw new AppError("conflict", "Nothing was compared or removed");
}

async function compareOne(
  { interruption }: CommandTools,
  sync: SyncDeps,
  tableName: string,
  options: CompareOptions,
): Promise<{ readonly result: CompareResult; readonly lines: readonly string[] }> {
  const values = new Map<JsonObject, string[]>();
  const started = new StartedComparison(sync, {
    tableName,
    trigger: "cli",
    repair: options.repair ?? null,
    deletes: options.delete === true,
    maxDeletes: options.maxDeletes ?? null,
    isForced: options.force === true,
    onExample: (_, pair, key) => values.set(key, differingValues(pair)),
  });
  interruption.onStop(() => started.stop(`Cancelled by ${interruption.received()}`));
  const { result, error } = await started.outcome;
  if (error !== null) throw error;
  return { result, lines: resultLines(tableName, result, values) };
}

/** A line for each column that differs. */
function differingValues({ here, there }: RowPair): string[] {
  if (here === null || there === null) return [];
  return Object.keys(there)
    .filter((name) => Object.hasOwn(here, name))
    .map((name) => [name, valueText(here[name] ?? null), valueText(there[name] ?? null)] as const)
    .filter(([, own, other]) => own !== other)
    .map(([name, own, other]) => `    ${name}: ${own} here, ${other} there`);
}

function valueText(value: JsonValue): string {
  return cutText(JSON.stringify(value), MAX_VALUE_CHARS);
}

function resultLines(
  table: string,
  result: CompareResult,
  values: ReadonlyMap<JsonObject, readonly string[]>,
): string[] {
  const lines = [`${table}: ${countOf(result.matched, "row")} equal`];
  for (const [kind, text] of Object.entries(KINDS) as [keyof typeof KINDS, string][]) {
    if (result[kind] === 0) continue;
    lines.push(`${table}: ${countOf(result[kind], "row")} ${text}`);
    for (const key of result.examples[kind]) {
      lines.push(`  ${JSON.stringify(key)}`, ...(values.get(key) ?? []));
    }
  }
  if (result.erased !== undefined) {
    lines.push(`${table}: ${countOf(result.erased, "row")} of people erased here, left out`);
  }
  if (result.repaired !== undefined) lines.push(`${formatCount(result.repaired)} repaired`);
  if (result.kept !== undefined && result.kept > 0) {
    lines.push(`${formatCount(result.kept)} kept as they were`);
    for (const { key, reason } of result.examples.kept ?? []) {
      lines.push(`  ${JSON.stringify(key)}: ${reason}`);
    }
  }
  return lines;
}
