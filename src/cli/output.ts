// The output of commands: text or one JSON document on stdout, problems on stderr. Everything passes here, so that no text of
// others commands a terminal (D-11.3).
import { countOf, escapeHiddenInJson, formatCount, showHidden } from "../domain/shared/text.ts";
import { toWire } from "../domain/shared/wire-names.ts";

/** Coloured where its stream shows colours. */
interface ColouredPart {
  readonly colour: Colour;
  readonly text: string;
}

const PATIENCE_MS = 4_000;

/** A line, or its parts; hidden characters and line breaks are shown as numbers. */
export type Line = string | readonly (string | ColouredPart)[];

interface ShownList<Item> {
  readonly items: readonly Item[];
  readonly nextCursor?: string | null;
}

/** Columns by name, and the cell of an item. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => string>>;

/** Of every command. */
export interface OutputOptions {
  /** True: one JSON document in place of texts. */
  readonly json?: boolean;
  /** Errors only. */
  readonly quiet?: boolean;
}

export class Output {
  readonly isJson: boolean;
  readonly isQuiet: boolean;
  /** True when progress may be drawn: both streams are a capable terminal, and output is neither JSON nor quiet. */
  readonly isTerminal: boolean;
  #failureFields: object = {};

  constructor({ json = false, quiet = false }: OutputOptions) {
    this.isJson = json;
    this.isQuiet = quiet;
    const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true;
    this.isTerminal = !json && !quiet && isTerminal && process.env["TERM"] !== "dumb";
  }

  /** The result of a command: a document for programs, lines for people. */
  show(document: unknown, ...lines: readonly Line[]): void {
    this.printJson(document);
    this.print(...lines);
  }

  /** A list: its lines or `none`, and how to go on. */
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

  /** A text on stdout as it is. */
  printText(text: string): void {
    process.stdout.write(text);
  }

  /** A JSON document on stdout, for programs only, with the names of the wire; once, or for each event of a stream. */
  printJson(document: unknown): void {
    if (!this.isJson) return;
    process.stdout.write(`${escapeHiddenInJson(JSON.stringify(toWire(document)))}\n`);
  }

  /** Fields for the document of a failure: what was done before it. */
  addToFailure(fields: object): void {
    this.#failureFields = fields;
  }

  printJsonFailure(failure: object): void {
    this.printJson({ ...failure, ...this.#failureFields });
  }

  /** Lines on stderr that tell no failure. */
  warn(...lines: readonly Line[]): void {
    if (!this.isQuiet) writeLines(process.stderr, lines);
  }

  /** Waits for an answer, and says so where that takes long. D-7.11. */
  async waitFor<T>(whom: string, answer: Promise<T>): Promise<T> {
    using _notice = setTimeout(() => this.warn(`Still waiting for ${whom}`), PATIENCE_MS);
    return await answer;
  }

  /** Lines on stderr that tell a failure. */
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

/** A line of names, and one for each item. `right`: columns aligned right. */
export function tableLines<Item>(
  items: readonly Item[],
  columns: Columns<Item>,
  right: readonly string[] = [],
): string[] {
  const names = Object.keys(columns);
  const cells = items.map((item) => Object.values(columns).map((cellOf) => cellOf(item)));
  // Hidden characters count as shown.
  const rows = [names, ...cells].map((row) => row.map(showHidden));
  const widths = names.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const pad = (text: string, i: number) =>
    right.includes(names[i] ?? "") ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

const SECOND = [1, "second"] as const;
/** By their seconds. */
const UNITS = [[86_400, "day"], [3_600, "hour"], [60, "minute"], SECOND] as const;

/** In the greatest unit, such as `3 days`. */
export function ageText(seconds: number): string {
  const [length, unit] = UNITS.find(([length]) => seconds >= length) ?? SECOND;
  return countOf(Math.floor(seconds / length), unit);
}

/** Such as `0.4 s`, `59.9 s` or `3 min 05 s`. */
export function durationText(durationMs: number): string {
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${formatCount(Math.floor(seconds / 60))} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Ends both streams; resolves when everything has left the process, or the reader is gone. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.once("error", () => resolve());
      // Not an empty write: Bun calls back after it while earlier bytes wait for a slow reader.
      stream.end(() => resolve());
    });
  }
}

// Colours: on terminals that have them, and on demand. D-10.13.

export type Colour = "red" | "green" | "yellow" | "cyan" | "bold";

const CODES: Readonly<Record<Colour, readonly [begin: number, end: number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  bold: [1, 22],
};

/**
 * True when a stream shows colours: by default a terminal that is not dumb. `NO_COLOR` removes them; else `FORCE_COLOR` forces
 * them, or with `0` removes them.
 */
export function hasColours(stream: { readonly isTTY?: boolean }): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = process.env;
  if (NO_COLOR !== "") return false;
  if (FORCE_COLOR !== "") return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return stream.isTTY === true && TERM !== "dumb";
}

/** In a colour, on any stream. */
export function inColour(colour: Colour, text: string): string {
  const [begin, end] = CODES[colour];
  return `\u001b[${begin}m${text}\u001b[${end}m`;
}
