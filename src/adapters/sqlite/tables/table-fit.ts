// Finds what has the name of a table, and checks that it can be the registry's, before anything is written. D-2.4, D-11.4. Keys must
// compare by bytes, as under NOCASE two keys of another instance would be one row. Columns must have the affinity of their type. Other
// declarations of an application only refuse single records.
import { DROPPED_NAME, hasDroppedName } from "../../../domain/sync/people/name-facts.ts";
import { type Column, isNumberedByStore, type Table } from "../../../domain/sync/table/table.ts";
import {
  GENERATED,
  type IndexColumns,
  NOT_ADDED,
  otherLetters,
  servingKey,
  sharedKey,
  type TableRefusal,
  takenName,
  WAS_THERE,
} from "../../../domain/sync/table/table-refusals.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { declaredType } from "./column-values.ts";
import { ORDER_COLUMN } from "./order-column.ts";

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

/** How a table was last prepared, to notice what a changed registry would break. */
export interface Definition {
  readonly key: readonly string[];
  /** Types by column name, also of columns that the registry has dropped. */
  readonly columns: Readonly<Record<string, string>>;
  /** The timestamp column; null without one. */
  readonly time: string | null;
  /** The expression of the order column; null without one. */
  readonly order: string | null;
  /** Present for a table that another program made. */
  readonly isForeign?: true;
}

interface FoundColumn {
  /** The declared type in capital letters: any words, or none. */
  readonly type: string;
  readonly affinity: string;
  readonly isGenerated: boolean;
}

export interface FoundTable {
  /** As in the file: SQLite ignores case in names. */
  readonly name: string;
  readonly kind: "table" | "view" | "index" | "virtual table";
  readonly isForeign: boolean;
  /** Null for a table that was never prepared. */
  readonly definition: Definition | null;
  /** By name, with the order column. */
  readonly columns: ReadonlyMap<string, FoundColumn>;
  /** Unique indexes that repsync did not make and that compare by bytes. */
  readonly keys: readonly IndexColumns[];
  /** The INTEGER PRIMARY KEY; null without one. */
  readonly rowNumberColumn: string | null;
  readonly hasRows: boolean;
}

const INDEX_SQL = "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?";

/** Within a read or a write. */
export function examineTable(
  database: SqliteDatabase,
  table: Table,
  isServed: boolean,
): ExaminedTable {
  const there = findTable(database, table.name);
  // An empty table of repsync may be made anew, but for one that is served.
  const found = there && { ...there, hasRows: there.hasRows || isServed };
  const problems = found === null ? [] : tableProblems(database, table, found);
  const isForeign = found?.isForeign === true;
  const isOwn = found?.kind === "table" && !isForeign;
  const isReplaced = problems.length > 0 && isOwn && !found.hasRows;
  const refusal = { tableName: table.name, isForeign, problems: isReplaced ? [] : problems };
  return { table, found, refusal, isReplaced };
}

/** Null without such an index. */
export function indexSql(database: SqliteDatabase, name: string): string | null {
  const [index] = database.all(INDEX_SQL, [name]);
  return index === undefined ? null : String(index["sql"]);
}

export function keyIndexName(tableName: string): string {
  return `repsync_key_${tableName}`;
}

/** The index on the key, where no other serves. */
export function keyIndexSql(table: Table): string {
  const keys = table.keyColumns.map(({ name }) => `"${name}"`).join(", ");
  return `CREATE UNIQUE INDEX "${keyIndexName(table.name)}" ON "${table.name}" (${keys})`;
}

/** Suffix of the type of a column that numbers the rows. */
export const NUMBERED = " auto_increment";

/** The type that stored rows have, as they cannot follow a change of it. */
export function typeName(column: Column): string {
  return isNumberedByStore(column) ? `${column.type}${NUMBERED}` : column.type;
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
  // Values of another program are what it says that they are. Tombstones have keys of the former type.
  const mayFollow = found.isForeign && !column.isKey;
  if (known !== undefined && known !== wanted && !mayFollow) {
    return `is of type ${known} in the database, not ${wanted}`;
  }
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
  if (found.hasRows && Object.hasOwn(found.definition?.columns ?? {}, column.name))
    return WAS_THERE;
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

const FIND = `SELECT name, CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual table' ELSE type END AS kind
  FROM sqlite_schema WHERE type <> 'trigger' AND name = ? COLLATE NOCASE`;
const COLUMNS = "SELECT name, type, pk, hidden IN (2, 3) AS isGenerated FROM pragma_table_xinfo(?)";
/** The row number is the only primary key without an index. */
const HAS_KEY_INDEX = "SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk'";
/** A null column stands for an expression. */
const KEYS = `SELECT i.name AS "index", c.name AS "column", c.coll = 'BINARY' AS isBinary, c."desc" AS isDescending
  FROM pragma_index_list(?1) i, pragma_index_xinfo(i.name) c
  WHERE i."unique" AND NOT i.partial AND i.name <> ?2 AND c.key ORDER BY i.seq, c.seqno`;
const HAS_DEFINITIONS =
  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'repsync_tables'";

/** The object with this name in any case; null when the name is free. */
function findTable(database: SqliteDatabase, tableName: string): FoundTable | null {
  const [schema] = database.all(FIND, [tableName]);
  if (schema === undefined) return null;
  const name = String(schema["name"]);
  const kind = schema["kind"] as FoundTable["kind"];
  const isTable = kind === "table";
  const columns = database.all(COLUMNS, [name]);
  const number = columns.find(({ pk, type }) => pk === 1 && /^integer$/i.test(String(type)));
  const isNumber = number !== undefined && database.all(HAS_KEY_INDEX, [name]).length === 0;
  const rowNumberColumn = isNumber ? String(number["name"]) : null;
  const definition = readDefinition(database, name);
  const isForeign = definition === null || definition.isForeign === true;
  return {
    name,
    kind,
    isForeign,
    definition,
    columns: new Map(
      columns.map(({ name: column, type, isGenerated }) => [
        String(column),
        {
          type: String(type).toUpperCase(),
          affinity: affinityOf(String(type)),
          isGenerated: isGenerated === 1 && column !== ORDER_COLUMN,
        },
      ]),
    ),
    keys: isTable ? findKeys(database, name, rowNumberColumn) : [],
    rowNumberColumn,
    hasRows: isTable && database.all(`SELECT 1 FROM "${name}" LIMIT 1`).length > 0,
  };
}

function findKeys(
  database: SqliteDatabase,
  tableName: string,
  rowNumberColumn: string | null,
): IndexColumns[] {
  const parts = Map.groupBy(
    database.all(KEYS, [tableName, keyIndexName(tableName)]),
    (part) => part["index"],
  );
  const keys = [...parts.values()]
    .filter((key) => key.every(({ column, isBinary }) => column !== null && isBinary === 1))
    .map((key) => ({
      columns: key.map(({ column }) => String(column)),
      isAscending: key.every(({ isDescending }) => isDescending === 0),
    }));
  if (rowNumberColumn === null) return keys;
  return [...keys, { columns: [rowNumberColumn], isAscending: true }];
}

function readDefinition(database: SqliteDatabase, tableName: string): Definition | null {
  if (database.all(HAS_DEFINITIONS).length === 0) return null;
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
