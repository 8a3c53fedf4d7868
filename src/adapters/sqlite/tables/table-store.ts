import { lateTimesOf } from "../../../domain/sync/run/late-rows.ts";
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
import { outcomeOf } from "../../../ports/tables/table-writes.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { commitExtras } from "../runs/commit-extras.ts";
import { assertLeaseHeld } from "../runs/lease-store.ts";
import { decodeRows, valueEncoder } from "./column-values.ts";
import { noteLateTimes } from "./late-rows.ts";
import { PageReader } from "./page-reader.ts";
import { RowBinders } from "./row-binder.ts";
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
  readonly #binders: RowBinders;

  constructor(database: SqliteDatabase, erasedNames: ErasedNames) {
    this.#database = database;
    this.#erasedNames = erasedNames;
    this.#binders = new RowBinders(database.foreignTables);
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
    const binder = this.#binders.of(table);
    // With turns for others in between, and before anything is locked. D-7.9.
    const turns = new Turns(database, () => database.nextTurn());
    const records = await turns.run(binder.bindAll(writes));
    const rules = { conflict, binder, erasedNames: this.#erasedNames };
    const work = function* () {
      if (lease !== undefined) assertLeaseHeld(database, lease);
      const write = new TableWrite(database, table, rules);
      yield* write.all({ deleted, records });
      const { written, erased } = write;
      const late = lateTimesOf(table, written, isOwnRun, written.visibleMs);
      noteLateTimes(database, table.name, late);
      const outcome = outcomeOf(written, erased);
      commitExtras(database, table.name, beforeCommit?.(outcome) ?? {});
      return outcome;
    };
    return database.writeInSteps(work, [table.name]);
  }

  /** Triggers make tombstones in the commit of the delete. */
  async settled(): Promise<void> {}

  async countRows(table: Table): Promise<number> {
    return this.#pages.countRows(table);
  }

  #sqlOf(table: Table): TableSql {
    const sql = this.#sql.get(table) ?? tableSql(table, this.#database);
    this.#sql.set(table, sql);
    return sql;
  }
}
