import type { IndexColumns } from "../../../domain/sync/table/table-refusals.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { ORDER_COLUMN } from "./order-column.ts";

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

export function keyIndexName(tableName: string): string {
  return `repsync_key_${tableName}`;
}

/** The object with this name in any case; null when the name is free. */
export function findTable(database: SqliteDatabase, tableName: string): FoundTable | null {
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
