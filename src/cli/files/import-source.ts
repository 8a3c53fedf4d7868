// What an import reads: a file of records, standard input, or a table of a SQLite file.

import { fileFormats } from "../../app/files.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { FileFormat, FoundRecord } from "../../ports/files.ts";
import type { ForeignDatabase } from "../../ports/tables/foreign-database.ts";
import { CsvColumns, type CsvHeader } from "../../usecases/sync/files/csv-columns.ts";
import { fromCallersFolder, readFileArguments } from "./file-arguments.ts";
import { TextSource } from "./read-text.ts";
import { findForeignTable, isSqliteFile, openSqliteFile, recordsOf } from "./sqlite-file.ts";

interface CsvOptions {
  readonly table: Table;
  /** One character between two fields; a comma when it is absent. */
  readonly delimiter?: string;
  onHeader(header: CsvHeader): void;
}

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

/** Opens what the caller named. Throws `invalid_request`, `unknown_table` and `file_failed`. */
export async function openImportSource(
  tableName: string,
  path: string,
  asked: FileFormat | undefined,
): Promise<ImportSource> {
  const meant = fromCallersFolder(path);
  if (asked === undefined && (await isSqliteFile(meant))) {
    return await openSqliteFile(meant, (database) => tableOf(database, tableName));
  }
  const request = readFileArguments(tableName, path, asked);
  const source = await TextSource.open(request.path);
  return {
    format: request.format,
    totalBytes: source.totalBytes,
    bytesRead: () => source.bytesRead(),
    records: (csv) => fileRecords(request.format, source, csv),
    close: () => source.close(),
  };
}

/** With the values that fields of CSV have in their columns. */
async function* fileRecords(
  format: FileFormat,
  { chunks }: TextSource,
  { table, delimiter = ",", onHeader }: CsvOptions,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  const header = new CsvColumns(table, onHeader);
  for await (const part of fileFormats.read(format, chunks, { delimiter, header })) {
    yield format === "csv" ? part.map((found) => header.read(found)) : part;
  }
}

function tableOf(database: ForeignDatabase, tableName: string): ImportSource {
  const table = findForeignTable(database, tableName);
  return {
    format: "sqlite",
    totalBytes: null,
    bytesRead: () => 0,
    records: () => recordsOf(table),
    close: () => database.close(),
  };
}
