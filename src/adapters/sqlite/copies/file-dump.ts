// Reads a whole file as of one moment. D-10.7.
import { resolve } from "node:path";
import { storeHeld } from "../../../domain/shared/store-format.ts";
import { parseDateTime } from "../../../domain/shared/time.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import type { StoppedStore } from "../../../ports/copies/store-copies.ts";
import {
  asThere,
  type Dump,
  type DumpedDeletes,
  type DumpedRow,
  type DumpedTable,
  type DumpedTombstone,
  type DumpReader,
  dumpedEntry,
  dumpOf,
  tableOf,
} from "../../../ports/copies/store-dump.ts";
import { type AnyCollection, copiedOf } from "../../../ports/documents.ts";
import { CollectionTable } from "../documents/collection-table.ts";
import { OpenConnection, type OpenSqlite, type SqliteRow } from "../driver/connection.ts";
import { isBusy, storeError } from "../driver/errors.ts";
import { nextTurn } from "../driver/run-body.ts";
import { quotedName } from "../driver/schema.ts";
import { readFacts } from "../driver/store-facts.ts";
import { decodeRows, readColumns, textWithNul } from "../tables/column-values.ts";
import { deleteTriggerName } from "../tables/delete-triggers.ts";
import { type Definition, NUMBERED } from "../tables/table-fit.ts";
import { canonicalTime, TombstoneNames } from "../tables/tombstone-sql.ts";

const TABLES = `SELECT name, definition FROM repsync_tables
  WHERE name IN (SELECT name FROM sqlite_schema WHERE type = 'table') ORDER BY name`;
const HAS_COLUMN = "SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = ?2 COLLATE NOCASE";
const HAS_TABLE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
/** A missing trigger has recorded nothing, so the record is complete from this moment on. */
const DELETES = `SELECT list_id,
  CASE WHEN EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?2)
  THEN earliest_available ELSE strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END AS complete_since
  FROM repsync_deletes WHERE table_name = ?1`;
/** SQLite makes `sqlite_sequence` with the first list. */
const LAST_PLACE = "SELECT seq FROM sqlite_sequence WHERE name = ?";

/** Reads by a connection of its own. The end of the dump closes it. */
export async function dumpFile(
  openSqlite: OpenSqlite,
  path: string,
  collections: readonly AnyCollection[],
): Promise<Dump> {
  const connection = new OpenConnection(await openSqlite(path, true));
  try {
    return dumpConnection(connection, collections, () => connection.close());
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens a prepared file and holds it. Throws `invalid_request` when another process has it open. */
export async function openStoppedFile(
  openSqlite: OpenSqlite,
  path: string,
  collections: readonly AnyCollection[],
): Promise<StoppedStore> {
  const connection = new OpenConnection(await openSqlite(resolve(path)));
  try {
    holdAlone(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    dump: async () => dumpConnection(connection, collections),
    // The lock lasts until `close`.
    requireStopped: async () => {},
    close: async () => connection.close(),
  };
}

/** Holds a file, empty or not. Throws `invalid_request` when another process has it open, else `store_unavailable`. */
export function holdAlone(connection: OpenConnection): void {
  try {
    connection.set({ busy_timeout: 0 });
    // The change fails while another process has the file open in WAL mode.
    const [mode] = connection.all("PRAGMA journal_mode = DELETE");
    if (mode?.["journal_mode"] !== "delete") throw storeHeld(0);
    connection.set({ locking_mode: "EXCLUSIVE" });
    connection.run("BEGIN EXCLUSIVE");
  } catch (error) {
    const code = connection.driver.resultCode(error);
    throw isBusy(code) ? storeHeld(0, error) : storeError("store_unavailable", code, error);
  }
}

/** Reads the collections and all tables. No other work may use the connection meanwhile. */
export function dumpConnection(
  connection: OpenConnection,
  all: readonly AnyCollection[],
  end?: () => void,
): Dump {
  const { isInTransaction } = connection.driver;
  const rollBack = () => {
    if (!isInTransaction) connection.run("ROLLBACK");
  };
  const failure = (error: unknown) =>
    storeError("store_unavailable", connection.driver.resultCode(error), error);
  try {
    if (!isInTransaction) connection.run("BEGIN");
    // A backup of an earlier program lacks newer collections.
    const collections = copiedOf(all).filter(
      ({ name }) => connection.all(HAS_TABLE, [`repsync_${name}`]).length > 0,
    );
    const own = collections.map(({ name }) => `repsync_${name}`);
    const tables = connection.all(TABLES).flatMap((row) => described(connection, row));
    const about = {
      store: "sqlite" as const,
      deploymentId: readFacts(connection).get("deployment_id") ?? "",
      tables,
      items: countItems(connection, [...own, ...tables.map(({ name }) => name)]),
    };
    const reader: DumpReader = {
      documents: (from) => documentsOf(connection, new CollectionTable(from)),
      rows: (table) => rowsOf(connection, table),
      tombstones: (table) => tombstonesOf(connection, table),
      failure,
      end: end ?? rollBack,
    };
    const dump = dumpOf(about, collections, reader);
    return { ...dump, parts: inTurns(dump.parts) };
  } catch (error) {
    throw failure(error);
  }
}

/** Reading and writing files waits for nothing: without turns a job is neither shown nor stopped. */
async function* inTurns<Part>(parts: AsyncIterable<Part>): AsyncGenerator<Part> {
  for await (const part of parts) {
    yield part;
    await nextTurn();
  }
}

function* documentsOf(connection: OpenConnection, table: CollectionTable): Iterable<object> {
  const sql = `SELECT ${table.columns} FROM ${table.name} ORDER BY key`;
  for (const row of iterate(connection, sql)) yield table.documentOf(row);
}

function* rowsOf(connection: OpenConnection, table: Table): Iterable<DumpedRow> {
  const columns = readColumns(table.columns, connection.driver.cutsTextAtNul);
  const sql = `SELECT ${columns} FROM ${quotedName(table.name)}`;
  for (const row of iterate(connection, sql)) yield { row: decoded(row, table.columns) };
}

function* tombstonesOf(connection: OpenConnection, table: Table): Iterable<DumpedTombstone> {
  const { list } = new TombstoneNames(table);
  const keys = readColumns(table.keyColumns, connection.driver.cutsTextAtNul);
  const times = "repsync_place, repsync_deleted_at, repsync_taken_at";
  const sql = `SELECT ${keys}, ${times} FROM ${list} ORDER BY repsync_place`;
  for (const row of iterate(connection, sql)) {
    const { repsync_place, repsync_deleted_at, repsync_taken_at, ...key } = row;
    yield {
      place: Number(repsync_place),
      key: decoded(key, table.keyColumns),
      deletedAt: canonicalTime(String(repsync_deleted_at)),
      takenAtMs: Date.parse(`${String(repsync_taken_at).slice(0, 23)}Z`),
    };
  }
}

function described(
  connection: OpenConnection,
  { name: found, definition: text }: SqliteRow,
): readonly DumpedTable[] {
  const name = String(found);
  const { key, columns, time, isForeign = false } = JSON.parse(String(text)) as Definition;
  const types = Object.entries(columns).map(([column, type]) => [
    column,
    type.replace(NUMBERED, ""),
  ]);
  const kept = { columns: Object.fromEntries(types), key, timestamp: time };
  const numbered = Object.values(columns).some((type) => type.endsWith(NUMBERED));
  const isThere = (column: string) => connection.all(HAS_COLUMN, [name, column]).length > 0;
  const entry = dumpedEntry({ ...kept, numbered });
  const prepared = { name, entry, isForeign, lastNumber: 0, deletes: null };
  return asThere(prepared, isThere).map((table) => ({
    ...table,
    lastNumber: numbered && isThere("id") ? lastNumberOf(connection, name) : 0,
    deletes: deletesOf(connection, tableOf(table)),
  }));
}

function lastNumberOf(connection: OpenConnection, name: string): number {
  const last = `SELECT coalesce(max(id), 0) AS last FROM ${quotedName(name)}`;
  return Number(connection.all(last)[0]?.["last"]);
}

function deletesOf(connection: OpenConnection, table: Table): DumpedDeletes | null {
  const [row] = connection.all(DELETES, [table.name, deleteTriggerName(table)]);
  if (row === undefined || table.timestampColumn === null) return null;
  const [last] = connection.all(LAST_PLACE, [new TombstoneNames(table).list.slice(1, -1)]);
  return {
    list: String(row["list_id"]),
    lastPlace: Number(last?.["seq"] ?? 0),
    completeSince: parseDateTime(String(row["complete_since"])) ?? "",
  };
}

/** All tables but SQLite's own. */
export function tableNames(connection: OpenConnection): readonly string[] {
  const tables = `SELECT name FROM sqlite_schema
    WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT GLOB 'sqlite_*' ORDER BY name`;
  return connection.all(tables).map(({ name }) => String(name));
}

/** True for tables of the registry and of other programs. */
export function isRowTable(name: string): boolean {
  return !name.startsWith("repsync_");
}

export function countItems(connection: OpenConnection, names: readonly string[]): number {
  const counts = names.map((name) =>
    connection.all(`SELECT count(*) AS n FROM ${quotedName(name)}`),
  );
  return counts.reduce((sum, [row]) => sum + Number(row?.["n"]), 0);
}

function* iterate({ driver }: OpenConnection, sql: string): Generator<SqliteRow> {
  const statement = driver.prepare(sql);
  try {
    yield* statement.iterate([]);
  } finally {
    statement.finalize();
  }
}

function decoded(row: SqliteRow, columns: readonly Column[]): Row {
  for (const name in row) row[name] = textWithNul(row[name] ?? null);
  return decodeRows([row], columns)[0] as Row;
}
