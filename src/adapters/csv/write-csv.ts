import { stringify } from "csv-stringify/sync";
import { spreadsheetField } from "../../domain/shared/text.ts";
import { type CsvField, csvField } from "../../domain/sync/rows/csv-fields.ts";
import type { Column, Row } from "../../domain/sync/table/table.ts";
import type { RowEncoder, WriteOptions } from "../../ports/files.ts";

/** Quotes tell an empty text from null, and keep spaces that other programs trim. */
const QUOTED_FIELDS = /^$|^[\s\uFEFF]|\s$/;

export function csvEncoder(
  columns: readonly Column[],
  { form, isForSpreadsheet }: WriteOptions,
): RowEncoder {
  const lines = (records: CsvField[][]) =>
    stringify(records, { delimiter: form.delimiter ?? ",", quoted_match: [QUOTED_FIELDS] });
  const shown = (field: CsvField) =>
    field === null || !isForSpreadsheet ? field : spreadsheetField(field);
  const fieldsOf = (row: Row): CsvField[] =>
    columns.map((column) => shown(csvField(column, row[column.name] ?? null, form)));
  return {
    begin: () => lines([columns.map(({ name }) => shown(form.headers.get(name) ?? name))]),
    encode: (rows) => lines(rows.map(fieldsOf)),
    end: () => "",
  };
}
