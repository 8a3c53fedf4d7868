import { CsvError, parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { AppError, isAppError } from "../../domain/shared/errors.ts";
import { countOf, spreadsheetField } from "../../domain/shared/text.ts";
import { type CsvField, csvField } from "../../domain/sync/rows/csv-fields.ts";
import type { Column, Row } from "../../domain/sync/table/table.ts";
import type { FoundRecord, ReadOptions, RowEncoder, WriteOptions } from "../../ports/files.ts";
import { HeaderLine, takeSeparator } from "./delimiters.ts";
import { type CsvBlock, CsvSplitter } from "./split-csv.ts";

interface CsvRecord {
  readonly texts: readonly CsvField[];
  /** The first line of the record, from 1. */
  readonly line: number;
}

const PART_RECORDS = 1_000;

const PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  CSV_INVALID_CLOSING_QUOTE: "text follows the closing quote of a field",
  INVALID_OPENING_QUOTE: "a field that is not quoted contains a quote",
  CSV_QUOTE_NOT_CLOSED: "a quoted field does not end",
};

/** Reads RFC 4180 with any line ends. A `file_failed` of the port may have a hint at the delimiter. */
export async function* readCsv(
  chunks: AsyncIterable<string>,
  { delimiter: usual, header, onNames }: ReadOptions,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  const { separator, rest } = await takeSeparator(chunks);
  const delimiter = separator ?? usual;
  const line = new HeaderLine(delimiter, header);
  let names: readonly string[] | null = null;
  let part: FoundRecord[] = [];
  try {
    for await (const records of parseCsv(line.watch(rest), delimiter, separator === null ? 1 : 2)) {
      for (const { texts, line: at } of records) {
        if (names === null) {
          names = namesOf(texts, at, header, line);
          onNames?.(names);
          continue;
        }
        part.push(toRecord(names, texts, at));
        if (part.length < PART_RECORDS) continue;
        yield part;
        part = [];
      }
    }
  } catch (error) {
    if (part.length > 0) yield part;
    if (names !== null || !isAppError(error, "file_failed") || error.cause === undefined)
      throw error;
    throw new AppError("file_failed", error.message, { cause: error, hint: line.hint() });
  }
  if (names === null && header !== null) {
    throw new AppError("file_failed", "The CSV file is empty: its first line names columns");
  }
  if (part.length > 0) yield part;
}

function namesOf(
  texts: readonly CsvField[],
  at: number,
  header: ReadOptions["header"],
  line: HeaderLine,
): readonly string[] {
  const names = texts.map((text) => text ?? "");
  const problem = header === null ? nameTwice(names, at) : header.problemOf(names, at);
  if (problem !== null) throw new AppError("file_failed", problem, { hint: line.hint() });
  header?.take(names, at);
  return names;
}

function nameTwice(names: readonly string[], line: number): string | null {
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  return twice === undefined ? null : `Line ${line} names the column "${twice}" twice`;
}

function toRecord(names: readonly string[], texts: readonly CsvField[], line: number): FoundRecord {
  const place = { line, chars: texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) };
  if (texts.length !== names.length) {
    const problem = `has ${countOf(texts.length, "field")} where the header names ${names.length}`;
    return { ...place, record: null, problem };
  }
  // `Object.fromEntries` keeps a column `__proto__`, which an assignment would not.
  const record = Object.fromEntries(names.map((name, i) => [name, texts[i] ?? null]));
  return { ...place, record, problem: null };
}

/** Yields the lines with the header. At a place that is no CSV, it throws after the lines before. */
async function* parseCsv(
  chunks: AsyncIterable<string>,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<readonly CsvRecord[], void, undefined> {
  const splitter = new CsvSplitter(delimiter, firstLine);
  for await (const chunk of chunks) {
    for (const block of splitter.take(chunk)) yield* parseBlock(block, delimiter);
  }
  const rest = splitter.rest();
  if (rest !== null) yield* parseBlock(rest, delimiter);
}

function* parseBlock(
  block: CsvBlock,
  delimiter: string,
): Generator<readonly CsvRecord[], void, undefined> {
  if (!block.hasQuotes) {
    yield linesOf(block, delimiter);
    return;
  }
  const parsed: CsvRecord[] = [];
  let extraLines = 0;
  try {
    parse(block.text, {
      cast: (field, { quoting }): CsvField => (field === "" && !quoting ? null : field),
      delimiter,
      on_record: (texts: readonly CsvField[], { lines }) => {
        // The parser tells the line on which a record ends, and counts a CRLF inside quotes as two lines.
        const breaks = countBreaks(texts);
        extraLines += breaks.crlf;
        parsed.push({ texts, line: block.line - 1 + lines - extraLines - breaks.all });
        return null;
      },
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch (error) {
    yield parsed;
    if (!(error instanceof CsvError)) throw error;
    // A quote that is never closed reaches to the end of the file.
    const hasPlace = "lines" in error && error.code !== "CSV_QUOTE_NOT_CLOSED";
    const line = hasPlace ? block.line - 1 + Number(error.lines) : block.line;
    const problem = `Line ${line}: ${PROBLEMS[error.code] ?? "is not CSV"}`;
    throw new AppError("file_failed", problem, { cause: error });
  }
  yield parsed;
}

function linesOf({ text, line }: CsvBlock, delimiter: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  const lines = text.split(text.includes("\r") ? /\r\n|\n|\r/ : "\n");
  for (const [i, one] of lines.entries()) {
    if (one === "") continue;
    const texts: CsvField[] = one.split(delimiter);
    for (let field = 0; field < texts.length; field++) if (texts[field] === "") texts[field] = null;
    records.push({ texts, line: line + i });
  }
  return records;
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
