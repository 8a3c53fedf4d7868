import { stringify } from "csv-stringify/sync";
import { comparedColumns } from "../../domain/sync/rows/row-text.ts";
import type { Column, Row, Table } from "../../domain/sync/table/table.ts";
import { csvField } from "./csv-fields.ts";
import type { FileFormat } from "./file-arguments.ts";

interface RowEncoder {
  begin(): string;
  encode(rows: readonly Row[]): string;
  end(): string;
}

/** An empty text is not null, and other programs trim fields that are not quoted. */
const QUOTED_FIELDS = /^$|^[\s\uFEFF]|\s$/;

/** Starts a file of a table's rows, with the columns that runs move, in the order of the registry. */
export function startRowEncoder(format: FileFormat, table: Table): RowEncoder {
  const compared = comparedColumns(table);
  const columns = table.columns.filter((column) => compared.includes(column));
  switch (format) {
    case "json":
      return new JsonEncoder(columns);
    case "ndjson":
      return {
        begin: () => "",
        encode: (rows) => rows.map((row) => `${JSON.stringify(ordered(columns, row))}\n`).join(""),
        end: () => "",
      };
    case "csv":
      return {
        begin: () => csvLines([columns.map(({ name }) => name)]),
        encode: (rows) =>
          csvLines(rows.map((row) => columns.map((c) => csvField(c, row[c.name] ?? null)))),
        end: () => "",
      };
  }
}

/** One JSON array, a row per line. */
class JsonEncoder implements RowEncoder {
  readonly #columns: readonly Column[];
  #separator = "\n";

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
  }

  begin(): string {
    return "[";
  }

  encode(rows: readonly Row[]): string {
    const text = rows.map((row) => JSON.stringify(ordered(this.#columns, row))).join(",\n");
    const part = `${this.#separator}${text}`;
    this.#separator = ",\n";
    return part;
  }

  end(): string {
    return "\n]\n";
  }
}

function ordered(columns: readonly Column[], row: Row): Row {
  return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
}

function csvLines(records: readonly (readonly (string | null)[])[]): string {
  return stringify(records as (string | null)[][], { quoted_match: [QUOTED_FIELDS] });
}
