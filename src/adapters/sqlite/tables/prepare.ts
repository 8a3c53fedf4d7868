// Makes the registry's tables, and refuses changes that would lose data or break a promise. D-2.4.
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import { type Column, isNumberedByStore, type Table } from "../../../domain/sync/table/table.ts";
import {
  CHANGE_ADVICE,
  isInOrder,
  refuseTables,
  servingKey,
} from "../../../domain/sync/table/table-refusals.ts";
import { START_CALLS } from "../../../ports/documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { prepareVersions } from "../driver/person-versions.ts";
import { OwnTriggers, schemaVersion } from "../driver/schema.ts";
import { declaredType } from "./column-values.ts";
import { prepareDeletes } from "./delete-triggers.ts";
import { ORDER_COLUMN, orderExpression } from "./order-column.ts";
import { prepareStamps } from "./stamp-triggers.ts";
import {
  type Definition,
  type ExaminedTable,
  examineTable,
  type FoundTable,
  indexSql,
  keyIndexName,
  keyIndexSql,
  typeName,
} from "./table-fit.ts";
import { makeTombstoneTables } from "./tombstone-sql.ts";

const DEFINITIONS = `CREATE TABLE IF NOT EXISTS repsync_tables (
    name TEXT PRIMARY KEY, definition TEXT NOT NULL
  ) WITHOUT ROWID`;
const FOREIGN = "SELECT name FROM repsync_tables WHERE json_extract(definition, '$.isForeign')";

/** Indexes and triggers of repsync on a table, and its columns with their types, and whether they are generated. */
const MADE = `SELECT name AS made FROM sqlite_schema
  WHERE type IN ('index', 'trigger') AND name GLOB 'repsync_*' AND tbl_name = ?1
  UNION SELECT name || ' ' || type || hidden FROM pragma_table_xinfo(?1) WHERE name IN (SELECT value FROM json_each(?2))`;

/** Makes the tables about tables, and reads which ones another program made, within the write that opens the store. */
export function prepareOwnTables(database: SqliteDatabase): void {
  database.run(DEFINITIONS);
  makeTombstoneTables(database);
  for (const { name } of database.all(FOREIGN)) database.foreignTables.add(String(name));
}

/** Examines without a change, within a read or a write. Throws `schema_conflict` that names each refused table. */
export function examineTables(
  database: SqliteDatabase,
  tables: readonly Table[],
  isServed = false,
): readonly ExaminedTable[] {
  const examined = tables.map((table) => examineTable(database, table, isServed));
  refuseTables(
    examined.map(({ refusal }) => refusal),
    CHANGE_ADVICE,
  );
  return examined;
}

/** The tables of the registry as this process has prepared them. */
export class PreparedTables {
  readonly #database: SqliteDatabase;
  /** The tables prepared last: an equal table needs no other look while no schema has changed. */
  #prepared = {
    version: -1,
    tables: new Set<string>(),
    made: new Map<string, ReadonlySet<unknown>>(),
  };
  /** Of the schema in which a look has found no table disturbed. */
  #calmVersion = -1;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async prepare(tables: readonly Table[], isServed = false): Promise<void> {
    const known = this.#prepared;
    const now = await this.#database.write((body) => {
      const isSame = schemaVersion(this.#database) === known.version;
      const isKnown = (table: Table) => isSame && known.tables.has(JSON.stringify(table));
      const changed = tables.filter((table) => !isKnown(table));
      prepareTables(this.#database, changed, isServed);
      for (const { name } of changed) body.noteChanged(name);
      const made = changed.map((table) => [table.name, this.#made(table)] as const);
      return {
        version: schemaVersion(this.#database),
        made: new Map([...known.made, ...made]),
      };
    }, START_CALLS);
    this.#prepared = { ...now, tables: new Set(tables.map((table) => JSON.stringify(table))) };
  }

  async disturbed(tables: readonly Table[]): Promise<readonly Table[]> {
    return await this.#database.read(() => {
      const version = schemaVersion(this.#database);
      if (version === this.#calmVersion) return [];
      const found = tables.filter((table) => {
        const now = this.#made(table);
        return now.size > 0 && !this.#prepared.made.get(table.name)?.isSubsetOf(now);
      });
      if (found.length === 0) this.#calmVersion = version;
      return found;
    });
  }

  #made({ name, columns }: Table): ReadonlySet<unknown> {
    const names = JSON.stringify(columns.map((column) => column.name));
    return new Set(this.#database.all(MADE, [name, names]).map(({ made }) => made));
  }
}

/** Makes what is missing, within the caller's transaction. Throws `schema_conflict`; the caller then rolls back. */
function prepareTables(database: SqliteDatabase, tables: readonly Table[], isServed = false): void {
  for (const one of examineTables(database, tables, isServed)) prepareTable(database, one);
  prepareVersions(
    database,
    tables.filter(isOfPeople).map(({ name }) => name),
  );
}

function prepareTable(database: SqliteDatabase, { table, found, isReplaced }: ExaminedTable): void {
  if (isReplaced) database.run(`DROP TABLE "${table.name}"`);
  const kept = isReplaced ? null : found;
  if (kept?.isForeign) database.foreignTables.add(table.name);
  else database.foreignTables.delete(table.name);
  if (kept === null) createTable(database, table);
  else if (!kept.isForeign) {
    addColumns(database, table, kept);
    setOrderColumn(database, table, kept);
  }
  setIndexes(database, table, kept);
  const definition = JSON.stringify(definitionOf(table, kept));
  if (definition !== JSON.stringify(kept?.definition)) {
    const save = "INSERT OR REPLACE INTO repsync_tables (name, definition) VALUES (?, ?)";
    database.run(save, [table.name, definition]);
  }
  prepareDeletes(database, table);
  prepareStamps(database, table);
}

function createTable(database: SqliteDatabase, table: Table): void {
  // STORED computes the order once for each write of a row. SQLite cannot add a stored column later.
  const order = orderColumnSql(table, "STORED");
  const columns = [...table.columns.map(columnSql), ...(order === null ? [] : [order])];
  database.run(`CREATE TABLE "${table.name}" (${columns.join(", ")})`);
}

function addColumns(database: SqliteDatabase, table: Table, found: FoundTable): void {
  for (const column of table.columns) {
    if (found.columns.has(column.name)) continue;
    database.run(`ALTER TABLE "${table.name}" ADD COLUMN ${columnSql(column)}`);
  }
}

/** A column without NOT NULL, as a registry may drop the column later. Writes check for nulls first. */
function columnSql(column: Column): string {
  return `"${column.name}" ${declaredType(column)}${isNumberedByStore(column) ? " PRIMARY KEY" : ""}`;
}

function orderColumnSql(table: Table, kind: "STORED" | "VIRTUAL"): string | null {
  const order = orderExpression(table);
  return order === null ? null : `${ORDER_COLUMN} TEXT GENERATED ALWAYS AS (${order}) ${kind}`;
}

/** Makes the order column of an existing table, anew when its expression has changed. */
function setOrderColumn(database: SqliteDatabase, table: Table, found: FoundTable): void {
  const wanted = orderColumnSql(table, "VIRTUAL");
  const isThere = found.columns.has(ORDER_COLUMN);
  if (isThere && found.definition?.order === orderExpression(table)) return;
  const alter = `ALTER TABLE "${table.name}"`;
  if (isThere) {
    // SQLite drops no column that a trigger names.
    new OwnTriggers(database, table.name, "delete").drop();
    new OwnTriggers(database, table.name, "stamp").drop();
    dropIndex(database, orderIndexName(table));
    database.run(`${alter} DROP COLUMN ${ORDER_COLUMN}`);
  }
  if (wanted !== null) database.run(`${alter} ADD COLUMN ${wanted}`);
}

/** Makes indexes; in a table of another program only where none of its own serves. */
function setIndexes(database: SqliteDatabase, table: Table, found: FoundTable | null): void {
  const serving = found?.isForeign ? servingKey(table, found.keys) : undefined;
  const keyIndex = keyIndexName(table.name);
  if (serving === undefined) setIndex(database, keyIndex, keyIndexSql(table));
  else if (isInOrder(serving, table)) dropIndex(database, keyIndex);
  else setIndex(database, keyIndex, keyIndexSql(table).replace(" UNIQUE", ""));
  const orderIndex = orderIndexName(table);
  if (table.timestampColumn === null) {
    dropIndex(database, orderIndex);
    return;
  }
  const time = found?.isForeign ? `(${orderExpression(table)})` : ORDER_COLUMN;
  const columns = [time, ...table.keyColumns.map(({ name }) => `"${name}"`)].join(", ");
  setIndex(database, orderIndex, `CREATE INDEX "${orderIndex}" ON "${table.name}" (${columns})`);
}

function orderIndexName(table: Table): string {
  return `repsync_order_${table.name}`;
}

function setIndex(database: SqliteDatabase, name: string, sql: string): void {
  if (indexSql(database, name) === sql) return;
  dropIndex(database, name);
  database.run(sql);
}

function dropIndex(database: SqliteDatabase, name: string): void {
  database.run(`DROP INDEX IF EXISTS "${name}"`);
}

/** Keeps the columns that the registry has dropped, while they exist. */
function definitionOf(table: Table, found: FoundTable | null): Definition {
  const types = [
    ...Object.entries(found?.definition?.columns ?? {}).filter(([name]) =>
      found?.columns.has(name),
    ),
    ...table.columns.map((column) => [column.name, typeName(column)] as const),
  ];
  return {
    key: table.keyColumns.map(({ name }) => name),
    columns: Object.fromEntries(types),
    time: table.timestampColumn,
    order: orderExpression(table),
    ...(found?.isForeign ? { isForeign: true } : {}),
  };
}
