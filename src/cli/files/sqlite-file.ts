// Recognizes SQLite files, and finds a table in one.
import { open, stat } from "node:fs/promises";
import { AppError } from "../../domain/shared/errors.ts";
import { type JsonObject, type JsonValue, parseJsonOr } from "../../domain/shared/json.ts";
import { matchColumn, registryNameOf } from "../../domain/sync/table/names.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { ForeignDatabase, ForeignTable, FoundRecord } from "../../ports/files.ts";

const MAGIC = "SQLite format 3\u0000";

/** True by the first bytes. False for files that cannot be read, and for pipes, which are read only once. */
export async function isSqliteFile(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false;
    await using file = await open(path, "r");
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0);
    return buffer.toString("latin1", 0, bytesRead) === MAGIC;
  } catch {
    return false;
  }
}

/** Opens the file for reading, and closes it where `use` throws. Throws `file_failed`. */
export async function openSqliteFile<T>(
  path: string,
  use: (database: ForeignDatabase) => T,
): Promise<T> {
  const { openForeignDatabase } = await import("../../app/files.ts");
  const database = await openForeignDatabase(path);
  try {
    return use(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A row's length, by which imports estimate memory. */
const ROW_CHARS = 200;

/** The rows as records; a row counts as a line. SQLite has no type for JSON, so texts of JSON columns of `table` are parsed. */
export async function* recordsOf(
  { rows }: ForeignTable,
  table: Table | null = null,
): AsyncGenerator<readonly FoundRecord[]> {
  const isJson = (name: string) => table !== null && matchColumn(table, name)?.type === "json";
  let line = 0;
  for (const part of rows()) {
    const names = Object.keys(part[0] ?? {}).filter(isJson);
    yield part.map((found) => {
      const read = names.map((name) => [name, jsonOf(found[name] ?? null)]);
      const record: JsonObject = { ...found, ...Object.fromEntries(read) };
      return { line: ++line, chars: ROW_CHARS, record, problem: null };
    });
  }
}

function jsonOf(value: JsonValue): JsonValue {
  return typeof value === "string" ? parseJsonOr(value, value) : value;
}

/** The name of a table of the file in the registry. */
export function ownNameOf({ name }: Pick<ForeignTable, "name">): string {
  return registryNameOf(name) ?? name;
}

/** Tables whose name in the registry means another table of the file. */
export function shadowed(names: readonly string[]): readonly string[] {
  const ownName = (name: string) => ownNameOf({ name });
  return names.filter((name) => {
    const own = ownName(name);
    const meant = names.includes(own) ? own : names.find((other) => ownName(other) === own);
    return meant !== name;
  });
}

/** By its own name or the registry's. Throws `unknown_table`. */
export function findForeignTable(database: ForeignDatabase, asked: string): ForeignTable {
  const tables = database.tables();
  const found =
    tables.find(({ name }) => name === asked) ?? tables.find((table) => ownNameOf(table) === asked);
  if (found !== undefined) return found;
  const names = tables.map(({ name }) => name).join(", ") || "none";
  throw new AppError("unknown_table", `The SQLite file has no table "${asked}"; it has ${names}`);
}
