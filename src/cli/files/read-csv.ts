import { pipeline, Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { AppError } from "../../domain/shared/errors.ts";
import type { JsonValue } from "../../domain/shared/json.ts";
import type { Column, Table } from "../../domain/sync/table/table.ts";
import type { FoundRecord } from "../../usecases/sync/files/import-rows.ts";
import { type CsvField, readCsvField } from "./csv-fields.ts";
import { MAX_RECORD_CHARS } from "./read-json.ts";

export interface CsvHeader {
  /** Names that are not columns of the table: their fields are ignored. */
  readonly unknown: readonly string[];
  /** Columns that the file does not have: they become null, as in a push. */
  readonly missing: readonly string[];
}

/** One record as the parser returns it; the parser counts a CRLF inside quotes as two lines. */
interface ParsedRecord {
  readonly record: readonly CsvField[];
  /** `lines`: number of the line on which it ends. */
  readonly info: { readonly lines: number };
}

const PART_RECORDS = 1_000;

/**
 * The records of a CSV file (RFC 4180, any line ends) whose first line names the columns. Throws `file_failed` for a
 * header that cannot be used and for unbalanced quotes, after the records before.
 */
export async function* readCsv(
  chunks: AsyncIterable<string>,
  table: Table,
  onHeader: (header: CsvHeader) => void,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  let columns: readonly (Column | null)[] | null = null;
  let part: FoundRecord[] = [];
  let extraLines = 0;
  try {
    for await (const parsed of parseCsv(chunks)) {
      const breaks = countBreaks(parsed.record);
      extraLines += breaks.crlf;
      const line = parsed.info.lines - extraLines - breaks.all;
      if (columns === null) {
        columns = readHeader(table, parsed.record);
        onHeader(compareHeader(table, columns, parsed.record));
        continue;
      }
      part.push(toRecord(columns, parsed.record, line));
      if (part.length < PART_RECORDS) continue;
      yield part;
      part = [];
    }
  } catch (error) {
    if (part.length > 0) yield part;
    throw error instanceof CsvError
      ? new AppError("file_failed", csvProblem(error), { cause: error })
      : error;
  }
  if (columns === null)
    throw new AppError("file_failed", "The CSV file is empty: its first line names columns");
  if (part.length > 0) yield part;
}

function parseCsv(chunks: AsyncIterable<string>): AsyncIterable<ParsedRecord> {
  const parser = parse({
    cast: (field, { quoting }): CsvField => (field === "" && !quoting ? null : field),
    info: true,
    max_record_size: MAX_RECORD_CHARS,
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // A failure destroys the parser, and reading it throws.
  pipeline(Readable.from(chunks), parser, () => {});
  return parser;
}

function readHeader(table: Table, names: readonly CsvField[]): (Column | null)[] {
  const columns = names.map((name) => table.pushColumns.find((c) => c.name === name) ?? null);
  const twice = names.find((name, i) => columns[i] !== null && names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new AppError("file_failed", `Line 1 names the column "${twice}" twice`);
  const lacking = table.keyColumns.filter((key) => !columns.includes(key));
  if (lacking.length > 0) {
    const keys = lacking.map(({ name }) => `"${name}"`).join(", ");
    throw new AppError(
      "file_failed",
      `Line 1 must name the columns of the file; it lacks the key of "${table.name}": ${keys}`,
    );
  }
  return columns;
}

function compareHeader(
  table: Table,
  columns: readonly (Column | null)[],
  names: readonly CsvField[],
): CsvHeader {
  return {
    unknown: names.filter((_, i) => columns[i] === null).map((name) => name ?? ""),
    missing: table.pushColumns
      .filter((column) => column.serialize && !columns.includes(column))
      .map(({ name }) => name),
  };
}

function countBreaks(fields: readonly CsvField[]) {
  const breaks = { all: 0, crlf: 0 };
  for (const field of fields) {
    for (const [lineEnd] of field?.matchAll(/\r\n|\r|\n/g) ?? []) {
      breaks.all++;
      if (lineEnd.length === 2) breaks.crlf++;
    }
  }
  return breaks;
}

function toRecord(
  columns: readonly (Column | null)[],
  fields: readonly CsvField[],
  line: number,
): FoundRecord {
  const place = { line, chars: fields.reduce((sum, field) => sum + (field?.length ?? 0), 0) };
  if (fields.length !== columns.length) {
    const problem = `has ${fields.length} fields where the header names ${columns.length}`;
    return { ...place, record: null, problem };
  }
  const record: Record<string, JsonValue> = {};
  for (const [i, column] of columns.entries()) {
    if (column === null) continue;
    const value = readCsvField(column, fields[i] ?? null);
    if (value === undefined) {
      return { ...place, record: null, problem: `${column.name} is not JSON` };
    }
    record[column.name] = value;
  }
  return { ...place, record, problem: null };
}

/** The parser's own messages quote the data. */
function csvProblem(error: CsvError): string {
  const line = "lines" in error ? `Line ${error.lines}` : "The CSV file";
  const problems: Partial<Record<string, string>> = {
    CSV_INVALID_CLOSING_QUOTE: "text follows the closing quote of a field",
    INVALID_OPENING_QUOTE: "a field that is not quoted contains a quote",
    CSV_QUOTE_NOT_CLOSED: "a quoted field does not end",
    CSV_MAX_RECORD_SIZE: "a record is too long: is it the right format?",
  };
  return `${line}: ${problems[error.code] ?? "is not CSV"}`;
}
