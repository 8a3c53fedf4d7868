import { formatCount, showHidden } from "../../../domain/shared/text.ts";
import type { ListedRun, SyncRun, TableResult } from "../../../domain/sync/run/run.ts";
import { findRun, listRuns } from "../../../usecases/sync/runs/stored-runs.ts";
import { type AddCommands, type CommandTools, declareCommand } from "../../command-runner.ts";
import { addListOptions, type ListOptions, wholeId } from "../../lists.ts";
import { type Colour, type Columns, durationText, type Line, tableLines } from "../../output.ts";
import { driftLines, movedTexts, outcomeTexts } from "../../run-view.ts";

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
  const found = await findRun(sync, await wholeId(id, (query) => listRuns(sync, query)));
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
  const moved = [...movedTexts(pushed, pulled), ...outcomeTexts(result)];
  const counts = [...moved, `${formatCount(errorCount)} rejected`];
  const notes = [...driftLines(table, result), ...warnings.map((text) => `${table}: ${text}`)];
  return [`${table}: ${counts.join(", ")}`, ...notes].map((line) => `  ${line}`);
}

// The list of runs, fitted to the terminal.

/** The least characters of an id on a terminal. */
const SHORT_ID_CHARS = 8;
/** The least characters of an error; columns make room for it. */
const MIN_ERROR_CHARS = 24;

const NUMBERS = ["duration", "pushed", "pulled", "changed", "kept", "deleted", "rejected"];
/** Columns left out on a narrow terminal, in this order. */
const LESS_NEEDED: readonly string[] = [
  ...["kept", "deleted", "changed", "by", "rejected", "pulled", "pushed"],
  ...["direction", "started", "duration"],
];

const STATUS_COLOURS: Readonly<Record<ListedRun["status"], Colour>> = {
  running: "cyan",
  success: "green",
  partial: "yellow",
  failed: "red",
};

interface Shown {
  /** Width of the terminal; absent elsewhere: then nothing is cut or left out. */
  readonly columns?: number;
  /** True for whole ids on a terminal, too. */
  readonly hasWholeIds?: boolean;
}

/** A line for each run under a header; on a terminal columns are left out until the others and the errors fit. */
export function runsTable(
  runs: readonly ListedRun[],
  { columns: chars = 0, hasWholeIds = false }: Shown,
): Line[] {
  const isTerminal = chars > 0;
  const width = isTerminal ? chars : Number.POSITIVE_INFINITY;
  const idChars = isTerminal && !hasWholeIds ? shortIdChars(runs) : Number.POSITIVE_INFINITY;
  const errorChars = runs.some(({ error }) => error !== undefined) ? MIN_ERROR_CHARS + 2 : 0;
  let columns = columnsOf(idChars, isTerminal);
  let lines = tableLines(runs, columns, NUMBERS);
  for (const column of LESS_NEEDED) {
    if (longest(lines) + errorChars <= width) break;
    const { [column]: _, ...others } = columns;
    columns = others;
    lines = tableLines(runs, columns, NUMBERS);
  }
  return coloured(runs, withErrors(runs, lines, width));
}

/** Adds errors behind the lines, cut to the free width. */
function withErrors(runs: readonly ListedRun[], lines: readonly string[], width: number): string[] {
  const indent = longest(lines);
  const free = width - indent - 2;
  if (free < 1 || runs.every(({ error }) => error === undefined)) return [...lines];
  const texts = ["error", ...runs.map(({ error }) => error)];
  return lines.map((line, i) => {
    const text = showHidden(texts[i] ?? "");
    if (text === "") return line;
    const cut = text.length <= free ? text : `${text.slice(0, free - 1)}…`;
    return `${line.padEnd(indent)}  ${cut}`;
  });
}

function coloured(runs: readonly ListedRun[], lines: readonly string[]): Line[] {
  return lines.map((line, i) => {
    const status = runs[i - 1]?.status;
    if (status === undefined) return [{ colour: "bold", text: line }];
    const at = line.indexOf(`  ${status}`) + 2;
    const colour = STATUS_COLOURS[status];
    return [line.slice(0, at), { colour, text: status }, line.slice(at + status.length)];
  });
}

/** All columns but the error. A comparison moves nothing, so it has no such counts. */
function columnsOf(idChars: number, isTerminal: boolean): Columns<ListedRun> {
  const moved = (countOf: (run: SyncRun) => number) => (run: ListedRun) =>
    run.kind === "compare" ? "" : formatCount(countOf(run));
  return {
    run: ({ runId }) => runId.slice(0, idChars),
    started: ({ startedAt }) => (isTerminal ? startedAt.replace(/\.\d+Z$/, "Z") : startedAt),
    by: ({ trigger }) => trigger,
    direction: (run) => (run.kind === "compare" ? "compare" : run.direction),
    table: (run) => (run.kind === "compare" ? run.table : tableText(Object.keys(run.tables))),
    status: ({ status }) => status,
    duration: ({ durationMs }) => durationText(durationMs),
    pushed: (run) =>
      run.kind === "compare"
        ? `${formatCount(run.different + run.missingHere + run.missingThere)} differ`
        : formatCount(run.totalPushed),
    pulled: moved(({ totalPulled }) => totalPulled),
    changed: (run) => formatCount(run.kind === "compare" ? (run.repaired ?? 0) : run.changed),
    kept: ({ kept }) => formatCount(kept ?? 0),
    deleted: moved(({ deletedHere, deletedThere }) => deletedHere + deletedThere),
    rejected: moved(({ errorCount }) => errorCount),
  };
}

function tableText(names: readonly string[]): string {
  return names.length > 1 ? `${names.length} tables` : (names[0] ?? "-");
}

/** The fewest characters, at least `SHORT_ID_CHARS`, that tell these runs apart. */
function shortIdChars(runs: readonly ListedRun[]): number {
  const ids = runs.map(({ runId }) => runId);
  let chars = SHORT_ID_CHARS;
  while (new Set(ids.map((id) => id.slice(0, chars))).size < new Set(ids).size) chars++;
  return chars;
}

function longest(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => line.length));
}
