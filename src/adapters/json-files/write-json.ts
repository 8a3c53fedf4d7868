import type { Column, Row } from "../../domain/sync/table/table.ts";
import type { RowEncoder } from "../../ports/files.ts";

/** Writes a JSON array, a row per line. */
export function jsonEncoder(columns: readonly Column[]): RowEncoder {
  let separator = "\n";
  return {
    begin: () => "[",
    encode: (rows) => {
      const part = separator + rows.map((row) => rowText(columns, row)).join(",\n");
      separator = ",\n";
      return part;
    },
    end: () => "\n]\n",
  };
}

/** Writes a row per line. */
export function ndjsonEncoder(columns: readonly Column[]): RowEncoder {
  return {
    begin: () => "",
    encode: (rows) => rows.map((row) => `${rowText(columns, row)}\n`).join(""),
    end: () => "",
  };
}

function rowText(columns: readonly Column[], row: Row): string {
  return JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])));
}
