// Reads SQLite files of other programs.
import { Database } from "bun:sqlite";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  exactInteger,
  type JsonObject,
  type JsonValue,
  parseJsonOr,
} from "../../../domain/shared/json.ts";
import type { Declaration } from "../../../domain/sync/guess/table-guess.ts";
import type { ForeignDatabase, ForeignTable } from "../../../ports/files.ts";
import { quotedName } from "./schema.ts";

/** Integers come as `bigint`, as they may be beyond ±(2^53-1). */
type ForeignValue = null | bigint | number | string | Uint8Array;

const decoder = new TextDecoder();
const PART_ROWS = 1_000;
const WAIT_MS = 5_000;

const TABLES =
  "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' " +
  "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
const OWN_TABLE =
  "SELECT 1 FROM pragma_table_list WHERE schema = 'main' AND name LIKE 'repsync\\_%' ESCAPE '\\' LIMIT 1";
/** Views, virtual tables and triggers. The shadow tables of virtual tables are parts of these. */
const LEFT_OUT =
  "SELECT CASE type WHEN 'virtual' THEN 'virtual table ' ELSE 'view ' END || name AS name FROM pragma_table_list " +
  "WHERE schema = 'main' AND type IN ('view', 'virtual') AND name NOT LIKE 'repsync\\_%' ESCAPE '\\' " +
  "UNION ALL SELECT 'trigger ' || name FROM sqlite_schema WHERE type = 'trigger' " +
  "AND name NOT LIKE 'repsync\\_%' ESCAPE '\\' ORDER BY 1";
const FOREIGN_KEYS =
  'SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?) ORDER BY "table"';
const COLUMNS =
  'SELECT name, type, "notnull" AS is_not_null, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid';
const INDEXES =
  'SELECT name FROM pragma_index_list(?) WHERE "unique" = 1 AND partial = 0 ORDER BY seq DESC';
const INDEX_COLUMNS = "SELECT name FROM pragma_index_info(?) ORDER BY seqno";

/** Opens a file for reading. Throws `file_failed` when it is no database. */
export function openForeignFile(path: string): ForeignDatabase {
  const database = reading(() => {
    const opened = new Database(path, { readonly: true, safeIntegers: true });
    opened.run(`PRAGMA busy_timeout = ${WAIT_MS}`);
    return opened;
  });
  return {
    tables: () =>
      reading(() => namesIn(database, TABLES).map((name) => foreignTable(database, name))),
    leftOut: () => reading(() => namesIn(database, LEFT_OUT)),
    close: () => database.close(),
  };
}

function foreignTable(database: Database, name: string): ForeignTable {
  const declaration = declarationOf(database, name);
  const targets = namesIn(database, FOREIGN_KEYS, name);
  const blobs = new Map<string, number>();
  // In a store of repsync a blob is the JSON of a value that does not fit its column.
  const isStore = database.query(OWN_TABLE).get() !== null;
  return {
    name,
    declaration,
    rows: () => {
      blobs.clear();
      return rowsOf(database, name, (column, bytes) => {
        const value = isStore ? parseJsonOr(decoder.decode(bytes), undefined) : undefined;
        if (value !== undefined) return value;
        blobs.set(column, (blobs.get(column) ?? 0) + 1);
        return bytes.toBase64();
      });
    },
    notes: () => [
      ...targets.map((target) => `the foreign key to ${target} is not kept`),
      ...[...blobs].map(([column, count]) => {
        const subject = count === 1 ? "1 blob becomes a text" : `${count} blobs become texts`;
        return `${column}: ${subject} in base64`;
      }),
    ],
  };
}

function namesIn(database: Database, sql: string, ...values: string[]): string[] {
  const found = database.query<{ name: string }, string[]>(sql).all(...values);
  return found.map(({ name }) => name);
}

function declarationOf(database: Database, table: string): Declaration {
  const columns = database
    .query<{ name: string; type: string; is_not_null: bigint; pk: bigint }, [string]>(COLUMNS)
    .all(table);
  const primary = columns.filter(({ pk }) => pk > 0n).toSorted((a, b) => Number(a.pk - b.pk));
  const declared = columns.map(({ name, type, is_not_null, pk }) => {
    return { name, type, isNotNull: is_not_null > 0n || pk > 0n };
  });
  if (primary.length > 0) return { columns: declared, key: primary.map(({ name }) => name) };
  // Else the first unique index over columns without nulls. An indexed expression has the name null.
  const notNull = declared.filter(({ isNotNull }) => isNotNull).map(({ name }) => name);
  const key = namesIn(database, INDEXES, table)
    .map((index) => namesIn(database, INDEX_COLUMNS, index))
    .find((names) => names.every((name) => notNull.includes(name)));
  return { columns: declared, key: key ?? [] };
}

function* rowsOf(
  database: Database,
  table: string,
  readBlob: (column: string, bytes: Uint8Array) => JsonValue,
): Generator<readonly JsonObject[]> {
  const sql = `SELECT * FROM ${quotedName(table)}`;
  const rows = reading(() =>
    database.query<Record<string, ForeignValue>, []>(sql).iterate()[Symbol.iterator](),
  );
  let part: JsonObject[] = [];
  for (;;) {
    const next = reading(() => rows.next());
    if (next.done === true) break;
    const fields = Object.entries(next.value).map(([name, value]) => {
      return [name, value instanceof Uint8Array ? readBlob(name, value) : jsonOf(value)];
    });
    part.push(Object.fromEntries(fields) as JsonObject);
    if (part.length < PART_ROWS) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

function jsonOf(value: Exclude<ForeignValue, Uint8Array>): JsonValue {
  if (typeof value === "bigint") return exactInteger(value);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

/** Hides the driver's messages, which may name paths. */
function reading<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new AppError("file_failed", "The SQLite file cannot be read: is it damaged or locked?", {
      cause,
    });
  }
}
