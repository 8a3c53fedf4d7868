// What a command tells: text for people or one JSON document on stdout, problems on stderr.

import { toWire } from "../domain/shared/wire-names.ts";

/** Where a command writes to. */
export interface Output {
  readonly isJson: boolean;
  /** True when progress may be drawn: both streams are a terminal that can, and nobody asked for JSON. */
  readonly isTerminal: boolean;
  /** Lines on stdout, for people only. */
  print(...lines: readonly string[]): void;
  /** One JSON document on stdout, for programs only, with the names of the wire. Call it once, or once per event of a stream. */
  printJson(document: unknown): void;
  /** Lines on stderr, for both. */
  warn(...lines: readonly string[]): void;
}

/** Starts the output of one command. */
export function startOutput({ isJson }: { readonly isJson: boolean }): Output {
  const isTerminal = process.stdout.isTTY === true && process.stderr.isTTY === true;
  return {
    isJson,
    isTerminal: !isJson && isTerminal && process.env["TERM"] !== "dumb",
    print: (...lines) => {
      if (!isJson) for (const line of lines) process.stdout.write(`${line}\n`);
    },
    printJson: (document) => {
      if (isJson) process.stdout.write(`${JSON.stringify(toWire(document))}\n`);
    },
    warn: (...lines) => {
      for (const line of lines) process.stderr.write(`${line}\n`);
    },
  };
}

/** Columns side by side, the first row their names; the columns named in `right` end at their right side. */
export function tableLines(
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string[] {
  const names = rows[0] ?? [];
  const widths = names.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) =>
        right.includes(names[i] ?? "")
          ? cell.padStart(widths[i] ?? 0)
          : cell.padEnd(widths[i] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** A whole number with separators, such as `171,075`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A number and its noun, such as `1 row` or `2 rows`. */
export function countOf(value: number, noun: string): string {
  return `${formatCount(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/** Ends both streams; resolves when what was written has left the process, or when nobody reads it any more. */
export async function flushOutput(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => {
      stream.once("error", () => resolve());
      // Bun calls back after a write of nothing while earlier bytes still wait for a slow reader.
      stream.end(() => resolve());
    });
  }
}
