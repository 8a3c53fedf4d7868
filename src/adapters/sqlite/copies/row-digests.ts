// What a file holds, table by table: by these digests two files are known to hold the same rows. D-10.7.
import { createHash } from "node:crypto";
import type { SqliteConnection, SqliteRow } from "../driver/driver.ts";
import { quotedName } from "../driver/unique-keys.ts";

/** The table of a backup that says what it is and holds. It is in no digest. */
export const BACKUP_TABLE = "repsync_backup";
/** Stands for what the tables, indexes and triggers are. */
const SCHEMA = "";

/** Rows and digest of each table by its name; that of `""` is of the schema. */
export type TableDigests = Readonly<Record<string, readonly [rows: number, digest: string]>>;

const TABLES = `SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name <> '${BACKUP_TABLE}' AND sql NOT LIKE 'CREATE VIRTUAL%'
  AND (name NOT LIKE 'sqlite!_%' ESCAPE '!' OR name = 'sqlite_sequence') ORDER BY name`;
const SCHEMA_ROWS = `SELECT type || ' ' || name || ' ' || ifnull(sql, '') AS text FROM sqlite_schema
  WHERE tbl_name <> '${BACKUP_TABLE}' ORDER BY type, name`;
const COLUMNS = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid";

/** Rows that are read in one turn. */
const TURN_ROWS = 10_000;

/** Reads every row; says now and then how many so far. */
export function* digestTables(
  connection: SqliteConnection,
): Generator<number, TableDigests, undefined> {
  const digests: Record<string, readonly [number, string]> = {};
  let before = 0;
  for (const name of [SCHEMA, ...tableNames(connection)]) {
    const sql = name === SCHEMA ? SCHEMA_ROWS : rowTexts(connection, name);
    const hash = createHash("sha256");
    let rows = 0;
    const statement = connection.prepare(sql);
    try {
      for (const { text } of statement.iterate([])) {
        hash.update(`${String(text)}\n`);
        if (++rows % TURN_ROWS === 0) yield before + rows;
      }
    } finally {
      statement.finalize();
    }
    before += rows;
    digests[name] = [rows, hash.digest("hex")];
  }
  return digests;
}

/** The tables that have rows in them which are digested. */
export function tableNames(connection: SqliteConnection): readonly string[] {
  return allRows(connection, TABLES).map((row) => String(row["name"]));
}

/** True for the tables of the registry, and of other programs. */
export function isRowTable(name: string): boolean {
  return !/^(?:repsync_|sqlite_)/.test(name) && name !== SCHEMA;
}

/** Every row of a statement that is used once. */
export function allRows(
  connection: SqliteConnection,
  sql: string,
  values: readonly string[] = [],
): SqliteRow[] {
  const statement = connection.prepare(sql);
  try {
    return statement.all(values);
  } finally {
    statement.finalize();
  }
}

/** Each row as one text that tells all of it: SQL literals, and the bytes of texts that hold a NUL. */
function rowTexts(connection: SqliteConnection, name: string): string {
  const columns = allRows(connection, COLUMNS, [name]).map((row) =>
    quotedName(String(row["name"])),
  );
  const literals = columns.map(
    (column) =>
      `CASE WHEN typeof(${column}) = 'text' AND instr(${column}, char(0)) THEN 't' || hex(${column}) ELSE quote(${column}) END`,
  );
  return `SELECT ${literals.join(" || ',' || ")} AS text FROM ${quotedName(name)}`;
}
