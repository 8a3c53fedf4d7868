// Prints the results, and keeps them in docs/performance.md.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { type BenchResult, verdict } from "./result.ts";

const DOCUMENT = new URL("../../docs/performance.md", import.meta.url);
const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";
const HEADINGS = ["measured", "repsync", "beside it", "ratio", "bar", ""];

/** What the numbers were taken on, in one line. */
export function describeMachine(): string {
  const cores = cpus();
  const memory = `${Math.floor(totalmem() / 2 ** 30)} GiB`;
  const platform = `${process.platform} ${process.arch}`;
  return `Bun ${Bun.version}, ${cores[0]?.model.trim()}, ${cores.length} cores, ${memory}, ${platform}`;
}

/** Prints the table. */
export function printResults(results: readonly BenchResult[]): void {
  const rows = [HEADINGS, ...results.map(cells)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  console.log();
  for (const row of rows) {
    console.log(
      row.map((cell, column) => pad(cell, { column, width: widths[column] ?? 0 })).join("  "),
    );
  }
}

/** Writes the results and their date between the markers in docs/performance.md, each in place of its former line. */
export function writeResults(results: readonly BenchResult[]): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error("docs/performance.md has lost its markers");
  const [, , ...former] = text.slice(begin, end).match(/^\| .*$/gm) ?? [];
  const alignments = ["---", "---:", "---:", "---:", "---:", "---", "---"];
  const heading = [[...HEADINGS, "date"], alignments].map(lineOf);
  const date = new Date().toISOString().slice(0, 10);
  const measured = results.map((result) => lineOf([...cells(result), date]));
  const lines = new Map([...former, ...measured].map((line) => [line.split(" | ")[0], line]));
  const table = [...heading, ...lines.values()].join("\n");
  const written = `${BEGIN}\n${describeMachine()}.\n\n${table}\n`;
  writeFileSync(DOCUMENT, text.slice(0, begin) + written + text.slice(end));
  console.log("\nWritten to docs/performance.md");
}

function lineOf(row: readonly string[]): string {
  return `| ${row.join(" | ")} |`;
}

function cells(result: BenchResult): string[] {
  const { name, ours, other, ratio, spread, bar } = result;
  const ratioText = ratio.toFixed(2) + (spread === undefined ? "" : ` (${spread})`);
  return [name, ours, other, ratioText, barText(bar), verdict(result)];
}

function barText(bar: BenchResult["bar"]): string {
  if (bar === null) return "";
  return "atLeast" in bar ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`;
}

/** The first column and the verdict are text; the others line up at their ends. */
function pad(cell: string, { column, width }: { column: number; width: number }): string {
  return column === 0 || column === HEADINGS.length - 1 ? cell.padEnd(width) : cell.padStart(width);
}
