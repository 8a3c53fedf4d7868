// The sources of an import: a file of records, standard input, or a table of a SQLite file.
import { fileFormats } from "../../app/files.ts";
import { AppError } from "../../domain/shared/errors.ts";
import type { Encoding } from "../../domain/sync/table/registry-schema.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { FileFormat, ForeignDatabase, ForeignTable, FoundRecord } from "../../ports/files.ts";
import {
  type CsvHeader,
  recordsOf as fileRecords,
} from "../../usecases/sync/files/file-records.ts";
import { delimiterByName, fromCallersFolder, readFileArguments } from "./file-arguments.ts";
import {
  findForeignTable,
  isSqliteFile,
  openSqliteFile,
  recordsOf,
  TextSource,
} from "./input-files.ts";

interface ReadingOptions {
  readonly table: Table;
  /** The encoding of JSON; CSV has that of the table. */
  readonly encoding: Encoding | null;
  onHeader(header: CsvHeader): void;
}

export interface ImportSource {
  readonly format: FileFormat | "sqlite";
  /** Of CSV, where the name of the file tells it. */
  readonly delimiter: string | null;
  /** Null when it is unknown, as of a pipe. */
  readonly totalBytes: number | null;
  bytesRead(): number;
  /** To be read once. A table's rows count as lines. */
  records(options: ReadingOptions): AsyncIterable<readonly FoundRecord[]>;
  /** Ends the reading, also of a pipe that is silent. */
  close(): void;
}

/** Throws `invalid_request`, `unknown_table` and `file_failed`. */
export async function openImportSource(
  tableName: string,
  path: string,
  asked: FileFormat | undefined,
): Promise<ImportSource> {
  const meant = fromCallersFolder(path);
  if (asked === undefined && (await isSqliteFile(meant))) {
    return await openSqliteFile(meant, (database) =>
      sourceOf(database, findForeignTable(database, tableName)),
    );
  }
  const request = readFileArguments(path, asked);
  const source = await TextSource.open(request.path);
  return {
    format: request.format,
    delimiter: delimiterByName(path),
    totalBytes: source.totalBytes,
    bytesRead: () => source.bytesRead(),
    records: ({ table, encoding, onHeader }) => {
      const chunks = (known: Encoding | null) => source.chunks(known);
      const file = { format: request.format, table, encoding, chunks };
      return fileRecords(fileFormats, file)(onHeader);
    },
    close: () => source.close(),
  };
}

/** All tables of a SQLite file, by their own names. Throws `invalid_request` for another file, and `file_failed`. */
export async function openEveryTable(path: string): Promise<ReadonlyMap<string, ImportSource>> {
  const meant = fromCallersFolder(path);
  if (!(await isSqliteFile(meant))) {
    throw new AppError("invalid_request", `--all is for SQLite files, and "${path}" is none`);
  }
  return await openSqliteFile(meant, (database) => {
    const tables = database
      .tables()
      .map((table) => [table.name, sourceOf(database, table)] as const);
    return new Map(tables);
  });
}

function sourceOf(database: ForeignDatabase, table: ForeignTable): ImportSource {
  return {
    format: "sqlite",
    delimiter: null,
    totalBytes: null,
    bytesRead: () => 0,
    records: (options) => recordsOf(table, options.table),
    close: () => database.close(),
  };
}
