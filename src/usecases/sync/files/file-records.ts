// The records of a file, as the reader of its format finds them; fields of CSV by the columns of the table. D-4.12, D-10.3.
import type { JsonValue } from "../../../domain/shared/json.ts";
import { type CsvField, markedValue, readCsvField } from "../../../domain/sync/rows/csv-fields.ts";
import { matchColumn } from "../../../domain/sync/table/names.ts";
import type { Encoding } from "../../../domain/sync/table/registry-schema.ts";
import { type Column, ROW_NUMBER, type Table } from "../../../domain/sync/table/table.ts";
import type { FileFormat, FileFormats, FoundRecord, HeaderReader } from "../../../ports/files.ts";

/** The columns of a CSV file against those of its table. */
export interface CsvHeader {
  readonly line: number;
  /** Names that are no columns. */
  readonly unknown: readonly string[];
  /** Columns that are not imported, as the store numbers rows itself. */
  readonly numbered: readonly string[];
  /** Columns that the file lacks: they become null, as in a push. */
  readonly missing: readonly string[];
}

/** Records in the order of the file, in parts of any length; a header of CSV is told first. */
export type ReadRecords = (
  onHeader: (header: CsvHeader) => void,
) => AsyncIterable<readonly FoundRecord[]>;

interface TextFile {
  readonly format: FileFormat;
  readonly table: Table;
  /** The encoding of JSON; CSV has that of the table. */
  readonly encoding: Encoding | null;
  /** The text of the file. Called once. */
  chunks(encoding: Encoding | null): AsyncIterable<string>;
}

export function recordsOf(
  files: FileFormats,
  { format, table, encoding, chunks }: TextFile,
): ReadRecords {
  const { delimiter, path, encoding: usual } = table.files;
  return async function* read(onHeader) {
    const header = new CsvColumns(table, onHeader);
    const text = chunks(format === "csv" ? usual : encoding);
    for await (const part of files.read(format, text, {
      delimiter: delimiter ?? ",",
      header,
      path,
    })) {
      yield format === "csv" ? part.map((found) => header.read(found)) : part;
    }
  };
}

/** Reads the fields of a CSV file as values of the columns that its header names. */
export class CsvColumns implements HeaderReader {
  readonly #table: Table;
  readonly #onHeader: (header: CsvHeader) => void;
  #fields: readonly { readonly field: string; readonly column: Column | null }[] = [];

  constructor(table: Table, onHeader: (header: CsvHeader) => void) {
    this.#table = table;
    this.#onHeader = onHeader;
  }

  problemOf(names: readonly string[], line: number): string | null {
    const columns = names.flatMap((name) => matchColumn(this.#table, name) ?? []);
    const twice = columns.find((column, i) => columns.indexOf(column) !== i);
    if (twice !== undefined) return `Line ${line} names the column "${twice.name}" twice`;
    const lacking = this.#table.keyColumns.filter(
      (key) => !columns.includes(key) && !isNumbered(this.#table, key),
    );
    if (lacking.length === 0) return null;
    const keys = lacking.map(({ name }) => `"${name}"`).join(", ");
    return `Line ${line} must name the columns of the file; it lacks the key of "${this.#table.name}": ${keys}`;
  }

  take(names: readonly string[], line: number): void {
    this.#fields = names.map((field) => ({ field, column: matchColumn(this.#table, field) }));
    const { pushColumns } = this.#table;
    const named = this.#fields.map(({ column }) => column);
    this.#onHeader({
      line,
      unknown: names.filter((_, i) => named[i] === null),
      numbered: named.flatMap((column) =>
        column === null || pushColumns.includes(column) ? [] : column.name,
      ),
      missing: pushColumns
        .filter((column) => column.serialize && !named.includes(column))
        .filter((column) => !isNumbered(this.#table, column))
        .map(({ name }) => name),
    });
  }

  /** The record by column names, with their values. */
  read(found: FoundRecord): FoundRecord {
    if (found.problem !== null) return found;
    const record: Record<string, JsonValue> = {};
    const odd: string[] = [];
    const exact: string[] = [];
    const fields = found.record as Record<string, CsvField>;
    for (const { field, column } of this.#fields) {
      const text = fields[field] ?? null;
      const name = column?.name ?? field;
      if (column !== null && markedValue(text) !== undefined) exact.push(name);
      const value = column === null ? text : readCsvField(column, text, this.#table.files);
      if (value === undefined) odd.push(name);
      record[name] = value === undefined ? text : value;
    }
    if (odd.length + exact.length === 0) return { ...found, record };
    return { ...found, record, odd, exact };
  }
}

/** True for the column into which records are numbered. D-14.1. */
function isNumbered({ files }: Table, { name }: Column): boolean {
  return files.numberRows && name === ROW_NUMBER;
}
