// The table of a collection: one row per document, with its JSON, and a column for each index and each field of bytes.
import { orElse } from "../../../domain/shared/errors.ts";
import type { AnyCollection, Damaged, Stretch } from "../../../ports/documents.ts";
import { DocumentForm, rangesOf } from "../../../ports/stored-documents.ts";
import type { SqliteRow, SqliteValue } from "../driver/connection.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { quotedName } from "../driver/schema.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const PREFIX = "repsync_";

export class CollectionTable {
  readonly name: string;
  /** The columns that `documentOf` reads. */
  readonly columns: string;
  /** The columns that `asStored` reads. */
  readonly storedColumns: string;
  readonly find: string;
  readonly put: string;
  readonly remove: string;
  readonly form: DocumentForm;

  constructor(collection: AnyCollection) {
    this.name = `${PREFIX}${collection.name}`;
    const form = new DocumentForm(collection);
    const others = ["doc", ...form.otherColumns];
    this.form = form;
    this.columns = ["key", "doc", ...form.bytesColumns].join(", ");
    this.find = `SELECT ${this.columns} FROM ${this.name} WHERE key = ?`;
    const found = "key, quote(key) AS place, typeof(doc) AS kind, CAST(doc AS BLOB) AS doc";
    this.storedColumns = [found, ...form.otherColumns].join(", ");
    const marks = ["?", ...others.map(() => "?")].join(", ");
    const changes = others.map((column) => `${column} = excluded.${column}`).join(", ");
    this.put = `INSERT INTO ${this.name} (key, ${others.join(", ")}) VALUES (${marks})
      ON CONFLICT (key) DO UPDATE SET ${changes}`;
    this.remove = `DELETE FROM ${this.name} WHERE key = ?`;
  }

  create(): string {
    const more = this.form.otherColumns.map((column) => `, ${column} BLOB`);
    return `CREATE TABLE IF NOT EXISTS ${this.name} (
      key BLOB PRIMARY KEY, doc TEXT NOT NULL${more.join("")}
    ) WITHOUT ROWID`;
  }

  /** The columns that are not present. */
  missingFrom(present: ReadonlySet<string>): readonly string[] {
    return ["key", "doc", ...this.form.otherColumns].filter((column) => !present.has(column));
  }

  createIndexes(): readonly string[] {
    return this.form.indexes.map((index) => {
      const column = this.form.orderColumn(index);
      return `CREATE UNIQUE INDEX IF NOT EXISTS ${this.name}_${index} ON ${this.name} (${column})`;
    });
  }

  /** The values of `put`. */
  valuesOf(doc: object): SqliteValue[] {
    const { key, text, others } = this.form.stored(doc);
    return [key, text, ...others];
  }

  /** Throws `store_unavailable` for a row that another program wrote. */
  documentOf(row: SqliteRow): object {
    const others = this.form.bytesColumns.map((column) => row[column]);
    return this.form.read({ key: row["key"], text: row["doc"], others });
  }

  /** The document, or `Damaged` when a column differs from what `put` stores. */
  asStored(row: SqliteRow): object | Damaged {
    const bytes = row["doc"] as Uint8Array;
    const text = row["kind"] === "text" ? orElse(null, () => decoder.decode(bytes)) : null;
    const others = this.form.otherColumns.map((column) => row[column]);
    return this.form.asStored({ key: row["key"], text, others }, String(row["place"]));
  }
}

export interface RangeSql {
  readonly condition: string;
  readonly values: readonly Uint8Array[];
}

/** Disjoint ranges of a stretch, in the direction of reading. */
export function conditionsOf(column: string, stretch: Stretch): readonly RangeSql[] {
  return rangesOf(stretch).map(({ from, before }) => {
    // A document without a place in the index has NULL. A key of another program may be no bytes, and comes before all bytes.
    const [low, lows] = from.length === 0 ? ["IS NOT NULL", []] : [">= ?", [from]];
    const [high, highs] = before === null ? ["", []] : [` AND ${column} < ?`, [before]];
    return { condition: `${column} ${low}${high}`, values: [...lows, ...highs] };
  });
}

// Views for people who open the file: `SELECT * FROM repsync_accounts_view` shows the fields of documents.

const FIND = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?";

/** Makes the view, anew when its SQL has changed. Within a write. */
export function makeView(database: SqliteDatabase, collection: AnyCollection): void {
  const table = `${PREFIX}${collection.name}`;
  const name = `${table}_view`;
  const sql = `CREATE VIEW ${name} AS SELECT ${columnsOf(collection)} FROM ${table}`;
  if (database.all(FIND, [name])[0]?.["sql"] === sql) return;
  database.run(`DROP VIEW IF EXISTS ${name}`);
  database.run(sql);
}

/** The fields by name; the whole document where the collection names none. */
function columnsOf({ fields, bytes = [] }: AnyCollection): string {
  if (fields === undefined) return "doc";
  const columns = fields.map((field) => {
    const value = bytes.includes(field) ? `bytes_${field}` : `doc ->> '$.${field}'`;
    return `${value} AS ${quotedName(field)}`;
  });
  return columns.join(", ");
}
