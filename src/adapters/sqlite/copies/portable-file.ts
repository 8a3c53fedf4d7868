// A file as a store from which everything is read, or into which everything is written. D-10.7.
import { parseJson } from "../../../domain/shared/json.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  PortableEntry,
  PortablePart,
  PortableStore,
} from "../../../ports/copies/portable-store.ts";
import { type AnyCollection, copiedOf } from "../../../ports/documents.ts";
import { CollectionTable } from "../documents/collection-table.ts";
import type { SqliteConnection, SqliteRow, SqliteValue } from "../driver/driver.ts";
import { quotedName } from "../driver/unique-keys.ts";
import { decodeRows, readExpression, textWithNul, valueEncoder } from "../tables/column-values.ts";
import { canonicalTime, keptTime, TombstoneNames } from "../tables/tombstone-sql.ts";
import { PLAIN_PARTS, type PlainPart } from "./portable-parts.ts";
import { allRows, run } from "./raw-connection.ts";

const BATCH_ROWS = 1_000;
const DELETES = `SELECT table_name AS "table", earliest_available AS completeSince,
  list_id AS listId FROM repsync_deletes`;
const COUNTERS = `SELECT name, seq AS last FROM sqlite_sequence WHERE false
  UNION ALL SELECT 'tombstones/' || substr(name, length('repsync_deleted_') + 1), seq
    FROM sqlite_sequence WHERE name GLOB 'repsync_deleted_*'`;

export class PortableFile implements PortableStore {
  readonly #connection: SqliteConnection;
  readonly #collections: readonly CollectionTable[];

  constructor(connection: SqliteConnection, collections: readonly AnyCollection[]) {
    this.#connection = connection;
    this.#collections = copiedOf(collections).map((one) => new CollectionTable(one));
  }

  async *read(part: PortablePart, tables: readonly Table[]) {
    for (const batch of inBatches(this.#entries(part, tables))) yield batch;
  }

  async *readRows(table: Table): AsyncGenerator<readonly Row[]> {
    const connection = this.#connection;
    const { cutsTextAtNul } = connection;
    const columns = table.columns.map(
      (column) => `${readExpression(column, cutsTextAtNul)} AS ${quotedName(column.name)}`,
    );
    const rows = this.#iterate(`SELECT ${columns.join(", ")} FROM ${quotedName(table.name)}`);
    for (const batch of inBatches(rows)) {
      const whole = batch.map((row) => mapValues(row, textWithNul));
      yield decodeRows(whole as SqliteRow[], table.columns);
    }
  }

  /** Within one commit. */
  writeRows(table: Table, rows: readonly Row[]): void {
    const names = table.columns.map(({ name }) => quotedName(name));
    const marks = table.columns.map(() => "?");
    const sql = `INSERT INTO ${quotedName(table.name)} (${names.join(", ")}) VALUES (${marks.join(", ")})`;
    const encoders = table.columns.map((column) => [column.name, valueEncoder(column)] as const);
    this.#commit(sql, rows, (row) => encoders.map(([name, encode]) => encode(row[name] ?? null)));
  }

  /** Within one commit. */
  write(part: PortablePart, entries: readonly PortableEntry[], tables: readonly Table[]): void {
    const plain = PLAIN_PARTS[part];
    if (plain !== undefined) this.#writePlain(plain, entries);
    else if (part === "documents") this.#commitAll(entries.map((entry) => this.#put(entry)));
    else this.#commitAll(entries.flatMap((entry) => statementsOf(part, entry, tables)));
  }

  *#entries(part: PortablePart, tables: readonly Table[]): Iterable<PortableEntry> {
    const plain = PLAIN_PARTS[part];
    if (plain !== undefined) yield* this.#plain(plain);
    else if (part === "documents") yield* this.#documents();
    else if (part === "counters") yield* this.#counters(tables);
    else if (part === "delete_records") yield* this.#deleteRecords(tables);
    else if (part === "tombstones") for (const table of tables) yield* this.#tombstones(table);
    else throw new Error(`No way to read ${part}`);
  }

  *#plain({ table, columns, flags = [], where = "true" }: PlainPart): Iterable<PortableEntry> {
    const fields = Object.entries(columns).map(([column, field]) => `${column} AS "${field}"`);
    const sql = `SELECT ${fields.join(", ")} FROM ${table} WHERE ${where}`;
    yield* mapped(this.#iterate(sql), (row) => {
      for (const flag of flags) (row as Record<string, unknown>)[flag] = row[flag] === 1;
      return row;
    });
  }

  *#documents(): Iterable<PortableEntry> {
    for (const table of this.#collections) {
      const rows = this.#iterate(`SELECT ${table.columns} FROM ${table.name}`);
      for (const row of rows) {
        yield { collection: table.collection.name, doc: table.documentOf(row) };
      }
    }
  }

  #put({ collection, doc }: PortableEntry): Statement {
    const table = this.#collections.find((one) => one.collection.name === collection);
    if (table === undefined) throw new Error("A document of a collection that is not there");
    return [table.put, table.valuesOf(table.collection.keyOf(doc), doc as object)];
  }

  *#deleteRecords(tables: readonly Table[]): Iterable<PortableEntry> {
    const names = tables.filter(({ deletes }) => deletes).map(({ name }) => name);
    for (const row of this.#iterate(DELETES)) {
      if (!names.includes(String(row["table"]))) continue;
      yield row;
    }
  }

  *#tombstones(table: Table): Iterable<PortableEntry> {
    if (!table.deletes) return;
    const { list, keyColumns } = new TombstoneNames(table);
    const { cutsTextAtNul } = this.#connection;
    const keys = table.keyColumns.map(
      (column, n) => `${readExpression(column, cutsTextAtNul)} AS ${keyColumns[n]}`,
    );
    const times = "repsync_place, repsync_deleted_at, repsync_taken_at";
    for (const row of this.#iterate(`SELECT ${keys.join(", ")}, ${times} FROM ${list}`)) {
      const { repsync_place, repsync_deleted_at, repsync_taken_at, ...key } = row;
      const [decoded] = decodeRows([mapValues(key, textWithNul) as SqliteRow], table.keyColumns);
      yield {
        table: table.name,
        place: repsync_place,
        key: JSON.stringify(decoded),
        deletedAt: canonicalTime(String(repsync_deleted_at)),
        takenAtMs: Date.parse(`${String(repsync_taken_at).slice(0, 23)}Z`),
      };
    }
  }

  *#counters(tables: readonly Table[]): Iterable<PortableEntry> {
    yield* this.#iterate(COUNTERS);
    for (const table of tables) {
      if (!table.columns.some((column) => column.autoIncrement && !column.isKey)) continue;
      const sql = `SELECT coalesce(max(id), 0) AS last FROM ${quotedName(table.name)}`;
      yield { name: `table/${table.name}`, last: allRows(this.#connection, sql)[0]?.["last"] };
    }
  }

  *#iterate(sql: string): Generator<SqliteRow> {
    const statement = this.#connection.prepare(sql);
    try {
      yield* statement.iterate([]);
    } finally {
      statement.finalize();
    }
  }

  #writePlain({ table, columns }: PlainPart, entries: readonly PortableEntry[]): void {
    const names = Object.keys(columns);
    const marks = names.map(() => "?").join(", ");
    const sql = `INSERT OR REPLACE INTO ${table} (${names.join(", ")}) VALUES (${marks})`;
    const fields = Object.values(columns);
    this.#commit(sql, entries, (entry) => fields.map((field) => bound(entry[field])));
  }

  #commit<Item>(
    sql: string,
    items: readonly Item[],
    valuesOf: (item: Item) => readonly SqliteValue[],
  ): void {
    const statement = this.#connection.prepare(sql);
    try {
      run(this.#connection, "BEGIN IMMEDIATE");
      for (const item of items) statement.run(valuesOf(item));
      run(this.#connection, "COMMIT");
    } finally {
      statement.finalize();
    }
  }

  #commitAll(statements: readonly Statement[]): void {
    run(this.#connection, "BEGIN IMMEDIATE");
    for (const [sql, values] of statements) this.#runOnce(sql, values);
    run(this.#connection, "COMMIT");
  }

  #runOnce(sql: string, values: readonly SqliteValue[]): void {
    const statement = this.#connection.prepare(sql);
    try {
      statement.run(values);
    } finally {
      statement.finalize();
    }
  }
}

type Statement = readonly [sql: string, values: readonly SqliteValue[]];

function statementsOf(
  part: PortablePart,
  entry: PortableEntry,
  tables: readonly Table[],
): readonly Statement[] {
  const value = (name: string) => bound(entry[name]);
  switch (part) {
    case "delete_records": {
      const set =
        "UPDATE repsync_deletes SET earliest_available = ?, list_id = ? WHERE table_name = ?";
      return [[set, [value("completeSince"), value("listId"), value("table")]]];
    }
    case "tombstones":
      return [tombstoneStatement(entry, tables)];
    case "counters":
      return counterStatements(String(entry["name"]), value("last"));
    default:
      throw new Error(`No way to write ${part}`);
  }
}

function tombstoneStatement(entry: PortableEntry, tables: readonly Table[]): Statement {
  const table = tables.find(({ name }) => name === entry["table"]);
  if (table === undefined) throw new Error("A tombstone of a table that is not there");
  const { list, keyColumns } = new TombstoneNames(table);
  const key = parseJson(String(entry["key"])) as Row;
  const columns = ["repsync_place", ...keyColumns, "repsync_deleted_at", "repsync_taken_at"];
  const values = [
    bound(entry["place"]),
    ...table.keyColumns.map((column) => valueEncoder(column)(key[column.name] ?? null)),
    keptTime(String(entry["deletedAt"])),
    keptTime(formatMs(Number(entry["takenAtMs"]))),
  ];
  const marks = values.map(() => "?").join(", ");
  const sql = `INSERT INTO ${list} (${columns.join(", ")}, repsync_is_own) VALUES (${marks}, 0)`;
  return [sql, values];
}

function counterStatements(name: string, last: SqliteValue): readonly Statement[] {
  const sequence = name.replace(/^tombstones\//, "repsync_deleted_");
  if (sequence === name) return [];
  return [
    ["DELETE FROM sqlite_sequence WHERE name = ?", [sequence]],
    ["INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [sequence, last]],
  ];
}

function bound(value: unknown): SqliteValue {
  if (typeof value === "boolean") return Number(value);
  return (value ?? null) as SqliteValue;
}

function* mapped(
  rows: Iterable<SqliteRow>,
  map: (row: SqliteRow) => PortableEntry,
): Iterable<PortableEntry> {
  for (const row of rows) yield map(row);
}

function* inBatches<Item>(items: Iterable<Item>): Generator<readonly Item[]> {
  let batch: Item[] = [];
  for (const item of items) {
    if (batch.push(item) < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function mapValues(row: SqliteRow, map: (value: SqliteValue) => SqliteValue): SqliteRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, map(value)]));
}
