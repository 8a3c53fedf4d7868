// Makes the registry's tables, and refuses changes that would lose data or break a promise. D-2.4.
import { AppError } from "../../../domain/shared/errors.ts";
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { declaredType } from "./column-values.ts";
import { ORDER_COLUMN, orderColumns, orderExpression } from "./statements.ts";

export const DEFINITION_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_tables (
    name TEXT PRIMARY KEY, definition TEXT NOT NULL
  ) WITHOUT ROWID`,
];

/** What a table was last prepared as, to notice what a changed registry would break. */
interface Definition {
  /** The upsert key's columns in their order. */
  readonly key: readonly string[];
  /** Type by column name, columns that the registry has dropped since included. */
  readonly columns: Readonly<Record<string, string>>;
  /** The expression that the order column is generated from; null without one. */
  readonly order: string | null;
}

/** A table in the file, made here or by another tool. */
interface FoundTable {
  /** As the file has it; SQLite ignores case in names. */
  readonly name: string;
  readonly isView: boolean;
  /** Null for a table that was never prepared. */
  readonly definition: Definition | null;
  /** Affinity by column name. */
  readonly affinities: ReadonlyMap<string, string>;
  /** The INTEGER PRIMARY KEY; null without one. */
  readonly rowNumberColumn: string | null;
  readonly hasRows: boolean;
}

/** Makes what is missing, within the caller's transaction. Throws `schema_conflict`; the caller then rolls back. */
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

/** Without NOT NULL: nulls are checked before writing, so a registry may drop a column and go on. */
function columnSql(column: Column): string {
  return `"${column.name}" ${declaredType(column)}${isNumbered(column) ? " PRIMARY KEY" : ""}`;
}

/** Makes the order column, anew when what it is generated from has changed. */
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

/** Finds a table by its name in any case; null when there is none. */
function findTable(database: SqliteDatabase, tableName: string): FoundTable | null {
  const [schema] = database.all(
    "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
    [tableName],
  );
  if (schema === undefined) return null;
  const name = String(schema["name"]);
  const columns = database.all("SELECT name, type, pk FROM pragma_table_xinfo(?)", [name]);
  const numbers = columns.filter((column) => column["pk"] === 1 && column["type"] === "INTEGER");
  const isSingleKey = columns.every((column) => Number(column["pk"]) <= 1);
  const [row] = database.all(`SELECT EXISTS (SELECT 1 FROM "${name}") AS hasRows`);
  return {
    name,
    isView: schema["type"] === "view",
    definition: readDefinition(database, name),
    affinities: new Map(
      columns.map((column) => [String(column["name"]), affinityOf(String(column["type"]))]),
    ),
    rowNumberColumn: isSingleKey && numbers[0] ? String(numbers[0]["name"]) : null,
    hasRows: row?.["hasRows"] === 1,
  };
}

function saveDefinition(database: SqliteDatabase, tableName: string, definition: Definition): void {
  database.run("INSERT OR REPLACE INTO repsync_tables (name, definition) VALUES (?, ?)", [
    tableName,
    JSON.stringify(definition),
  ]);
}

function readDefinition(database: SqliteDatabase, tableName: string): Definition | null {
  const [row] = database.all("SELECT definition FROM repsync_tables WHERE name = ?", [tableName]);
  return row === undefined ? null : (JSON.parse(String(row["definition"])) as Definition);
}

/** SQLite's rule for the affinity of a declared type. */
function affinityOf(declaredType: string): string {
  if (/INT/i.test(declaredType)) return "INTEGER";
  if (/CHAR|CLOB|TEXT/i.test(declaredType)) return "TEXT";
  if (declaredType === "" || /BLOB/i.test(declaredType)) return "BLOB";
  return /REAL|FLOA|DOUB/i.test(declaredType) ? "REAL" : "NUMERIC";
}
