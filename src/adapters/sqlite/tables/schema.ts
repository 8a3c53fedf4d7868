// Makes the registry's tables, and refuses what would lose data or break a promise. D-2.4.
import { AppError } from "../../../domain/shared/errors.ts";
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { declaredType } from "./column-values.ts";
import { type Definition, type FoundTable, findTable, saveDefinition } from "./found-table.ts";
import { ORDER_COLUMN, orderColumns, orderExpression } from "./statements.ts";

/** Makes what is missing, within the caller's transaction. Throws `schema_conflict`; its rollback undoes the rest. */
export function prepareTables(database: SqliteDatabase, tables: readonly Table[]): void {
  for (const table of tables) prepareTable(database, table);
}

function prepareTable(database: SqliteDatabase, table: Table): void {
  let found = findTable(database, table.name);
  if (found !== null) {
    const problems = changeProblems(table, found);
    if (problems.length > 0) {
      if (found.hasRows || found.definition === null) throw conflict(table, problems);
      database.run(`DROP TABLE "${table.name}"`);
      found = null;
    }
  }
  if (found === null) createTable(database, table);
  else addColumns(database, table, found);
  setOrderColumn(database, table, found);
  setIndexes(database, table);
  const definition = definitionOf(table, found?.definition ?? null);
  if (JSON.stringify(definition) !== JSON.stringify(found?.definition)) {
    saveDefinition(database, table.name, definition);
  }
}

/** What keeps a table that exists from becoming the registry's. */
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

function conflict(table: Table, problems: readonly string[]): AppError {
  const advice =
    "Undo the change in the registry, or export the table, drop it and import it again";
  const message = `Table "${table.name}" cannot be changed to the registry's: ${problems.join("; ")}. ${advice}`;
  return new AppError("schema_conflict", message);
}

function createTable(database: SqliteDatabase, table: Table): void {
  database.run(`CREATE TABLE "${table.name}" (${table.columns.map(columnSql).join(", ")})`);
}

function addColumns(database: SqliteDatabase, table: Table, found: FoundTable): void {
  for (const column of table.columns) {
    if (found.affinities.has(column.name)) continue;
    database.run(`ALTER TABLE "${table.name}" ADD COLUMN ${columnSql(column)}`);
  }
}

/** Only the type: whether a value may be null is decided before, so a registry may drop a column and go on. */
function columnSql(column: Column): string {
  return `"${column.name}" ${declaredType(column)}${isNumbered(column) ? " PRIMARY KEY" : ""}`;
}

/** Makes the order column anew when it is generated from something else by now. */
function setOrderColumn(database: SqliteDatabase, table: Table, found: FoundTable | null): void {
  const wanted = orderExpression(table);
  const isThere = found?.affinities.has(ORDER_COLUMN) ?? false;
  if (isThere && found?.definition?.order === wanted) return;
  const alter = `ALTER TABLE "${table.name}"`;
  if (isThere) {
    database.run(`DROP INDEX IF EXISTS "${orderIndexName(table)}"`);
    database.run(`${alter} DROP COLUMN ${ORDER_COLUMN}`);
  }
  if (wanted !== null) {
    database.run(
      `${alter} ADD COLUMN ${ORDER_COLUMN} TEXT GENERATED ALWAYS AS (${wanted}) VIRTUAL`,
    );
  }
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

/** Makes an index unless it is there just so. */
function setIndex(database: SqliteDatabase, sql: string): void {
  const name = /INDEX "(\w+)"/.exec(sql)?.[1] ?? "";
  const [index] = database.all("SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", [
    name,
  ]);
  if (index?.["sql"] === sql) return;
  database.run(`DROP INDEX IF EXISTS "${name}"`);
  database.run(sql);
}

/** What to remember of a prepared table; columns that the registry dropped are still there. */
function definitionOf(table: Table, earlier: Definition | null): Definition {
  const types = table.columns.map((column) => [column.name, typeName(column)]);
  return {
    key: table.keyColumns.map(({ name }) => name),
    columns: { ...earlier?.columns, ...Object.fromEntries(types) },
    order: orderExpression(table),
  };
}

/** A column whose type name differs is another column to the rows that exist. */
function typeName(column: Column): string {
  return isNumbered(column) ? `${column.type} auto_increment` : column.type;
}

/** True for an `id` that the store numbers. Within the key it is a column like others. */
function isNumbered(column: Column): boolean {
  return column.autoIncrement && !column.isKey;
}
