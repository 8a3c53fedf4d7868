// Records of CSV files (RFC 4180, any line ends), by csv-parse.
import { CsvError, parse } from "csv-parse";
import { AppError } from "../../domain/shared/errors.ts";
import { MAX_RECORD_CHARS } from "../../domain/shared/limits.ts";
import type { CsvField } from "../../domain/sync/rows/csv-fields.ts";
import type { FoundRecord, ReadOptions } from "../../ports/files.ts";
import { HeaderLine } from "./delimiters.ts";

interface CsvRecord {
  readonly texts: readonly CsvField[];
  /** Line on which it begins, from 1. */
  readonly line: number;
}

const PART_RECORDS = 1_000;

const PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  CSV_INVALID_CLOSING_QUOTE: "text follows the closing quote of a field",
  INVALID_OPENING_QUOTE: "a field that is not quoted contains a quote",
  CSV_QUOTE_NOT_CLOSED: "a quoted field does not end",
  CSV_MAX_RECORD_SIZE: "a record is too long: is it the right format?",
};

/** The records by the names of the first line. Throws `file_failed` as the port says, with advice on the delimiter. */
export async function* readCsv(
  chunks: AsyncIterable<string>,
  { delimiter, header }: ReadOptions,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  const line = new HeaderLine(delimiter, header);
  let names: readonly string[] | null = null;
  let part: FoundRecord[] = [];
  try {
    for await (const { texts, line: at } of parseCsv(line.watch(chunks), delimiter)) {
      if (names === null) {
        names = texts.map((text) => text ?? "");
        const problem = header === null ? nameTwice(names) : header.problemOf(names);
        if (problem !== null) throw new AppError("file_failed", problem + line.advice());
        header?.take(names);
        continue;
      }
      part.push(toRecord(names, texts, at));
      if (part.length < PART_RECORDS) continue;
      yield part;
      part = [];
    }
  } catch (error) {
    if (part.length > 0) yield part;
    if (!(error instanceof CsvError)) throw error;
    const advice = names === null ? line.advice() : "";
    throw new AppError("file_failed", problemOf(error) + advice, { cause: error });
  }
  if (names === null && header !== null) {
    throw new AppError("file_failed", "The CSV file is empty: its first line names columns");
  }
  if (part.length > 0) yield part;
}

function nameTwice(names: readonly string[]): string | null {
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  return twice === undefined ? null : `Line 1 names the column "${twice}" twice`;
}

function toRecord(names: readonly string[], texts: readonly CsvField[], line: number): FoundRecord {
  const place = { line, chars: texts.reduce((sum, text) => sum + (text?.length ?? 0), 0) };
  if (texts.length !== names.length) {
    const problem = `has ${texts.length} fields where the header names ${names.length}`;
    return { ...place, record: null, problem };
  }
  const record = Object.fromEntries(names.map((name, i) => [name, texts[i] ?? null]));
  return { ...place, record, problem: null };
}

/** The lines, the header too, parsed part by part, so that those before a place that is no CSV come before the `CsvError`. */
async function* parseCsv(
  chunks: AsyncIterable<string>,
  delimiter: string,
): AsyncGenerator<CsvRecord, void, undefined> {
  const parsed: CsvRecord[] = [];
  let extraLines = 0;
  const parser = parse({
    cast: (field, { quoting }): CsvField => (field === "" && !quoting ? null : field),
    delimiter,
    max_record_size: MAX_RECORD_CHARS,
    on_record: (texts: readonly CsvField[], { lines }) => {
      // The parser tells the line on which a record ends, and counts a CRLF inside quotes as two lines.
      const breaks = countBreaks(texts);
      extraLines += breaks.crlf;
      parsed.push({ texts, line: lines - extraLines - breaks.all });
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

/** What is wrong, with its line. The parser's own messages quote the data. */
function problemOf(error: CsvError): string {
  const line = "lines" in error ? `Line ${error.lines}` : "The CSV file";
  return `${line}: ${PROBLEMS[error.code] ?? "is not CSV"}`;
}
