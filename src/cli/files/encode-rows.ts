import { stringify } from "csv-stringify/sync";
import { spreadsheetField } from "../../domain/shared/spreadsheet-field.ts";
import { comparedColumns } from "../../domain/sync/rows/row-text.ts";
import type { Column, Row, Table } from "../../domain/sync/table/table.ts";
import { type CsvField, csvField } from "./csv-fields.ts";
import type { FileFormat } from "./file-arguments.ts";

export interface RowEncoder {
  begin(): string;
  encode(rows: readonly Row[]): string;
  end(): string;
}

/** An empty text is not null, and other programs trim fields that are not quoted. */
const QUOTED_FIELDS = /^$|^[\s\uFEFF]|\s$/;

/**
 * Starts a file of a table's rows, with the columns that runs move, in the order of the registry. A CSV file may be made for
 * spreadsheets, which run some fields (D-11.3).
 */
export function startRowEncoder(
  format: FileFormat,
  table: Table,
  isForSpreadsheet: boolean,
): RowEncoder {
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
        encode: (rows) => csvLines(rows.map((row) => csvFields(columns, row, isForSpreadsheet))),
        end: () => "",
      };
  }
}

function csvFields(columns: readonly Column[], row: Row, isForSpreadsheet: boolean): CsvField[] {
  const fields = columns.map((column) => csvField(column, row[column.name] ?? null));
  if (!isForSpreadsheet) return fields;
  return fields.map((field) => (field === null ? null : spreadsheetField(field)));
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

function csvLines(records: readonly (readonly CsvField[])[]): string {
  return stringify(records as CsvField[][], { quoted_match: [QUOTED_FIELDS] });
}
