// What a command writes: text for people or one JSON document on stdout, problems on stderr.
import { toWire } from "../domain/shared/wire-names.ts";

export class Output {
  readonly isJson: boolean;
  /** True when progress may be drawn: both streams are a terminal that can, and the output is not JSON. */
  readonly isTerminal: boolean;
  #failureFields: object = {};

  constructor(isJson: boolean) {
    this.isJson = isJson;
    const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true;
    this.isTerminal = !isJson && isTerminal && process.env["TERM"] !== "dumb";
  }

  /** Lines on stdout, for people only. */
  print(...lines: readonly string[]): void {
    if (!this.isJson) for (const line of lines) process.stdout.write(`${line}\n`);
  }

  /** A whole text on stdout that is for people and programs alike. */
  printText(text: string): void {
    process.stdout.write(text);
  }

  /**
   * One JSON document on stdout, for programs only, with the names of the wire. Call it once, or once per event of a
   * stream.
   */
  printJson(document: unknown): void {
    if (this.isJson) process.stdout.write(`${JSON.stringify(toWire(document))}\n`);
  }

  /** Fields for the document of a failure that comes next: what was done before it. */
  addToFailure(fields: object): void {
    this.#failureFields = fields;
  }

  /** The JSON document of a failure. */
  printJsonFailure(failure: {
    readonly error: string;
    readonly problems?: readonly string[];
  }): void {
    this.printJson({ ...failure, ...this.#failureFields });
  }

  /** Lines on stderr, for people and programs. */
  warn(...lines: readonly string[]): void {
    for (const line of lines) process.stderr.write(`${line}\n`);
  }
}

/** Lines with columns; the first row has their names, and those in `right` are aligned right. */
export function tableLines(
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string[] {
  const names = rows[0] ?? [];
  const widths = names.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const pad = (text: string, i: number) =>
    right.includes(names[i] ?? "") ? text.padStart(widths[i] ?? 0) : text.padEnd(widths[i] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

/** A whole number with separators, such as `171,075`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A number and its noun, such as `1 row` or `2 rows`. */
export function countOf(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
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
