// The readers and encoders of files, without files.

import { fileFormats } from "../../../src/app/files.ts";
import { AppError } from "../../../src/domain/shared/errors.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { FileFormat, FoundRecord } from "../../../src/ports/files.ts";
import { CsvColumns, type CsvHeader } from "../../../src/usecases/sync/files/file-records.ts";

/** A text in parts of a length in characters: as a decoder makes them, none is cut in two. */
export async function* chunksOf(text: string, chars: number): AsyncGenerator<string> {
  const all = [...text];
  for (let i = 0; i < all.length; i += chars) yield all.slice(i, i + chars).join("");
}

/** The records of a text as an import reads them. */
export async function* recordsOf(
  format: FileFormat,
  options: {
    readonly table: Table;
    readonly text: string;
    readonly chunkChars?: number;
    readonly delimiter?: string;
    readonly onHeader?: (header: CsvHeader) => void;
  },
): AsyncGenerator<readonly FoundRecord[]> {
  const { table, text, chunkChars = 7, delimiter = ",", onHeader = () => {} } = options;
  const header = new CsvColumns(table, onHeader);
  const chunks = chunksOf(text, chunkChars);
  const { path } = table.files;
  for await (const part of fileFormats.read(format, chunks, { delimiter, header, path })) {
    yield format === "csv" ? part.map((found) => header.read(found)) : part;
  }
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
    return { found, problem: error instanceof AppError ? error.text : String(error) };
  }
}

/** A whole file of rows. */
export function fileText(format: FileFormat, table: Table, rows: readonly Row[]): string {
  const compared = table.movedColumns;
  const columns = table.columns.filter((column) => compared.includes(column));
  const encoder = fileFormats.encoder(format, columns, {
    form: table.files,
    isForSpreadsheet: false,
  });
  const parts = [encoder.begin()];
  for (const row of rows) parts.push(encoder.encode([row]));
  return [...parts, encoder.end()].join("");
}
