// What an import reads: a file of records, standard input, or a table of a SQLite file.
import type { JsonObject } from "../../domain/shared/json.ts";
import type { FoundRecord } from "../../usecases/sync/files/record-reader.ts";
import { type FileFormat, fromCallersFolder, readFileArguments } from "./file-arguments.ts";
import { type CsvOptions, readCsv } from "./read-csv.ts";
import { readJsonArray, readNdjson } from "./read-json.ts";
import { TextSource } from "./read-text.ts";
import { findForeignTable, isSqliteFile, openSqliteFile } from "./sqlite-file.ts";

export interface ImportSource {
  readonly format: FileFormat | "sqlite";
  /** Length of the file; null when it is unknown, as of a pipe. */
  readonly totalBytes: number | null;
  /** Bytes read so far. */
  bytesRead(): number;
  /** Read them once. A table's rows count as lines. */
  records(csv: CsvOptions): AsyncIterable<readonly FoundRecord[]>;
  /** Ends the reading, also while it waits for a pipe. */
  close(): void;
}

/** Of a row of a database, for the estimate of memory. */
const ROW_CHARS = 200;

/** Opens what the caller named. Throws `invalid_request`, `unknown_table` and `file_failed`. */
export async function openImportSource(
  tableName: string,
  path: string,
  asked: FileFormat | undefined,
): Promise<ImportSource> {
  const meant = fromCallersFolder(path);
  if (asked === undefined && (await isSqliteFile(meant))) return openTableOf(meant, tableName);
  const request = readFileArguments(tableName, path, asked);
  const source = await TextSource.open(request.path);
  return {
    format: request.format,
    totalBytes: source.totalBytes,
    bytesRead: () => source.bytesRead(),
    records: (csv) => recordsOf(request.format, source, csv),
    close: () => source.close(),
  };
}

function recordsOf(
  format: FileFormat,
  source: TextSource,
  csv: CsvOptions,
): AsyncIterable<readonly FoundRecord[]> {
  switch (format) {
    case "json":
      return readJsonArray(source.chunks);
    case "ndjson":
      return readNdjson(source.chunks);
    case "csv":
      return readCsv(source.chunks, csv);
  }
}

async function openTableOf(path: string, tableName: string): Promise<ImportSource> {
  const database = await openSqliteFile(path);
  try {
    const table = findForeignTable(database, tableName);
    return {
      ...{ format: "sqlite", totalBytes: null, bytesRead: () => 0 },
      records: () => numbered(table.rows()),
      close: () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function* numbered(
  parts: Iterable<readonly JsonObject[]>,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  let line = 0;
  for (const part of parts) {
    yield part.map((record) => ({ line: ++line, chars: ROW_CHARS, record, problem: null }));
  }
}
