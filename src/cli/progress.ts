// The progress of a command: bars on stderr of a terminal; elsewhere nothing but notes.
import { MultiBar, Presets, type SingleBar } from "cli-progress";
import { countOf, cutText, formatCount, showHidden } from "../domain/shared/text.ts";
import type { Output } from "./output.ts";

interface ProgressState {
  readonly rows: number;
  /** From 0 to 1; null when the total is unknown. */
  readonly part: number | null;
}

export interface Progress {
  update(state: ProgressState): void;
}

/** The jobs of one command, one line each. */
export interface ProgressBoard {
  start(label: string): Progress;
  /** Shows a line below the jobs until one goes on; without bars the line stays. */
  note(text: string): void;
  /** Ends the display; to be called before the last lines, also after a failure. Idempotent. */
  finish(): void;
}

const BAR_STEPS = 1_000;

const LONGEST_BAR_CHARS = 30;
const SHORTEST_BAR_CHARS = 5;
/** The longest first. `chars`: width without label and bar, for numbers of 8 digits. */
const LINES = [
  { format: "{label} [{bar}] {percentage}% | {rows} | {rate} rows/s", chars: 48, hasBar: true },
  { format: "{label} [{bar}] {percentage}% | {rows}", chars: 26, hasBar: true },
  { format: "{label} {percentage}% | {rows}", chars: 23, hasBar: false },
  { format: "{label} {percentage}%", chars: 5, hasBar: false },
] as const;

/** Labels are padded to `labelChars`. */
export function openProgress(output: Output, labelChars = 0): ProgressBoard {
  return output.isTerminal ? new BarBoard(labelChars) : plainBoard(output);
}

/** Shows the progress of a job until it ends. */
export async function withProgress<T>(
  output: Output,
  label: string,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const board = openProgress(output);
  try {
    return await work(board.start(label));
  } finally {
    board.finish();
  }
}

function plainBoard(output: Output): ProgressBoard {
  return {
    start: () => ({ update: () => {} }),
    note: (text) => {
      if (!output.isJson) output.warn(text);
    },
    finish: () => {},
  };
}

class BarBoard implements ProgressBoard {
  readonly #labelChars: number;
  readonly #bars = new MultiBar(
    { emptyOnZero: true, gracefulExit: false, hideCursor: true, stream: process.stderr },
    Presets.shades_classic,
  );
  #note: SingleBar | null = null;

  constructor(labelChars: number) {
    this.#labelChars = labelChars;
  }

  start(label: string): Progress {
    this.#removeNote();
    const startedAtMs = performance.now();
    const payload = (rows: number) => ({
      label: label.padEnd(this.#labelChars),
      rows: countOf(rows, "row"),
      rate: formatCount(rows / Math.max(0.001, (performance.now() - startedAtMs) / 1000)),
    });
    const line = lineFor(Math.max(label.length, this.#labelChars));
    const bar = this.#bars.create(BAR_STEPS, 0, payload(0), line);
    return {
      update: ({ rows, part }) => {
        this.#removeNote();
        bar.update(Math.floor((part ?? 0) * BAR_STEPS), payload(rows));
      },
    };
  }

  /** A bar of text only: no other line stays below the bars. */
  note(text: string): void {
    const payload = { text: cutText(showHidden(text), terminalColumns() - 1) };
    if (this.#note === null) this.#note = this.#bars.create(1, 0, payload, { format: "{text}" });
    else this.#note.update(0, payload);
  }

  finish(): void {
    this.#removeNote();
    this.#bars.stop();
  }

  #removeNote(): void {
    if (this.#note !== null) this.#bars.remove(this.#note);
    this.#note = null;
  }
}

/** The longest line that fits the terminal: a cut one would show wrong figures. */
function lineFor(labelChars: number) {
  const free = (line: (typeof LINES)[number]) => terminalColumns() - labelChars - line.chars;
  const fits = LINES.find((line) => free(line) >= (line.hasBar ? SHORTEST_BAR_CHARS : 0));
  const line = fits ?? LINES[3];
  return { format: line.format, barsize: Math.max(0, Math.min(LONGEST_BAR_CHARS, free(line))) };
}

/** 80 where the size is unknown: a terminal in a container may say 0. */
function terminalColumns(): number {
  return process.stderr.columns || 80;
}
