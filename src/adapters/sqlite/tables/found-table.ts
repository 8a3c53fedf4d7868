// A table as it is in the file.
import type { SqliteDatabase } from "../driver/database.ts";
import { ORDER_COLUMN } from "./order-column.ts";

/** What a table was last prepared as, to notice what a changed registry would break. */
export interface Definition {
  /** The upsert key's columns in their order. */
  readonly key: readonly string[];
  /** Type by column name, columns that the registry has dropped since included. */
  readonly columns: Readonly<Record<string, string>>;
  /** The expression that the order column is generated from; null without one. */
  readonly order: string | null;
}

/** A table in the file, made here or by another tool. */
export interface FoundTable {
  /** As the file has it; SQLite ignores case in names. */
  readonly name: string;
  readonly isView: boolean;
  /** Null for a table that was never prepared. */
  readonly definition: Definition | null;
  /** Affinity by column name. */
  readonly affinities: ReadonlyMap<string, string>;
  /** Columns that the database computes, the one to order by left out. */
  readonly generated: readonly string[];
  /** The INTEGER PRIMARY KEY; null without one. */
  readonly rowNumberColumn: string | null;
  readonly hasRows: boolean;
}

const COLUMNS = "SELECT name, type, pk, hidden IN (2, 3) AS isGenerated FROM pragma_table_xinfo(?)";

/** Finds a table by its name in any case; null when there is none. */
export function findTable(database: SqliteDatabase, tableName: string): FoundTable | null {
  const [schema] = database.all(
    "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE",
    [tableName],
  );
  if (schema === undefined) return null;
  const name = String(schema["name"]);
  const columns = database.all(COLUMNS, [name]);
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
    generated: columns
      .filter((column) => column["isGenerated"] === 1 && column["name"] !== ORDER_COLUMN)
      .map((column) => String(column["name"])),
    rowNumberColumn: isSingleKey && numbers[0] ? String(numbers[0]["name"]) : null,
    hasRows: row?.["hasRows"] === 1,
  };
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
