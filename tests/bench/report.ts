// Prints the results, and says what they were taken on.
import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { type BenchResult, barText, verdict } from "./result.ts";

const ROOT = new URL("../..", import.meta.url);
const HEADINGS = [
  ...["measured", "repsync", "beside it", "ratio", "bar", ""],
  ...["50 / 95 of 100 turns", "a core"],
];

/** What the numbers were taken on. */
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

function cells(result: BenchResult): string[] {
  const { name, ours, other, ratio, spread, bar, percentiles = "", perCore = "" } = result;
  const ratioText = ratio.toFixed(2) + (spread === undefined ? "" : ` (${spread})`);
  return [name, ours, other, ratioText, barText(bar), verdict(result), percentiles, perCore];
}

/** The first column is text; the others line up at their ends. */
function pad(cell: string, { column, width }: { column: number; width: number }): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
