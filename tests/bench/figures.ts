// The published figures: kept in figures.json, from which the table of docs/performance.md is made.
import { readFileSync, writeFileSync } from "node:fs";
import { type BenchResult, barText, STORE_NAMES, type StoreName, verdict } from "./result.ts";

const FIGURES = new URL("figures.json", import.meta.url);
const DOCUMENT = new URL("../../docs/performance.md", import.meta.url);
const BEGIN = "<!-- bench:begin -->";
const END = "<!-- bench:end -->";

/** A result, and what it was taken on: date, commit, machine. */
export interface Figure extends BenchResult {
  readonly origin: string;
}

export function readFigures(): readonly Figure[] {
  return JSON.parse(readFileSync(FIGURES, "utf8"));
}

/** Keeps the results, each in place of its former figure, and makes the table anew. */
export function publishResults(results: readonly BenchResult[], origin: string): void {
  const measured = results.map((result) => ({ ...result, origin }));
  const figures = new Map([...readFigures(), ...measured].map((figure) => [figure.name, figure]));
  writeFileSync(FIGURES, `${JSON.stringify([...figures.values()], null, 2)}\n`);
  const [before, , after] = documentParts();
  writeFileSync(DOCUMENT, before + tableOf([...figures.values()]) + after);
  console.log("\nWritten to docs/performance.md");
}

/** What stands before the table, the table, and what stands behind it. */
export function documentParts(): readonly [string, string, string] {
  const text = readFileSync(DOCUMENT, "utf8");
  const begin = text.indexOf(BEGIN) + BEGIN.length;
  const end = text.indexOf(END);
  if (begin < BEGIN.length || end < begin)
    throw new Error("docs/performance.md has lost its marks");
  return [text.slice(0, begin), text.slice(begin, end), text.slice(end)];
}

/** A line for each thing that is measured, a column for each store; below it what the letters stand for. */
export function tableOf(figures: readonly Figure[]): string {
  const origins = [...new Set(figures.map(({ origin }) => origin))].sort();
  const rows = new Map<string, Map<StoreName, string>>();
  for (const figure of figures) {
    const [name, store] = splitName(figure.name);
    const cells = rows.get(name) ?? new Map<StoreName, string>();
    rows.set(name, cells.set(store, cellOf(figure, letterOf(origins.indexOf(figure.origin)))));
  }
  const lines = [
    ["measured", ...STORE_NAMES],
    ["---", ...STORE_NAMES.map(() => "---")],
    ...[...rows].map(([name, cells]) => [
      name,
      ...STORE_NAMES.map((store) => cells.get(store) ?? ""),
    ]),
  ];
  const table = lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const letters = origins.map((origin, i) => `- ${letterOf(i)}: ${origin}`).join("\n");
  return `\n${table}\n\n${letters}\n`;
}

/** What is measured, and the store it is measured on; without a name of one it is SQLite. */
function splitName(name: string): readonly [string, StoreName] {
  const store = STORE_NAMES.find((known) => name.endsWith(`, ${known}`));
  return store === undefined ? [name, "SQLite"] : [name.slice(0, -store.length - 2), store];
}

/** Bold where the bar is missed. */
function cellOf(figure: Figure, letter: string): string {
  const { ours, other, ratio, bar, percentiles, perCore } = figure;
  const number = ratio.toFixed(2);
  const told = verdict(figure) === "BELOW" ? `**${number}**` : number;
  const unit = unitOf(other);
  const short = (text: string) => (unitOf(text) === unit ? text.slice(0, -unit.length) : text);
  return [
    `${told}${bar === null ? "" : ` (${barText(bar)})`}: ${short(ours)} beside ${other}`,
    ...(percentiles === undefined ? [] : [percentiles]),
    ...(perCore === undefined ? [] : [`${short(perCore)} a core`]),
    letter,
  ].join("; ");
}

/** What stands behind the number. */
function unitOf(text: string): string {
  return text.replace(/^[\d.]+k?/, "");
}

function letterOf(index: number): string {
  return String.fromCharCode("A".charCodeAt(0) + index);
}
