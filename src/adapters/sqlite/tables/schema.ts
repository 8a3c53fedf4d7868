// Makes the registry's tables, and refuses changes that would lose data or break a promise. D-2.4.
import { AppError } from "../../../domain/shared/errors.ts";
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { declaredType } from "./column-values.ts";
import { dropDeleteTriggers, prepareDeletes } from "./delete-triggers.ts";
import { type Definition, type FoundTable, findTable } from "./found-table.ts";
import { ORDER_COLUMN, orderColumns, orderExpression } from "./order-column.ts";

export const DEFINITION_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_tables (
    name TEXT PRIMARY KEY, definition TEXT NOT NULL
  ) WITHOUT ROWID`,
];

/** Makes what is missing, within the caller's transaction. Throws `schema_conflict`; the caller then rolls back. */
export function prepareTables(database: SqliteDatabase, tables: readonly Table[]): void {
  for (const table of tables) prepareTable(database, table);
}

function prepareTable(database: SqliteDatabase, table: Table): void {
  let found = findTable(database, table.name);
  if (found !== null) {
    refuseGenerated(table, found);
    const problems = changeProblems(table, found);
    if (problems.length > 0) {
      if (found.hasRows || found.definition === null) throw conflict(table, problems);
      database.run(`DROP TABLE "${table.name}"`);
      found = null;
    }
  }
  if (found === null) createTable(database, table);
  else {
    addColumns(database, table, found);
    setOrderColumn(database, table, found);
  }
  setIndexes(database, table);
  const definition = definitionOf(table, found?.definition ?? null);
  if (JSON.stringify(definition) !== JSON.stringify(found?.definition)) {
    saveDefinition(database, table.name, definition);
  }
  prepareDeletes(database, table);
}

/** Why an existing table cannot become the registry's. */
function changeProblems(table: Table, found: FoundTable): string[] {
  const problems: string[] = [];
  if (found.isView) problems.push("it is a view in the database");
  if (found.name !== table.name) problems.push(`it is called "${found.name}" in the database`);
  const key = table.keyColumns.map(({ name }) => name);
  const foundKey = found.definition?.key ?? key;
  if (JSON.stringify(foundKey) !== JSON.stringify(key)) {
    problems.push(`its upsert key is (${foundKey.join(", ")}) in the database`);
  }
  for (const column of table.columns) {
    const problem = columnProblem(column, found);
    if (problem !== null) problems.push(`column "${column.name}" ${problem}`);
  }
  return problems;
}

function columnProblem(column: Column, found: FoundTable): string | null {
  const affinity = found.affinities.get(column.name);
  if (affinity === undefined) {
    const names = [...found.affinities.keys()];
    const other = names.find((name) => name.toLowerCase() === column.name.toLowerCase());
    if (other !== undefined) return `is called "${other}" in the database`;
    if (isNumbered(column)) return "is to number the rows, which SQLite does from the first row on";
    const needsValue = found.hasRows && (column.isKey || !column.nullable);
    return needsValue ? "may not be null and would be in the rows that exist" : null;
  }
  const columns = found.definition?.columns ?? {};
  const known = Object.hasOwn(columns, column.name) ? columns[column.name] : undefined;
  if (known !== undefined) {
    const wanted = typeName(column);
    return known === wanted ? null : `is of type ${known} in the database, not ${wanted}`;
  }
  if (isNumbered(column) && found.rowNumberColumn !== column.name) {
    return "is not the INTEGER PRIMARY KEY in the database";
  }
  const needed = declaredType(column);
  return affinity === needed ? null : `is kept as ${affinity} in the database, not as ${needed}`;
}

/** A generated column cannot be written; one that the registry does not name is its owner's. D-7.10, D-11.10. */
function refuseGenerated({ columns: wanted }: Table, { name, generated }: FoundTable): void {
  const names = new Set(wanted.map((column) => column.name.toLowerCase()));
  const refused = generated.filter((column) => names.has(column.toLowerCase()));
  if (refused.length === 0) return;
  const columns = refused.map((column) => `column "${column}"`).join(" and ");
  const message = `Table "${name}" cannot be synchronized: the database generates ${columns}, which nobody can write. Drop it, or make it an ordinary column; a view may show what it showed`;
  throw new AppError("schema_conflict", message);
}

function conflict(table: Table, problems: readonly string[]): AppError {
  const advice =
    "Undo the change in the registry, or export the table, drop it and import it again";
  const message = `Table "${table.name}" cannot be changed to the registry's: ${problems.join("; ")}. ${advice}`;
  return new AppError("schema_conflict", message);
}

function createTable(database: SqliteDatabase, table: Table): void {
  // Stored, so that it is computed once for each time that a row is written. SQLite cannot add such a column later.
  const order = orderColumnSql(table, "STORED");
  const columns = [...table.columns.map(columnSql), ...(order === null ? [] : [order])];
  database.run(`CREATE TABLE "${table.name}" (${columns.join(", ")})`);
}

function addColumns(database: SqliteDatabase, table: Table, found: FoundTable): void {
  for (const column of table.columns) {
    if (found.affinities.has(column.name)) continue;
    database.run(`ALTER TABLE "${table.name}" ADD COLUMN ${columnSql(column)}`);
  }
}

/** Without NOT NULL: nulls are checked before writing, so a registry may drop a column and go on. */
function columnSql(column: Column): string {
  return `"${column.name}" ${declaredType(column)}${isNumbered(column) ? " PRIMARY KEY" : ""}`;
}

function orderColumnSql(table: Table, kind: "STORED" | "VIRTUAL"): string | null {
  const order = orderExpression(table);
  return order === null ? null : `${ORDER_COLUMN} TEXT GENERATED ALWAYS AS (${order}) ${kind}`;
}

/** Makes the order column of a table that was there, anew when what it is generated from has changed. */
function setOrderColumn(database: SqliteDatabase, table: Table, found: FoundTable): void {
  const wanted = orderColumnSql(table, "VIRTUAL");
  const isThere = found.affinities.has(ORDER_COLUMN);
  if (isThere && found.definition?.order === orderExpression(table)) return;
  const alter = `ALTER TABLE "${table.name}"`;
  if (isThere) {
    dropDeleteTriggers(database, table.name);
    database.run(`DROP INDEX IF EXISTS "${orderIndexName(table)}"`);
    database.run(`${alter} DROP COLUMN ${ORDER_COLUMN}`);
  }
  if (wanted !== null) database.run(`${alter} ADD COLUMN ${wanted}`);
}

function setIndexes(database: SqliteDatabase, table: Table): void {
  const keys = table.keyColumns.map(({ name }) => `"${name}"`).join(", ");
  const keyIndex = `repsync_key_${table.name}`;
  try {
    setIndex(database, `CREATE UNIQUE INDEX "${keyIndex}" ON "${table.name}" (${keys})`);
  } catch (error) {
    if (database.recordReason(error) === null) throw error;
    throw conflict(table, [`rows in the database share an upsert key (${keys})`]);
  }
  const collations = database.all("SELECT coll FROM pragma_index_xinfo(?) WHERE key", [keyIndex]);
  if (collations.some(({ coll }) => coll !== "BINARY")) {
    throw conflict(table, [`its key (${keys}) is not compared by bytes in the database`]);
  }
  if (table.timestampColumn === null) return;
  const order = orderColumns(table).join(", ");
  setIndex(database, `CREATE INDEX "${orderIndexName(table)}" ON "${table.name}" (${order})`);
}

function orderIndexName(table: Table): string {
  return `repsync_order_${table.name}`;
}

/** Makes an index, anew when it is not exactly this one. */
function setIndex(database: SqliteDatabase, sql: string): void {
  const name = /INDEX "(\w+)"/.exec(sql)?.[1] ?? "";
  const [index] = database.all("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", [
    name,
  ]);
  if (index?.["sql"] === sql) return;
  database.run(`DROP INDEX IF EXISTS "${name}"`);
  database.run(sql);
}

/** The definition of a prepared table; columns that the registry dropped stay in it. */
function definitionOf(table: Table, earlier: Definition | null): Definition {
  const types = table.columns.map((column) => [column.name, typeName(column)]);
  return {
    key: table.keyColumns.map(({ name }) => name),
    columns: { ...earlier?.columns, ...Object.fromEntries(types) },
    order: orderExpression(table),
  };
}

/** Rows that exist cannot follow a column to another type name. */
function typeName(column: Column): string {
  return isNumbered(column) ? `${column.type} auto_increment` : column.type;
}

/** True for an `id` that SQLite numbers. An `id` in the key is a column like others. */
function isNumbered(column: Column): boolean {
  return column.autoIncrement && !column.isKey;
}

function saveDefinition(database: SqliteDatabase, tableName: string, definition: Definition): void {
  database.run("INSERT OR REPLACE INTO repsync_tables (name, definition) VALUES (?, ?)", [
    tableName,
    JSON.stringify(definition),
  ]);
}
