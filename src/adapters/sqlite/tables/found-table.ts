// What a database file holds of a table before it is prepared.
import type { SqliteDatabase } from "../driver/database.ts";

/** What is remembered of a prepared table, to tell a changed registry from the one before. */
export interface Definition {
  /** The upsert key's columns in their order. */
  readonly key: readonly string[];
  /** Type by column name, columns that the registry dropped since included. */
  readonly columns: Readonly<Record<string, string>>;
  /** The expression that the order column is generated from; null without one. */
  readonly order: string | null;
}

/** A table in the file, made here or by another tool. */
export interface FoundTable {
  /** As written there: SQLite does not tell letters by case. */
  readonly name: string;
  readonly isView: boolean;
  /** Null for a table that repsync did not prepare yet. */
  readonly definition: Definition | null;
  /** Affinity by column name. */
  readonly affinities: ReadonlyMap<string, string>;
  /** The INTEGER PRIMARY KEY; null without one. */
  readonly rowNumberColumn: string | null;
  readonly hasRows: boolean;
}

/** Looks for a table by name, in any case; null when there is none. */
export function findTable(database: SqliteDatabase, tableName: string): FoundTable | null {
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

/** Remembers what a table was prepared as. */
export function saveDefinition(
  database: SqliteDatabase,
  tableName: string,
  definition: Definition,
): void {
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
