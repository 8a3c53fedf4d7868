import { checkKey, compareKeys, type Key } from "../../../domain/shared/document-key.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import {
  type Answers,
  type AnyCollection,
  type CallOptions,
  type Collection,
  Damaged,
  type DocumentStore,
  type Query,
  type Reader,
  type StoredStretch,
  type Stretch,
  type Transaction,
} from "../../../ports/documents.ts";
import { keyBytes, preparedIn } from "../../../ports/stored-documents.ts";
import type { SqliteRow, SqliteValue } from "../driver/connection.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { makeVersions, raiseVersions, readVersions } from "../driver/person-versions.ts";
import type { SqliteBody } from "../driver/run-body.ts";
import { BodyTables } from "../tables/body-tables.ts";
import type { RowBinder } from "../tables/row-binder.ts";
import { readRowsBy, readRowsWithKeys } from "../tables/statements.ts";
import { CollectionTable, conditionsOf, makeView, type RangeSql } from "./collection-table.ts";

const COLUMNS = "SELECT name FROM pragma_table_info(?)";

/** One body writes at a time, so no lock is needed. */
export class SqliteDocuments implements DocumentStore {
  readonly #database: SqliteDatabase;
  readonly #tables = new Map<string, CollectionTable>();
  readonly #binders = new WeakMap<Table, RowBinder>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  get collections(): readonly AnyCollection[] {
    return [...this.#tables.values()].map(({ form }) => form.collection);
  }

  async prepare(collections: readonly AnyCollection[]): Promise<void> {
    const tables = collections.map((collection) => new CollectionTable(collection));
    const database = this.#database;
    await database.write(() => {
      makeVersions(database);
      for (const table of tables) this.#prepare(table);
    });
    for (const table of tables) this.#tables.set(table.form.collection.name, table);
  }

  async read<T>({ limit }: CallOptions, body: (at: Reader) => Promise<T>): Promise<T> {
    return await this.#database.readBody((database) => body(this.#begin(database)), limit);
  }

  async transact<T>({ limit }: CallOptions, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return await this.#database.writeBody((database) => body(this.#begin(database)), limit);
  }

  #begin(database: SqliteBody): SqliteTransaction {
    return new SqliteTransaction(database, new BodyTables(database, this.#binders), this.#tables);
  }

  /** Fills new columns from the stored documents. */
  #prepare(table: CollectionTable): void {
    const database = this.#database;
    database.run(table.create());
    const present = new Set(database.all(COLUMNS, [table.name]).map(({ name }) => String(name)));
    const missing = table.missingFrom(present);
    for (const column of missing)
      database.run(`ALTER TABLE ${table.name} ADD COLUMN ${column} BLOB`);
    if (missing.length > 0) {
      for (const row of database.all(`SELECT ${table.columns} FROM ${table.name}`)) {
        database.run(table.put, table.valuesOf(table.documentOf(row)));
      }
    }
    for (const sql of table.createIndexes()) database.run(sql);
    makeView(database, table.form.collection);
  }
}

class SqliteTransaction implements Transaction {
  readonly tables: BodyTables;
  readonly #database: SqliteBody;
  readonly #prepared: ReadonlyMap<string, CollectionTable>;
  #nowMs: number | null = null;

  constructor(
    database: SqliteBody,
    tables: BodyTables,
    prepared: ReadonlyMap<string, CollectionTable>,
  ) {
    this.#database = database;
    this.tables = tables;
    this.#prepared = prepared;
  }

  get nowMs(): number {
    if (this.#nowMs === null) throw new Error("A body knows the time after its first read");
    return this.#nowMs;
  }

  async read<const Queries extends readonly Query[]>(
    ...queries: Queries
  ): Promise<Answers<Queries>> {
    const isFirst = this.#nowMs === null;
    this.#nowMs ??= this.#database.nowMs();
    return queries.map((query) => this.#answer(query, isFirst)) as unknown as Answers<Queries>;
  }

  put<Doc extends object>(to: Collection<Doc>, doc: Doc): void {
    checkKey(to.keyOf(doc));
    const table = preparedIn(this.#prepared, to);
    this.#database.run(table.put, table.valuesOf(doc));
  }

  remove(from: AnyCollection, key: Key): void {
    checkKey(key);
    this.#database.run(preparedIn(this.#prepared, from).remove, [keyBytes(key)]);
  }

  raise(names: readonly string[] | "everybody"): void {
    raiseVersions(this.#database, names);
  }

  async turn(): Promise<void> {
    await this.#database.turn();
  }

  #answer(query: Query, isFirst: boolean): unknown {
    if ("versionsOf" in query) return readVersions(this.#database, query.versionsOf);
    if ("rowsOf" in query) {
      return "keys" in query
        ? readRowsWithKeys(this.#database, query.rowsOf, query.keys)
        : readRowsBy(this.#database, query.rowsOf, query.where);
    }
    const table = preparedIn(this.#prepared, query.from);
    if ("keys" in query) {
      if (query.lock && !isFirst) throw new Error("Locks stand in a body's first read");
      return this.#byKeys(table, query.keys);
    }
    if ("stretch" in query) {
      const rows = this.#stretch(table, table.columns, query.stretch);
      return rows.map((row) => table.documentOf(row));
    }
    if ("asStored" in query) return this.#asStored(table, query.asStored);
    if ("count" in query) return this.#count(table, query.count);
    return this.#stretch(table, "key", query.keysOf).map((row) => table.form.keyOf(row["key"]));
  }

  #byKeys(table: CollectionTable, keys: readonly Key[]): object[] {
    for (const key of keys) checkKey(key);
    const wanted = keys.length < 2 ? keys : keys.toSorted(compareKeys);
    return wanted.flatMap((key, i) => {
      const isFirst = i === 0 || compareKeys(wanted[i - 1] ?? [], key) !== 0;
      const rows = isFirst ? this.#database.all(table.find, [keyBytes(key)]) : [];
      return rows.map((row) => table.documentOf(row));
    });
  }

  #stretch(table: CollectionTable, columns: string, stretch: Stretch) {
    const column = table.form.orderColumn(stretch.index);
    const direction = stretch.isReverse ? "DESC" : "ASC";
    const { limit = -1 } = stretch;
    const rows: SqliteRow[] = [];
    for (const { condition, values } of conditionsOf(column, stretch)) {
      const left = limit < 0 ? limit : limit - rows.length;
      if (left === 0) break;
      const sql = `SELECT ${columns} FROM ${table.name} WHERE ${condition}
        ORDER BY ${column} ${direction} LIMIT ?`;
      rows.push(...this.#database.all(sql, [...values, left]));
    }
    return rows;
  }

  #asStored(table: CollectionTable, { within, after, limit = -1 }: StoredStretch) {
    const everything: RangeSql = { condition: "true", values: [] };
    const ranges = within === undefined ? [everything] : conditionsOf("key", { within });
    const place =
      after instanceof Damaged ? (after.place as SqliteValue) : after && keyBytes(after);
    const isAfter = place === undefined ? "" : "AND key > ?";
    const found: (object | Damaged)[] = [];
    for (const { condition, values } of ranges) {
      const left = limit < 0 ? limit : limit - found.length;
      const sql = `SELECT ${table.storedColumns} FROM ${table.name} WHERE ${condition} ${isAfter}
        ORDER BY key LIMIT ?`;
      const bound = [...values, ...(place === undefined ? [] : [place]), left];
      for (const row of this.#database.all(sql, bound)) found.push(table.asStored(row));
    }
    return found;
  }

  #count(table: CollectionTable, stretch: Stretch): number {
    const column = table.form.orderColumn(stretch.index);
    let count = 0;
    for (const { condition, values } of conditionsOf(column, stretch)) {
      const sql = `SELECT count(*) AS n FROM ${table.name} WHERE ${condition}`;
      count += Number(this.#database.all(sql, values)[0]?.["n"]);
    }
    return Math.min(count, stretch.limit ?? count);
  }
}
