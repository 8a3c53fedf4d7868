// Takes a CSV file apart into the fields of its records.
import { type CsvError, parse } from "csv-parse";
import type { CsvField } from "./csv-fields.ts";
import { MAX_RECORD_CHARS } from "./read-json.ts";

/** One record, or the header. */
export interface CsvRecord {
  readonly texts: readonly CsvField[];
  /** Line on which it begins, from 1. */
  readonly line: number;
}

/**
 * The lines of a CSV file (RFC 4180, any line ends), the header too, parsed part by part, so that the records before a place that is no
 * CSV come before the `CsvError`.
 */
export async function* parseCsv(
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
export function csvProblem(error: CsvError): string {
  const line = "lines" in error ? `Line ${error.lines}` : "The CSV file";
  const problems: Partial<Record<string, string>> = {
    CSV_INVALID_CLOSING_QUOTE: "text follows the closing quote of a field",
    INVALID_OPENING_QUOTE: "a field that is not quoted contains a quote",
    CSV_QUOTE_NOT_CLOSED: "a quoted field does not end",
    CSV_MAX_RECORD_SIZE: "a record is too long: is it the right format?",
  };
  return `${line}: ${problems[error.code] ?? "is not CSV"}`;
}
