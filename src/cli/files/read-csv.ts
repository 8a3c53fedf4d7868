import { CsvError } from "csv-parse";
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
import { csvProblem, parseCsv } from "./parse-csv.ts";

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
  const headerLine = new HeaderLine(table, delimiter);
  try {
    for await (const { texts, line } of parseCsv(headerLine.watch(chunks), delimiter)) {
      if (fields === null) {
        fields = readHeader(table, texts, headerLine);
        onHeader(compareHeader(table, fields));
        continue;
      }
      part.push(toRecord(fields, texts, line));
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
