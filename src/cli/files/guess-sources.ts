// Opens a file of records or a SQLite file for guessing its tables.
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { fileFormats } from "../../app/files.ts";
import { AppError } from "../../domain/shared/errors.ts";
import { isReservedTable, registryNameOf } from "../../domain/sync/table/names.ts";
import type { FileFormat } from "../../ports/files.ts";
import type { ForeignDatabase, ForeignTable } from "../../ports/tables/foreign-database.ts";
import type { GuessSource } from "../../usecases/sync/files/guess-table.ts";
import { formatByName } from "./file-arguments.ts";
import { TextSource, unreadable } from "./read-text.ts";
import {
  findForeignTable,
  isSqliteFile,
  openSqliteFile,
  ownNameOf,
  recordsOf,
} from "./sqlite-file.ts";

export interface OpenedSources {
  readonly sources: readonly GuessSource[];
  /** How the file was read, for people. */
  readonly format: string;
  /** What an import of the file has to be told; empty for nothing. */
  readonly importOptions: string;
  close(): void;
}

/** Opens the file. Throws `invalid_request` for a name that is no table's, a file of no known format and a missing one. */
export async function openSources(
  path: string,
  asked: { readonly table?: string; readonly format?: FileFormat },
): Promise<OpenedSources> {
  await requireFile(path);
  if (asked.format === undefined && (await isSqliteFile(path))) {
    return await openSqliteFile(path, (database) => sourcesOf(database, asked.table));
  }
  const format = asked.format ?? formatByName(path);
  const name = asked.table ?? nameOfFile(path);
  requireTableName(name);
  const delimiter = format === "csv" ? await fileFormats.findDelimiter(textOf(path)) : ",";
  const read = () => fileFormats.read(format, textOf(path), { delimiter, header: null });
  const shown = delimiter === "\t" ? "tab" : `"${delimiter}"`;
  const isComma = delimiter === ",";
  return {
    sources: [{ name, form: format === "csv" ? "field" : "json", declaration: null, read }],
    format: isComma ? format : `${format}, separated by ${shown}`,
    importOptions: isComma ? "" : ` --delimiter ${shown}`,
    close: () => {},
  };
}

function sourcesOf(database: ForeignDatabase, asked: string | undefined): OpenedSources {
  const tables = asked === undefined ? database.tables() : [findForeignTable(database, asked)];
  if (tables.length === 0) throw new AppError("file_failed", "The SQLite file has no tables");
  const sources = tables.map(sourceOf);
  for (const { name } of sources) requireTableName(name);
  return { sources, format: "sqlite", importOptions: "", close: () => database.close() };
}

function sourceOf(table: ForeignTable): GuessSource {
  return {
    name: ownNameOf(table),
    form: "sqlite",
    declaration: table.declaration,
    read: () => recordsOf(table),
  };
}

/** Read anew each time; closed when the reader stops. */
async function* textOf(path: string): AsyncGenerator<string> {
  const source = await TextSource.open(path);
  try {
    yield* source.chunks;
  } finally {
    source.close();
  }
}

/** A pipe cannot be read twice. */
async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!found.isFile()) throw new AppError("invalid_request", `"${path}" is no file`);
}

/** The name without its endings; empty when nothing is left that a table can be called. */
function nameOfFile(path: string): string {
  return registryNameOf(basename(path).replace(/(?<=.)\.[A-Za-z0-9]+(?:\.gz)?$/i, "")) ?? "";
}

function requireTableName(name: string): void {
  if (registryNameOf(name) === name && !isReservedTable(name)) return;
  throw new AppError(
    "invalid_request",
    `${JSON.stringify(name)} cannot be the name of a table: give --table a name of letters, digits and underscores`,
  );
}
