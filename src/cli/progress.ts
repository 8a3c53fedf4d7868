// How far a command has come: bars on a terminal, plain lines elsewhere, nothing beside JSON. All of it on stderr.
import { MultiBar, Presets } from "cli-progress";
import { countOf, formatCount, type Output } from "./output.ts";

/** How far one job has come. */
export interface ProgressState {
  readonly rows: number;
  /** From 0 to 1; null when nobody knows how much there is. */
  readonly part: number | null;
}

/** Shows how far one job has come. */
export interface Progress {
  update(state: ProgressState): void;
}

/** The jobs of one command, one below the other. */
export interface ProgressBoard {
  start(label: string): Progress;
  /** Ends the display; call it before the last lines, also after a failure. Idempotent. */
  finish(): void;
}

/** Part of a job, and rows of one whose end is unknown, after which a plain line is written. */
const PLAIN_STEP = 0.25;
const PLAIN_STEP_ROWS = 100_000;
/** Steps of a bar. */
const BAR_STEPS = 1_000;

const LONGEST_BAR_CHARS = 30;
const SHORTEST_BAR_CHARS = 5;
/** From the longest on, with what it has beside label and bar where numbers have 8 digits. */
const LINES = [
  { format: "{label} [{bar}] {percentage}% | {rows} | {rate} rows/s", chars: 48, hasBar: true },
  { format: "{label} [{bar}] {percentage}% | {rows}", chars: 26, hasBar: true },
  { format: "{label} {percentage}% | {rows}", chars: 23, hasBar: false },
  { format: "{label} {percentage}%", chars: 5, hasBar: false },
] as const;

/** Opens the display that fits where a command writes to; labels are made `labelChars` long. */
export function openProgress(
  output: Pick<Output, "isJson" | "isTerminal">,
  labelChars = 0,
): ProgressBoard {
  if (output.isJson) return { start: () => ({ update: () => {} }), finish: () => {} };
  return output.isTerminal ? openBars(labelChars) : { start: startLines, finish: () => {} };
}

function openBars(labelChars: number): ProgressBoard {
  const bars = new MultiBar(
    {
      emptyOnZero: true,
      gracefulExit: false,
      hideCursor: true,
      stream: process.stderr,
    },
    Presets.shades_classic,
  );
  return {
    start(label) {
      const startedAtMs = performance.now();
      const payload = (rows: number) => ({
        label: label.padEnd(labelChars),
        rows: countOf(rows, "row"),
        rate: formatCount(rows / Math.max(0.001, (performance.now() - startedAtMs) / 1000)),
      });
      const bar = bars.create(
        BAR_STEPS,
        0,
        payload(0),
        lineFor(Math.max(label.length, labelChars)),
      );
      return {
        update: ({ rows, part }) => bar.update(Math.floor((part ?? 0) * BAR_STEPS), payload(rows)),
      };
    },
    finish: () => bars.stop(),
  };
}

/** As much as the terminal has room for; what is left must never be cut, as cut figures are wrong ones. */
function lineFor(label: number): { readonly format: string; readonly barsize: number } {
  const columns = process.stderr.columns ?? Number.POSITIVE_INFINITY;
  const free = (line: (typeof LINES)[number]) => columns - label - line.chars;
  const fits = LINES.find((line) => free(line) >= (line.hasBar ? SHORTEST_BAR_CHARS : 0));
  const line = fits ?? LINES[3];
  return { format: line.format, barsize: Math.min(LONGEST_BAR_CHARS, free(line)) };
}

function startLines(label: string): Progress {
  let shownPart = 0;
  let shownRows = 0;
  let isFirst = true;
  const show = (state: string) => process.stderr.write(`${label} ${state}\n`);
  return {
    update({ rows, part }) {
      if (part === null) {
        if (rows - shownRows < PLAIN_STEP_ROWS) return;
        shownRows = rows;
        show(countOf(rows, "row"));
        return;
      }
      const step = Math.floor(part / PLAIN_STEP) * PLAIN_STEP;
      // What is done at once needs no progress.
      if (step <= shownPart || (isFirst && part >= 1)) return;
      isFirst = false;
      shownPart = step;
      show(`${Math.round(100 * part)}% (${countOf(rows, "row")})`);
    },
  };
}
