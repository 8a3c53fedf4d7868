import { CsvError, parse } from "csv-parse";
import { AppError } from "../../domain/shared/errors.ts";
import type { JsonValue } from "../../domain/shared/json.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { FoundRecord } from "../../usecases/sync/files/record-reader.ts";
import { type CsvField, readCsvField } from "./csv-fields.ts";
import {
  type CsvHeader,
  compareHeader,
  type HeaderField,
  HeaderLine,
  readHeader,
} from "./csv-header.ts";
import { MAX_RECORD_CHARS } from "./read-json.ts";

/** One record as the parser returns it; the parser counts a CRLF inside quotes as two lines. */
interface ParsedRecord {
  readonly record: readonly CsvField[];
  /** Number of the line on which it ends. */
  readonly lines: number;
}

export interface CsvOptions {
  readonly table: Table;
  /** One character between two fields; a comma when it is absent. */
  readonly delimiter?: string;
  onHeader(header: CsvHeader): void;
}

const PART_RECORDS = 1_000;

/**
 * The records of a CSV file (RFC 4180, any line ends) whose first line names the columns, in any letter case. Throws
 * `file_failed` for a header that cannot be used and for unbalanced quotes, after the records before.
 */
export async function* readCsv(
  chunks: AsyncIterable<string>,
  { table, delimiter = ",", onHeader }: CsvOptions,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  let fields: readonly HeaderField[] | null = null;
  let part: FoundRecord[] = [];
  let extraLines = 0;
  const headerLine = new HeaderLine(table, delimiter);
  try {
    for await (const parsed of parseCsv(headerLine.watch(chunks), delimiter)) {
      const breaks = countBreaks(parsed.record);
      extraLines += breaks.crlf;
      const line = parsed.lines - extraLines - breaks.all;
      if (fields === null) {
        fields = readHeader(table, parsed.record, headerLine);
        onHeader(compareHeader(table, fields));
        continue;
      }
      part.push(toRecord(fields, parsed.record, line));
      if (part.length < PART_RECORDS) continue;
      yield part;
      part = [];
    }
  } catch (error) {
    if (part.length > 0) yield part;
    if (!(error instanceof CsvError)) throw error;
    const advice = fields === null ? headerLine.advice() : "";
    throw new AppError("file_failed", csvProblem(error) + advice, { cause: error });
  }
  if (fields === null)
    throw new AppError("file_failed", "The CSV file is empty: its first line names columns");
  if (part.length > 0) yield part;
}

/** Parses part by part, so that the records before a place that is no CSV come before the `CsvError`. */
async function* parseCsv(
  chunks: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<ParsedRecord, void, undefined> {
  const parsed: ParsedRecord[] = [];
  const parser = parse({
    cast: (field, { quoting }): CsvField => (field === "" && !quoting ? null : field),
    delimiter,
    max_record_size: MAX_RECORD_CHARS,
    on_record: (record: readonly CsvField[], { lines }) => {
      parsed.push({ record, lines });
      return null;
    },
    record_delimiter: ["\r\n", "\n", "\r"],
    relax_column_count: true,
    skip_empty_lines: true,
  });
  // The same failure is given to the callback of the call that meets it.
  parser.on("error", () => {});
  parser.resume();
  const take = async (give: (done: (error?: Error | null) => void) => void) => {
    const problem = await new Promise<Error | null>((resolve) => {
      give((error) => resolve(error ?? null));
    });
    return { records: parsed.splice(0), problem };
  };
  for await (const chunk of chunks) {
    const { records, problem } = await take((done) => parser.write(chunk, done));
    yield* records;
    if (problem !== null) throw problem;
  }
  const { records, problem } = await take((done) => parser.end(done));
  yield* records;
  if (problem !== null) throw problem;
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
  fields: readonly HeaderField[],
  texts: readonly CsvField[],
  line: number,
): FoundRecord {
  const place = { line, chars: texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) };
  if (texts.length !== fields.length) {
    const problem = `has ${texts.length} fields where the header names ${fields.length}`;
    return { ...place, record: null, problem };
  }
  const record: Record<string, JsonValue> = {};
  const notJson: string[] = [];
  for (const [i, { name, column }] of fields.entries()) {
    const text = texts[i] ?? null;
    const value = column === null ? text : readCsvField(column, text);
    if (value === undefined) notJson.push(name);
    record[name] = value === undefined ? text : value;
  }
  return { ...place, record, problem: null, ...(notJson.length > 0 ? { notJson } : {}) };
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
