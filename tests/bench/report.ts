// Prints the results, and keeps them in docs/performance.md.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { type BenchResult, verdict } from "./result.ts";

const ROOT = new URL("../..", import.meta.url);
const DOCUMENT = new URL("docs/performance.md", ROOT);
const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";
const HEADINGS = [
  ...["measured", "repsync", "beside it", "ratio", "bar", ""],
  ...["50 / 95 of 100 turns", "a core"],
];

/** What the numbers were taken on, as it stands behind each published line. */
export function describeMachine(): string {
  const cores = cpus();
  return `Bun ${Bun.version}, ${cores.length} × ${cores[0]?.model.trim()}`;
}

/** The commit that is measured. Throws where the program differs from it. */
export function commitHere(): string {
  const git = (...args: string[]) => execFileSync("git", args, { cwd: ROOT }).toString().trim();
  const changed = git("status", "--porcelain", "src", "tests", "package.json");
  if (changed !== "") throw new Error(`Commit first what is measured:\n${changed}`);
  return git("rev-parse", "--short=8", "HEAD");
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

/** Writes the results, their date, commit and machine between the marks in docs/performance.md, each in place of its former line. */
export function publishResults(results: readonly BenchResult[], commit: string): void {
  const text = readFileSync(DOCUMENT, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 || end < begin) throw new Error("docs/performance.md has lost its marks");
  const [, , ...former] = text.slice(begin, end).match(/^\| .*$/gm) ?? [];
  const alignments = ["---", "---:", "---:", "---:", "---:", "---", "---:", "---:", "---"];
  const heading = [[...HEADINGS, "date, commit, machine"], alignments].map(lineOf);
  const date = new Date().toISOString().slice(0, 10);
  const origin = `${date}, ${commit}, ${describeMachine()}`;
  const measured = results.map((result) => lineOf([...cells(result), origin]));
  const lines = new Map([...former, ...measured].map((line) => [line.split(" | ")[0], line]));
  const table = [...heading, ...lines.values()].join("\n");
  const written = `${BEGIN}\n${table}\n`;
  writeFileSync(DOCUMENT, text.slice(0, begin) + written + text.slice(end));
  console.log("\nWritten to docs/performance.md");
}

function lineOf(row: readonly string[]): string {
  return `| ${row.join(" | ")} |`;
}

function cells(result: BenchResult): string[] {
  const { name, ours, other, ratio, spread, bar, percentiles = "", perCore = "" } = result;
  const ratioText = ratio.toFixed(2) + (spread === undefined ? "" : ` (${spread})`);
  return [name, ours, other, ratioText, barText(bar), verdict(result), percentiles, perCore];
}

function barText(bar: BenchResult["bar"]): string {
  if (bar === null) return "";
  return "atLeast" in bar ? `>= ${bar.atLeast}` : `<= ${bar.atMost}`;
}

/** The first column is text; the others line up at their ends. */
function pad(cell: string, { column, width }: { column: number; width: number }): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
