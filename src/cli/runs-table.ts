// The list of runs as a table that fits the terminal.
import { showHidden } from "../domain/shared/hidden-characters.ts";
import type { RunItem } from "../usecases/sync/runs/run-item.ts";
import type { Colour } from "./colours.ts";
import { durationText, formatCount, type Line, tableLines } from "./output.ts";

/** Characters of an id on a terminal, where that is enough to tell the runs apart. */
const SHORT_ID_CHARS = 8;
/** An error that is cut says as much at least; columns make room for it. */
const MIN_ERROR_CHARS = 24;

const COLUMNS = [
  ...(["run", "started", "by", "direction", "table", "status", "duration"] as const),
  ...(["pushed", "pulled", "changed", "kept", "deleted", "rejected"] as const),
];
type RunColumn = (typeof COLUMNS)[number];
type RunCells = Readonly<Record<RunColumn, string>>;
const NUMBERS = ["duration", "pushed", "pulled", "changed", "kept", "deleted", "rejected"];
/** What is left out first where the terminal is too narrow. */
const LESS_NEEDED: readonly RunColumn[] = [
  ...(["kept", "deleted", "changed", "by", "rejected", "pulled", "pushed"] as const),
  ...(["direction", "started", "duration"] as const),
];

const STATUS_COLOURS: Readonly<Record<RunItem["status"], Colour>> = {
  running: "cyan",
  success: "green",
  partial: "yellow",
  failed: "red",
};

/** Where the table goes to. */
interface Shown {
  /** Width of the terminal; absent elsewhere: ids, times and errors are whole, and no column is left out. */
  readonly columns?: number;
  /** True for whole ids on a terminal, too. */
  readonly hasWholeIds?: boolean;
}

/** One line for each run under a header; on a terminal columns are left out until the others and the errors fit. */
export function runsTable(
  runs: readonly RunItem[],
  { columns = 0, hasWholeIds = false }: Shown,
): Line[] {
  const width = columns > 0 ? columns : Number.POSITIVE_INFINITY;
  const isTerminal = columns > 0;
  const idChars = isTerminal && !hasWholeIds ? shortIdChars(runs) : Number.POSITIVE_INFINITY;
  const cells = runs.map((run) => runCells(run, { idChars, isTerminal }));
  const errorChars = runs.some(({ error }) => error !== undefined) ? MIN_ERROR_CHARS + 2 : 0;
  let shown: readonly RunColumn[] = COLUMNS;
  let lines = linesOf(cells, shown);
  for (const column of LESS_NEEDED) {
    if (longest(lines) + errorChars <= width) break;
    shown = shown.filter((name) => name !== column);
    lines = linesOf(cells, shown);
  }
  return coloured(runs, withErrors(runs, lines, width));
}

/** The lines before they are coloured, all columns but that of the error. */
function linesOf(cells: readonly RunCells[], columns: readonly RunColumn[]): string[] {
  const shown = columns.map((name) => [name, (row: RunCells) => row[name]] as const);
  return tableLines(cells, Object.fromEntries(shown), NUMBERS);
}

/** Errors stand behind the lines, cut to what is free. */
function withErrors(runs: readonly RunItem[], lines: readonly string[], width: number): string[] {
  const indent = longest(lines);
  const free = width - indent - 2;
  if (free < 1 || runs.every(({ error }) => error === undefined)) return [...lines];
  const texts = ["error", ...runs.map(({ error = "" }) => error)];
  return lines.map((line, i) => {
    const text = showHidden(texts[i] ?? "");
    if (text === "") return line;
    const cut = text.length <= free ? text : `${text.slice(0, free - 1)}…`;
    return `${line.padEnd(indent)}  ${cut}`;
  });
}

function coloured(runs: readonly RunItem[], lines: readonly string[]): Line[] {
  return lines.map((line, i) => {
    const status = runs[i - 1]?.status;
    if (status === undefined) return [{ colour: "bold", text: line }];
    const at = line.indexOf(`  ${status}`) + 2;
    const colour = STATUS_COLOURS[status];
    return [line.slice(0, at), { colour, text: status }, line.slice(at + status.length)];
  });
}

function runCells(
  run: RunItem,
  { idChars, isTerminal }: { readonly idChars: number; readonly isTerminal: boolean },
): RunCells {
  const common = {
    run: run.runId.slice(0, idChars),
    started: isTerminal ? run.startedAt.replace(/\.\d+Z$/, "Z") : run.startedAt,
    by: run.trigger,
    status: run.status,
    duration: durationText(run.durationMs),
  };
  if (run.kind === "compare") {
    const differing = run.different + run.missingHere + run.missingThere;
    return {
      ...{ ...common, direction: "compare", table: run.table },
      ...{ pushed: `${formatCount(differing)} differ`, pulled: "" },
      ...{ changed: formatCount(run.repaired ?? 0), kept: formatCount(run.kept ?? 0) },
      ...{ deleted: "", rejected: "" },
    };
  }
  const deleted = run.deletedHere + run.deletedThere;
  return {
    ...{ ...common, direction: run.direction, table: tableText(Object.keys(run.tables)) },
    ...{ pushed: formatCount(run.totalPushed), pulled: formatCount(run.totalPulled) },
    ...{ changed: formatCount(run.changed), kept: formatCount(run.kept) },
    ...{ deleted: formatCount(deleted), rejected: formatCount(run.errorCount) },
  };
}

function tableText(names: readonly string[]): string {
  return names.length > 1 ? `${names.length} tables` : (names[0] ?? "-");
}

/** The fewest characters, and `SHORT_ID_CHARS` at least, by which no two of these runs are taken for each other. */
function shortIdChars(runs: readonly RunItem[]): number {
  const ids = runs.map(({ runId }) => runId);
  let chars = SHORT_ID_CHARS;
  while (new Set(ids.map((id) => id.slice(0, chars))).size < new Set(ids).size) chars++;
  return chars;
}

function longest(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => line.length));
}
