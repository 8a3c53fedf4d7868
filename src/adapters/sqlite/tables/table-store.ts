import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import {
  PreparedTables,
  type RowWrite,
  type StoredPage,
  type StoredPageQuery,
  type StoredPart,
  type StoredPartQuery,
  type TableStore,
  type WriteOptions,
  type WriteOutcome,
} from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { commitExtras } from "../runs/commit-extras.ts";
import { assertLeaseHeld } from "../runs/lease-store.ts";
import { decodeRows, valueEncoder } from "./column-values.ts";
import { noteLateTimes } from "./late-rows.ts";
import { PageReader } from "./page-reader.ts";
import { type BoundWrite, RowBinder } from "./row-binder.ts";
import { prepareTables } from "./schema.ts";
import { type TableSql, tableSql } from "./statements.ts";
import { TableWrite } from "./table-write.ts";

const NOTHING_WRITTEN: WriteOutcome = { failures: [], kept: [], changed: 0, deleted: 0 };

/** Rows in real SQLite tables with the registry's names and columns. */
export class SqliteTableStore implements TableStore {
  readonly #database: SqliteDatabase;
  readonly #erasedNames: ErasedNames;
  readonly #pages: PageReader;
  readonly #sql = new WeakMap<Table, TableSql>();
  readonly #binders = new WeakMap<Table, RowBinder>();

  constructor(database: SqliteDatabase, erasedNames: ErasedNames) {
    this.#database = database;
    this.#erasedNames = erasedNames;
    this.#pages = new PageReader(database, (table) => this.#sqlOf(table));
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await this.#database.write(() => prepareTables(this.#database, tables));
    return new PreparedTables(tables);
  }

  async readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return this.#pages.readPage(table, query);
  }

  async readPart(table: Table, query: StoredPartQuery): Promise<StoredPart> {
    return this.#pages.readPart(table, query);
  }

  async readRow(table: Table, key: Row): Promise<Row | null> {
    const values = table.keyColumns.map((column) => valueEncoder(column)(key[column.name] ?? null));
    const sql = this.#sqlOf(table).row;
    const found = await this.#database.read(() => this.#database.all(sql, values));
    return decodeRows(found, table.pageColumns)[0] ?? null;
  }

  async write(
    table: Table,
    writes: readonly RowWrite[],
    options: WriteOptions = {},
  ): Promise<WriteOutcome> {
    const { conflict = table.conflict, isOwnRun = false, lease, beforeCommit } = options;
    const { deleted = [] } = options;
    const isNothing = writes.length === 0 && deleted.length === 0;
    if (isNothing && beforeCommit === undefined) return NOTHING_WRITTEN;
    const database = this.#database;
    const records = await this.#bind(table, writes);
    const rules = {
      conflict,
      isOwnRun,
      binder: this.#binderOf(table),
      erasedNames: this.#erasedNames,
    };
    const work = function* () {
      if (lease !== undefined) assertLeaseHeld(database, lease);
      const write = new TableWrite(database, table, rules);
      yield* write.all({ deleted, records });
      noteLateTimes(database, table.name, write.lateTimes);
      const outcome = write.outcome;
      commitExtras(database, table.name, beforeCommit?.(outcome) ?? {});
      return outcome;
    };
    return database.writeInSteps(work, [table.name]);
  }

  /** With turns for others in between, and before anything is locked. D-7.9. */
  async #bind(table: Table, writes: readonly RowWrite[]): Promise<readonly BoundWrite[]> {
    const turns = new Turns(this.#database, () => this.#database.nextTurn());
    const binder = this.#binderOf(table);
    const records: BoundWrite[] = [];
    for (const write of writes) {
      if (turns.isOver) await turns.next();
      records.push(binder.bind(write));
    }
    return records;
  }

  async countRows(table: Table): Promise<number> {
    return this.#pages.countRows(table);
  }

  #binderOf(table: Table): RowBinder {
    const binder = this.#binders.get(table) ?? new RowBinder(table, this.#database.foreignTables);
    this.#binders.set(table, binder);
    return binder;
  }

  #sqlOf(table: Table): TableSql {
    const sql = this.#sql.get(table) ?? tableSql(table, this.#database);
    this.#sql.set(table, sql);
    return sql;
  }
}
