// Opens a file of records or a SQLite file to guess its tables.
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { fileFormats } from "../../app/files.ts";
import { AppError } from "../../domain/shared/errors.ts";
import type { GuessWishes } from "../../domain/sync/guess/table-guess.ts";
import { registryNameOf } from "../../domain/sync/table/names.ts";
import type { Encoding } from "../../domain/sync/table/registry-schema.ts";
import type { FileFormat, ForeignDatabase } from "../../ports/files.ts";
import type { GuessSource } from "../../usecases/sync/files/guess-file.ts";
import { isTableName, requireTableName } from "../../usecases/sync/files/guess-file.ts";
import { delimiterByName, formatByName, unreadable } from "./file-arguments.ts";
import {
  findForeignTable,
  isSqliteFile,
  openSqliteFile,
  ownNameOf,
  recordsOf,
  shadowed,
  TextSource,
} from "./input-files.ts";

const ASKING = "Give --table a name of letters, digits and underscores";
const RENAMING =
  "A table of a SQLite file keeps its name: rename it there, or make a CSV file of it";

export interface OpenedSources {
  readonly sources: readonly GuessSource[];
  /** The form of the file, for people. */
  readonly format: string;
  /** Parts of the file without a table, for people. */
  readonly leftOut: readonly string[];
  close(): void;
}

/** The wishes for a table, once the format is known. */
type WishesFor = (table: string, format: FileFormat | "sqlite") => GuessWishes;

/** Throws `invalid_request` for a name that no table can have, an unknown format and a missing file. */
export async function openSources(
  path: string,
  asked: { readonly table?: string; readonly format?: FileFormat },
  wishesFor: WishesFor,
): Promise<OpenedSources> {
  await requireFile(path);
  if (asked.format === undefined && (await isSqliteFile(path))) {
    return await openSqliteFile(path, (database) => sourcesOf(database, asked.table, wishesFor));
  }
  const format = asked.format ?? formatByName(path);
  const name = asked.table ?? nameOfFile(path);
  requireTableName(name, ASKING);
  const given = wishesFor(name, format);
  const encoding = given.files.encoding ?? null;
  const text = () => textOf(path, encoding);
  const known = format === "csv" ? (given.files.delimiter ?? delimiterByName(path)) : ",";
  const delimiter = known ?? (await fileFormats.findDelimiter(text()));
  const isUsual = delimiter === "," || delimiter === delimiterByName(path);
  const wishes = isUsual ? given : { ...given, files: { delimiter, ...given.files } };
  const read: GuessSource["read"] = (onNames) => {
    const path = given.files.path ?? null;
    return fileFormats.read(format, text(), { delimiter, header: null, onNames, path });
  };
  const shown = delimiter === "\t" ? "tab" : `"${delimiter}"`;
  const form = format === "csv" ? "field" : "json";
  return {
    sources: [{ name, form, declaration: null, wishes, read, notes: () => [] }],
    format: delimiter === "," ? format : `${format}, separated by ${shown}`,
    leftOut: [],
    close: () => {},
  };
}

function sourcesOf(
  database: ForeignDatabase,
  asked: string | undefined,
  wishesFor: WishesFor,
): OpenedSources {
  const found = asked === undefined ? database.tables() : [findForeignTable(database, asked)];
  if (found.length === 0) throw new AppError("file_failed", "The SQLite file has no tables");
  const named = found.filter((table) => asked !== undefined || isTableName(ownNameOf(table)));
  const nameless = found.filter((table) => !named.includes(table)).map(({ name }) => name);
  const twins = shadowed(named.map(({ name }) => name));
  const tables = named.filter(({ name }) => !twins.includes(name));
  if (tables.length === 0) {
    const text = `No table of the SQLite file has a name that a table can have: ${nameless.join(", ")}`;
    throw new AppError("file_failed", text, { hint: RENAMING });
  }
  const sources = tables.map((table): GuessSource => {
    const name = ownNameOf(table);
    requireTableName(name, RENAMING);
    return {
      name,
      form: "sqlite",
      declaration: table.declaration,
      wishes: wishesFor(name, "sqlite"),
      read: () => recordsOf(table),
      notes: () => table.notes(),
    };
  });
  const leftOut = [
    ...nameless.map((name) => `table ${name}, as no table can have its name`),
    ...twins.map((name) => `table ${name}, as ${ownNameOf({ name })} is another one's name`),
    ...(asked === undefined ? database.leftOut() : []),
  ];
  return { sources, format: "sqlite", leftOut, close: () => database.close() };
}

/** Opened for each reading; closed when the reader stops. */
async function* textOf(path: string, encoding: Encoding | null): AsyncGenerator<string> {
  const source = await TextSource.open(path);
  try {
    yield* source.chunks(encoding);
  } finally {
    source.close();
  }
}

/** Throws `invalid_request` for a pipe, too, which cannot be read twice. */
async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  if (!found.isFile()) throw new AppError("invalid_request", `"${path}" is no file`);
}

/** The name without its endings, in a form for the registry where there is one. */
function nameOfFile(path: string): string {
  const name = basename(path).replace(/(?<=.)\.[A-Za-z0-9]+(?:\.gz)?$/i, "");
  return registryNameOf(name) ?? name;
}
