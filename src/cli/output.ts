// The output of commands: text for people or one JSON document on stdout, problems on stderr. Everything passes here, so that
// nothing that people wrote commands a terminal (D-11.3).
import { countOf, escapeHiddenInJson, formatCount, showHidden } from "../domain/shared/text.ts";
import { toWire } from "../domain/shared/wire-names.ts";

/** A part of a line that is coloured where its stream shows colours. */
interface ColouredPart {
  readonly colour: Colour;
  readonly text: string;
}

/** The longest wait without a word. */
const PATIENCE_MS = 4_000;

/** A line, or its parts; hidden characters in it are shown as numbers, line breaks too. */
export type Line = string | readonly (string | ColouredPart)[];

/** All of a list, or a part of it. */
interface ShownList<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string | null;
}

/** The columns of a table by their names, and what an item has there. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>;

/** The wishes for all output, among the options of every command. */
export interface OutputOptions {
  /** True for one JSON document instead of texts. */
  readonly json?: boolean;
  /** Errors only. */
  readonly quiet?: boolean;
}

export class Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** True when progress may be drawn: both streams are a terminal that can, and the output is neither JSON nor quiet. */
  readonly isTerminal: boolean;
  #failureFields: object = {};

  constructor({ json = false, quiet = false }: OutputOptions) {
    this.isJson = json;
    this.isQuiet = quiet;
    const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true;
    this.isTerminal = !json && !quiet && isTerminal && process.env["TERM"] !== "dumb";
  }

  /** The result of a command: its document for programs, and for people its lines. */
  show(document: unknown, ...lines: readonly Line[]): void {
    this.printJson(document);
    this.print(...lines);
  }

  /** Shows a list: its lines or the sentence that there is nothing, and how to go on. */
  showList<Item>(
    list: ShownList<Item>,
    none: string,
    linesOf: (items: readonly Item[]) => Line[],
  ): void {
    const { items, nextCursor = null } = list;
    this.show(list, ...(items.length === 0 ? [none] : linesOf(items)));
    if (nextCursor !== null) this.print(`More: --cursor ${nextCursor}`);
  }

  /** Lines on stdout, for people only. */
  print(...lines: readonly Line[]): void {
    if (!this.isJson && !this.isQuiet) writeLines(process.stdout, lines);
  }

  /** The exact text of a file on stdout. */
  printText(text: string): void {
    process.stdout.write(text);
  }

  /**
   * Writes a JSON document to stdout, for programs only, with the names of the wire. Call it once, or once per event of a
   * stream.
   */
  printJson(document: unknown): void {
    if (this.isJson) process.stdout.write(`${jsonLine(document)}\n`);
  }

  /** Fields for the document of a failure that comes next: what was done before it. */
  addToFailure(fields: object): void {
    this.#failureFields = fields;
  }

  /** The JSON document of a failure. */
  printJsonFailure(failure: object): void {
    this.printJson({ ...failure, ...this.#failureFields });
  }

  /** Lines on stderr, for people and programs, that tell no failure. */
  warn(...lines: readonly Line[]): void {
    if (!this.isQuiet) writeLines(process.stderr, lines);
  }

  /** Waits for somebody's answer, and says so where that takes long. D-7.11. */
  async waitFor<T>(whom: string, answer: Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.warn(`Still waiting for ${whom}`), PATIENCE_MS);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** As `warn`, for what went wrong. */
  tellError(...lines: readonly Line[]): void {
    writeLines(process.stderr, lines);
  }
}

function writeLines(stream: NodeJS.WriteStream, lines: readonly Line[]): void {
  for (const line of lines) stream.write(`${lineText(line, hasColours(stream))}\n`);
}

function lineText(line: Line, isColoured: boolean): string {
  if (typeof line === "string") return showHidden(line);
  const parts = line.map((part) => {
    if (typeof part === "string") return showHidden(part);
    const text = showHidden(part.text);
    return isColoured ? inColour(part.colour, text) : text;
  });
  return parts.join("");
}

function jsonLine(document: unknown): string {
  return escapeHiddenInJson(JSON.stringify(toWire(document)));
}

/** A line of names, and one for each item; columns in `right` are aligned right. */
export function tableLines<Item>(
  items: readonly Item[],
  columns: Columns<Item>,
  right: readonly string[] = [],
): string[] {
  const names = Object.keys(columns);
  const cells = items.map((item) => Object.values(columns).map((cellOf) => cellOf(item)));
  // Hidden characters count as they are shown.
  const rows = [names, ...cells].map((row) => row.map(showHidden));
  const widths = names.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const pad = (text: string, i: number) =>
    right.includes(names[i] ?? "") ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** A time in its greatest unit, such as `3 days`. */
export function ageText(seconds: number): string {
  if (seconds >= DAY_SECONDS) return countOf(Math.floor(seconds / DAY_SECONDS), "day");
  if (seconds >= HOUR_SECONDS) return countOf(Math.floor(seconds / HOUR_SECONDS), "hour");
  if (seconds >= MINUTE_SECONDS) return countOf(Math.floor(seconds / MINUTE_SECONDS), "minute");
  return countOf(Math.floor(seconds), "second");
}

/** The text of a duration, such as `0.4 s`, `59.9 s` or `3 min 05 s`. */
export function durationText(durationMs: number): string {
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${formatCount(Math.floor(seconds / 60))} min ${String(seconds % 60).padStart(2, "0")} s`;
}

export interface Throughput {
  readonly rows: number;
  readonly elapsedMs: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
}

/** Rows, rate and bytes saved, such as `10 rows, 500 rows/s, 80 of 320 bytes sent (75% saved)`. */
export function movedText(moved: Throughput): string {
  const { rows, elapsedMs, bytesCompressed, bytesUncompressed } = moved;
  if (rows === 0) return "0 rows";
  const rate = rows / Math.max(0.001, elapsedMs / 1000);
  const savedPercent = 100 * (1 - bytesCompressed / Math.max(1, bytesUncompressed));
  return (
    `${countOf(rows, "row")}, ${formatCount(rate)} rows/s, ` +
    `${formatCount(bytesCompressed)} of ${formatCount(bytesUncompressed)} bytes sent ` +
    `(${Math.max(0, savedPercent).toFixed(0)}% saved)`
  );
}

/** Ends both streams; resolves when everything written has left the process, or when its reader is gone. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.once("error", () => resolve());
      // Bun calls back after a write of nothing while earlier bytes still wait for a slow reader.
      stream.end(() => resolve());
    });
  }
}

// Colours of texts for people: on a terminal that has them, and where somebody asks for them. D-10.13.

export type Colour = "red" | "green" | "yellow" | "cyan" | "bold";

const CODES: Readonly<Record<Colour, readonly [begin: number, end: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  bold: [1, 22],
};

/**
 * True when a stream shows colours: a terminal that is not dumb. `NO_COLOR` takes them away, and before it is looked at
 * where a stream leads `FORCE_COLOR` gives them, or with `0` takes them away.
 */
export function hasColours(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = process.env;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return stream.isTTY === true && TERM !== "dumb";
}

/** The text in a colour, wherever it goes. */
export function inColour(colour: Colour, text: string): string {
  const [begin, end] = CODES[colour];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
}
