// The table that a collection is kept in: a row a document, its JSON, and a column for each index and each field of bytes.
import {
  AFTER_PARTS,
  checkKey,
  compareKeys,
  distinctBeginnings,
  type Key,
  keyBytes,
  keyOfBytes,
} from "../../../domain/shared/document-key.ts";
import {
  type AnyCollection,
  Damaged,
  damagedDocument,
  type Stretch,
} from "../../../ports/documents.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow, SqliteValue } from "../driver/driver.ts";
import { quotedName } from "../driver/unique-keys.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const PREFIX = "repsync_";

type IndexOf = readonly [name: string, placeOf: (doc: object) => Key | null];

export class CollectionTable {
  readonly collection: AnyCollection;
  readonly name: string;
  /** Columns that documents are read from. */
  readonly columns: string;
  readonly put: string;
  readonly remove: string;
  readonly #bytes: readonly string[];
  readonly #indexes: readonly IndexOf[];

  constructor(collection: AnyCollection) {
    this.collection = collection;
    this.name = `${PREFIX}${collection.name}`;
    this.#bytes = collection.bytes ?? [];
    this.#indexes = Object.entries(collection.indexes ?? {});
    this.columns = ["key", "doc", ...this.#bytes.map(bytesColumn)].join(", ");
    const others = this.#columns();
    const marks = ["?", ...others.map(() => "?")].join(", ");
    const changes = others.map((column) => `${column} = excluded.${column}`).join(", ");
    this.put = `INSERT INTO ${this.name} (key, ${others.join(", ")}) VALUES (${marks})
      ON CONFLICT (key) DO UPDATE SET ${changes}`;
    this.remove = `DELETE FROM ${this.name} WHERE key = ?`;
  }

  create(): string {
    const [, ...others] = this.#columns();
    const more = others.map((column) => `, ${column} BLOB`).join("");
    return `CREATE TABLE IF NOT EXISTS ${this.name} (
      key BLOB PRIMARY KEY, doc TEXT NOT NULL${more}
    ) WITHOUT ROWID`;
  }

  /** Columns that a table with these columns lacks. */
  missingFrom(present: ReadonlySet<string>): readonly string[] {
    return this.#columns().filter((column) => !present.has(column));
  }

  createIndexes(): readonly string[] {
    return this.#indexes.map(
      ([name]) =>
        `CREATE UNIQUE INDEX IF NOT EXISTS ${this.name}_${name} ON ${this.name} (${indexColumn(name)})`,
    );
  }

  /** The column of an index; that of the keys without one. Throws for an index that was not declared. */
  orderColumn(index: string | undefined): string {
    if (index === undefined) return "key";
    if (this.#indexes.some(([name]) => name === index)) return indexColumn(index);
    throw new Error(`Collection "${this.collection.name}" has no index "${index}"`);
  }

  /** The values of `put`. */
  valuesOf(key: Key, doc: object): SqliteValue[] {
    const fields = doc as Readonly<Record<string, Uint8Array | undefined>>;
    const plain =
      this.#bytes.length === 0
        ? doc
        : Object.fromEntries(Object.entries(doc).filter(([name]) => !this.#bytes.includes(name)));
    return [
      keyBytes(key),
      JSON.stringify(plain),
      ...this.#bytes.map((name) => fields[name] ?? null),
      ...this.#indexes.map(([, placeOf]) => {
        const place = placeOf(doc);
        return place === null ? null : keyBytes([...place, ...key]);
      }),
    ];
  }

  /** Throws `store_unavailable` for what another program has put there. */
  documentOf(row: SqliteRow): object {
    try {
      const doc = JSON.parse(row["doc"] as string);
      for (const name of this.#bytes) {
        const bytes = row[bytesColumn(name)];
        if (bytes !== null) doc[name] = bytes;
      }
      if (compareKeys(this.collection.keyOf(doc), this.keyOf(row)) === 0) return doc;
    } catch (cause) {
      throw damagedDocument(this.collection, cause);
    }
    throw damagedDocument(this.collection);
  }

  /** Columns that documents are read from as they are stored. */
  get storedColumns(): string {
    const indexes = this.#indexes.map(([name]) => indexColumn(name));
    const others = [...this.#bytes.map(bytesColumn), ...indexes];
    return [
      "key",
      "quote(key) AS place",
      "typeof(doc) AS kind",
      "CAST(doc AS BLOB) AS doc",
      ...others,
    ].join(", ");
  }

  /** A document that is stored in every column as `put` stores it, or what it is else. */
  asStored(row: SqliteRow): object | Damaged {
    try {
      if (row["kind"] !== "text") throw new Error("A document is no text");
      const text = decoder.decode(row["doc"] as Uint8Array);
      const doc = this.documentOf({ ...row, doc: text });
      const stored: SqliteRow = { ...row, doc: text };
      const values = this.valuesOf(this.collection.keyOf(doc), doc);
      const isSame = ["key", ...this.#columns()].every((name, i) =>
        isEqual(stored[name], values[i]),
      );
      if (isSame) return doc;
    } catch {
      // It is none of ours.
    }
    return new Damaged(this.#keyIn(row), String(row["place"]), row["key"]);
  }

  keyOf(row: SqliteRow): Key {
    try {
      return keyOfBytes(row["key"] as Uint8Array);
    } catch (cause) {
      throw damagedDocument(this.collection, cause);
    }
  }

  #keyIn(row: SqliteRow): Key | null {
    try {
      return this.keyOf(row);
    } catch {
      return null;
    }
  }

  #columns(): readonly string[] {
    const indexes = this.#indexes.map(([name]) => indexColumn(name));
    return ["doc", ...this.#bytes.map(bytesColumn), ...indexes];
  }
}

function isEqual(a: SqliteValue | undefined, b: SqliteValue | undefined): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}

function bytesColumn(field: string): string {
  return `bytes_${field}`;
}

function indexColumn(index: string): string {
  return `at_${index}`;
}

// A stretch of documents as ranges of key bytes.

/** A condition on the column of an order, and its values. */
export interface RangeSql {
  readonly condition: string;
  readonly values: readonly Uint8Array[];
}

/** The ranges of a stretch, none of which overlap, in the direction of reading. */
export function rangesOf(column: string, stretch: Stretch): readonly RangeSql[] {
  const { within, after, upTo, isReverse = false } = stretch;
  for (const key of [...(within ?? []), after ?? [0], upTo ?? [0]]) checkKey(key);
  const bounds: { readonly condition: string; readonly value: Uint8Array }[] = [];
  if (after !== undefined) {
    bounds.push({ condition: `${column} ${isReverse ? "<" : ">"} ?`, value: keyBytes(after) });
  }
  if (upTo !== undefined) {
    bounds.push({ condition: `${column} ${isReverse ? ">=" : "<="} ?`, value: keyBytes(upTo) });
  }
  const rest = bounds.map(({ condition }) => condition);
  const restValues = bounds.map(({ value }) => value);
  // Who has no place in an index is in none of its stretches.
  if (within === undefined) {
    return [{ condition: [`${column} IS NOT NULL`, ...rest].join(" AND "), values: restValues }];
  }
  const ranges = distinctBeginnings(within).map((parts) => {
    const first = keyBytes(parts);
    return {
      condition: [`${column} >= ?`, `${column} < ?`, ...rest].join(" AND "),
      values: [first, Uint8Array.from([...first, AFTER_PARTS]), ...restValues],
    };
  });
  return isReverse ? ranges.toReversed() : ranges;
}

// Views that show the fields of documents to people who open the file: `SELECT * FROM repsync_accounts_view`.

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
