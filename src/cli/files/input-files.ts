// Files of records that commands read: as text, also standard input, or as the tables of a SQLite file.
import { open, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { fileFormats, openForeignDatabase } from "../../app/files.ts";
import { STANDARD_STREAM } from "../../app/write-file.ts";
import { AppError, isAppError, systemReason } from "../../domain/shared/errors.ts";
import { type JsonObject, type JsonValue, parseJsonOr } from "../../domain/shared/json.ts";
import { matchColumn, registryNameOf } from "../../domain/sync/table/names.ts";
import type { Encoding } from "../../domain/sync/table/registry-schema.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import type { ForeignDatabase, ForeignTable, FoundRecord } from "../../ports/files.ts";
import { unreadable } from "./file-arguments.ts";

const CHUNK_BYTES = 64 * 1024;

export class TextSource {
  /** Null when it is unknown, as of a pipe. */
  readonly totalBytes: number | null;
  readonly #name: string;
  readonly #input: Readable;
  #bytesRead = 0;

  private constructor(name: string, input: Readable, totalBytes: number | null) {
    this.totalBytes = totalBytes;
    this.#name = name;
    this.#input = input;
    // Without a listener an error ends the process, as when a file is closed unread. Readers get it, too.
    input.on("error", () => {});
  }

  /** Opens a file, or standard input for `-`. Throws `invalid_request`. */
  static async open(path: string): Promise<TextSource> {
    if (path === STANDARD_STREAM) return new TextSource("Standard input", process.stdin, null);
    const { input, totalBytes } = await openFile(path);
    return new TextSource(`"${path}"`, input, totalBytes);
  }

  /** The text without byte order mark, in parts, to be read once. Throws `file_failed`. */
  chunks(encoding: Encoding | null): AsyncIterable<string> {
    return fileFormats.decode(this.#bytes(), { name: this.#name, encoding });
  }

  bytesRead(): number {
    return this.#bytesRead;
  }

  /** Ends the reading, also of a pipe that is silent: `chunks` throws. */
  close(): void {
    this.#input.destroy(new AppError("file_failed", "Reading was stopped"));
  }

  async *#bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of this.#input) {
        const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
        this.#bytesRead += bytes.length;
        yield bytes;
      }
    } catch (error) {
      if (isAppError(error)) throw error;
      const reason = systemReason(error);
      throw new AppError("file_failed", `${this.#name} cannot be read further: ${reason}`, {
        cause: error,
      });
    }
  }
}

/** Opens once only, as a closed pipe loses its writer. Pipes and devices have no length. */
async function openFile(path: string) {
  try {
    const file = await open(path, "r");
    const stat = await file.stat();
    if (stat.isDirectory()) {
      await file.close();
      throw new AppError("invalid_request", `"${path}" is a folder`);
    }
    const input = file.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { input, totalBytes: stat.isFile() ? stat.size : null };
  } catch (error) {
    if (isAppError(error)) throw error;
    throw unreadable(path, error);
  }
}

// SQLite files: how they are recognized, and tables in them.

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
