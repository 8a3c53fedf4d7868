// The readers and encoders of files, without files.

import type { CsvHeader } from "../../../src/cli/files/csv-header.ts";
import { startRowEncoder } from "../../../src/cli/files/encode-rows.ts";
import type { FileFormat } from "../../../src/cli/files/file-arguments.ts";
import { readCsv } from "../../../src/cli/files/read-csv.ts";
import { readJsonArray, readNdjson } from "../../../src/cli/files/read-json.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { FoundRecord } from "../../../src/usecases/sync/files/record-reader.ts";

/** A text in parts of a length in characters: as a decoder makes them, none is cut in two. */
export async function* chunksOf(text: string, chars: number): AsyncGenerator<string> {
  const all = [...text];
  for (let i = 0; i < all.length; i += chars) yield all.slice(i, i + chars).join("");
}

/** The records of a text as an import reads them. */
export function recordsOf(
  format: FileFormat,
  options: {
    readonly table: Table;
    readonly text: string;
    readonly chunkChars?: number;
    readonly delimiter?: string;
    readonly onHeader?: (header: CsvHeader) => void;
  },
): AsyncGenerator<readonly FoundRecord[]> {
  const { table, text, chunkChars = 7, delimiter, onHeader = () => {} } = options;
  const chunks = chunksOf(text, chunkChars);
  if (format === "csv")
    return readCsv(chunks, { table, onHeader, ...(delimiter === undefined ? {} : { delimiter }) });
  return format === "json" ? readJsonArray(chunks) : readNdjson(chunks);
}

/** All of them; what throws after some of them is the last one's problem. */
export async function readAll(
  records: AsyncIterable<readonly FoundRecord[]>,
): Promise<{ readonly found: readonly FoundRecord[]; readonly problem: string | null }> {
  const found: FoundRecord[] = [];
  try {
    for await (const part of records) found.push(...part);
    return { found, problem: null };
  } catch (error) {
    return { found, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** A whole file of rows. */
export function fileText(format: FileFormat, table: Table, rows: readonly Row[]): string {
  const encoder = startRowEncoder(format, table, false);
  const parts = [encoder.begin()];
  for (const row of rows) parts.push(encoder.encode([row]));
  return [...parts, encoder.end()].join("");
}
