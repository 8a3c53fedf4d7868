// Names in statements, and the unique keys that tables have.
import type { SqliteDatabase } from "./database.ts";
import type { SqliteWork } from "./run-body.ts";

/** The column of an INTEGER PRIMARY KEY, which has no index. */
const ROW_NUMBER =
  "SELECT name AS column FROM pragma_table_info(?) WHERE pk = 1 AND type = 'INTEGER'";
/** A null column stands for an expression. */
const UNIQUE_COLUMNS = `SELECT i.name AS key, c.name AS column, nullif(c.coll, 'BINARY') AS collation,
    EXISTS (SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = c.name AND hidden IN (2, 3)) AS is_generated
  FROM pragma_index_list(?1) i, pragma_index_xinfo(i.name) c WHERE i."unique" AND c.key`;

export interface UniqueKey {
  readonly columns: readonly string[];
  /** True where the row `NEW` of a trigger is in the way of the row `taken`. */
  readonly isTaken: string;
  /** Updates that may change the key, in a trigger: of its columns, or any where one is generated. */
  readonly ofColumns: string;
}

/** Each unique key without expressions. */
export function uniqueKeys(database: SqliteDatabase, tableName: string): readonly UniqueKey[] {
  const parts = Map.groupBy(database.all(UNIQUE_COLUMNS, [tableName]), ({ key }) => key);
  const numbers = database.all(ROW_NUMBER, [tableName]).map((number) => [number]);
  return [...parts.values(), ...numbers]
    .filter((part) => part.every(({ column }) => column !== null))
    .map((part) => {
      const columns = part.map(({ column }) => String(column));
      const isTaken = part.map(({ column, collation = null }) => {
        const name = quotedName(String(column));
        return `taken.${name} = NEW.${name}${collation === null ? "" : ` COLLATE ${collation}`}`;
      });
      const isGenerated = part.some(({ is_generated }) => is_generated === 1);
      const ofColumns = isGenerated ? "" : `OF ${columns.map(quotedName).join(", ")}`;
      return { columns, isTaken: isTaken.join(" AND "), ofColumns };
    });
}

/** The same number twice means that no process has changed a schema in between. */
export function schemaVersion(work: SqliteWork): number {
  return Number(work.all("PRAGMA schema_version")[0]?.["schema_version"]);
}

/** Quotes a name, which may have any characters. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
