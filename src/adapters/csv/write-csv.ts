import { stringify } from "csv-stringify/sync";
import { spreadsheetField } from "../../domain/shared/spreadsheet-field.ts";
import { type CsvField, csvField } from "../../domain/sync/rows/csv-fields.ts";
import type { Column, Row } from "../../domain/sync/table/table.ts";
import type { RowEncoder } from "../../ports/files.ts";

/** An empty text is not null, and other programs trim fields that are not quoted. */
const QUOTED_FIELDS = /^$|^[\s\uFEFF]|\s$/;

/** CSV with a line of names, by csv-stringify. */
export function csvEncoder(columns: readonly Column[], isForSpreadsheet: boolean): RowEncoder {
  const fieldsOf = (row: Row): CsvField[] =>
    columns.map((column) => {
      const field = csvField(column, row[column.name] ?? null);
      return field === null || !isForSpreadsheet ? field : spreadsheetField(field);
    });
  return {
    begin: () => csvLines([columns.map(({ name }) => name)]),
    encode: (rows) => csvLines(rows.map(fieldsOf)),
    end: () => "",
  };
}

function csvLines(records: CsvField[][]): string {
  return stringify(records, { quoted_match: [QUOTED_FIELDS] });
}
