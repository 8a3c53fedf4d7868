// Checks that a found table can be the registry's, before anything is written. D-2.4, D-11.4. Keys must compare by bytes, as under
// NOCASE two keys of another instance would be one row. Columns must have the affinity of their type. Other declarations of an
// application only refuse single records.
import { DROPPED_NAME, hasDroppedName } from "../../../domain/sync/people/name-facts.ts";
import { type Column, isNumberedByStore, type Table } from "../../../domain/sync/table/table.ts";
import {
  GENERATED,
  NOT_ADDED,
  otherLetters,
  servingKey,
  sharedKey,
  type TableRefusal,
  takenName,
} from "../../../domain/sync/table/table-refusals.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { declaredType } from "./column-values.ts";
import { type FoundTable, findTable, keyIndexName } from "./found-table.ts";

/** A table of the registry, and what the file has in its place. */
export interface ExaminedTable {
  readonly table: Table;
  /** Null where the name is free. */
  readonly found: FoundTable | null;
  /** Everything that keeps the found table from being the registry's. */
  readonly refusal: TableRefusal;
  /** True for an empty table of repsync that does not fit and is made anew. */
  readonly isReplaced: boolean;
}

const INDEX_SQL = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?";

/** Within a read or a write. */
export function examineTable(database: SqliteDatabase, table: Table): ExaminedTable {
  const found = findTable(database, table.name);
  const problems = found === null ? [] : tableProblems(database, table, found);
  const isForeign = found?.isForeign === true;
  const isReplaced = problems.length > 0 && !isForeign && !found?.hasRows;
  const refusal = { tableName: table.name, isForeign, problems: isReplaced ? [] : problems };
  return { table, found, refusal, isReplaced };
}

/** Null without such an index. */
export function indexSql(database: SqliteDatabase, name: string): string | null {
  const [index] = database.all(INDEX_SQL, [name]);
  return index === undefined ? null : String(index["sql"]);
}

/** The index on the key, where no other serves. */
export function keyIndexSql(table: Table): string {
  const keys = table.keyColumns.map(({ name }) => `"${name}"`).join(", ");
  return `CREATE UNIQUE INDEX "${keyIndexName(table.name)}" ON "${table.name}" (${keys})`;
}

/** The type that stored rows have, as they cannot follow a change of it. */
export function typeName(column: Column): string {
  return isNumberedByStore(column) ? `${column.type} auto_increment` : column.type;
}

function tableProblems(database: SqliteDatabase, table: Table, found: FoundTable): string[] {
  const { kind, name } = found;
  if (kind !== "table") return [takenName(kind)];
  const problems = name === table.name ? [] : [`it is called "${name}" in the database`];
  const key = table.keyColumns.map((column) => column.name);
  const foundKey = (found.hasRows ? found.definition?.key : null) ?? key;
  if (JSON.stringify(foundKey) !== JSON.stringify(key)) {
    problems.push(`its upsert key is (${foundKey.join(", ")}) in the database`);
  }
  for (const column of table.columns) {
    const problem = columnProblem(column, found);
    if (problem !== null) problems.push(`column "${column.name}" ${problem}`);
  }
  const named = `SELECT 1 FROM "${name}" WHERE username IS NOT NULL LIMIT 1`;
  const isDropped = hasDroppedName(table, found.definition?.columns);
  if (isDropped && found.columns.has("username") && database.all(named).length > 0) {
    problems.push(DROPPED_NAME);
  }
  if (key.every((column) => found.columns.has(column))) {
    problems.push(...keyProblems(database, table, found));
  }
  return problems;
}

function columnProblem(column: Column, found: FoundTable): string | null {
  const there = found.columns.get(column.name);
  if (there === undefined) return missingColumnProblem(column, found);
  if (there.isGenerated) return GENERATED;
  const columns = (found.hasRows ? found.definition?.columns : null) ?? {};
  const known = Object.hasOwn(columns, column.name) ? columns[column.name] : undefined;
  const wanted = typeName(column);
  if (known !== undefined && known !== wanted) {
    return `is of type ${known} in the database, not ${wanted}`;
  }
  if (known !== undefined && !found.isForeign) return null;
  if (isNumberedByStore(column) && found.rowNumberColumn !== column.name) {
    return "is not the INTEGER PRIMARY KEY in the database";
  }
  const needed = declaredType(column);
  if (there.affinity === needed) return null;
  const declared = there.type === "" ? "without a type" : there.type;
  const kept = there.type === there.affinity ? declared : `${declared}, kept as ${there.affinity},`;
  return `is ${kept} in the database, where ${column.type} is kept as ${needed}`;
}

function missingColumnProblem(column: Column, found: FoundTable): string | null {
  const other = otherLetters(column.name, found.columns.keys());
  if (other !== null) return other;
  if (found.isForeign) return NOT_ADDED;
  if (isNumberedByStore(column))
    return "is to number the rows, which SQLite does from the first row on";
  const needsValue = found.hasRows && (column.isKey || !column.nullable);
  return needsValue ? "may not be null and would be in the rows that exist" : null;
}

function keyProblems(database: SqliteDatabase, table: Table, found: FoundTable): string[] {
  const keys = table.keyColumns.map(({ name }) => `"${name}"`);
  if (keys.some((name) => !isComparedByBytes(database, found, name))) {
    return [`its key (${keys.join(", ")}) is not compared by bytes in the database`];
  }
  const isUnique =
    servingKey(table, found.keys) !== undefined ||
    indexSql(database, keyIndexName(table.name)) === keyIndexSql(table);
  if (isUnique || !hasDuplicates(database, found, keys)) return [];
  return [sharedKey(keys)];
}

/** Compares a literal, as no pragma tells the collation of a column. */
function isComparedByBytes(database: SqliteDatabase, found: FoundTable, column: string): boolean {
  const values = `SELECT ${column} AS v FROM "${found.name}" WHERE false UNION ALL SELECT 'x'`;
  return database.all(`SELECT 1 FROM (${values}) WHERE v IN ('X', 'x ')`).length === 0;
}

function hasDuplicates(
  database: SqliteDatabase,
  { name }: FoundTable,
  keys: readonly string[],
): boolean {
  const hasKey = keys.map((key) => `${key} IS NOT NULL`).join(" AND ");
  const sql = `SELECT 1 FROM "${name}" WHERE ${hasKey} GROUP BY ${keys.join(", ")} HAVING count(*) > 1 LIMIT 1`;
  return database.all(sql).length > 0;
}
