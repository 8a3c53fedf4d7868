// Views that show the fields of documents to people who open the file: `SELECT * FROM repsync_accounts_view`.
import type { AnyCollection } from "../../../ports/documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { quotedName } from "../driver/unique-keys.ts";

const FIND = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?";

/** Makes the view of a collection, within a write, anew where it is another one. */
export function makeView(database: SqliteDatabase, collection: AnyCollection): void {
  const name = viewName(collection);
  const sql = viewSql(collection);
  if (database.all(FIND, [name])[0]?.["sql"] === sql) return;
  database.run(`DROP VIEW IF EXISTS ${name}`);
  database.run(sql);
}

export function viewSql(collection: AnyCollection): string {
  const table = `repsync_${collection.name}`;
  return `CREATE VIEW ${viewName(collection)} AS SELECT ${columnsOf(collection)} FROM ${table}`;
}

function viewName({ name }: AnyCollection): string {
  return `repsync_${name}_view`;
}

/** The fields by their names; the whole document where they are not told. */
function columnsOf({ fields, bytes = [] }: AnyCollection): string {
  if (fields === undefined) return "doc";
  const columns = fields.map((field) => {
    const value = bytes.includes(field) ? `bytes_${field}` : `doc ->> '$.${field}'`;
    return `${value} AS ${quotedName(field)}`;
  });
  return columns.join(", ");
}
