import type { Row, Table } from "../../../domain/sync/table/table.ts";
import {
  PreparedTables,
  type StoredPage,
  type StoredPageQuery,
  type StoredPart,
  type StoredPartQuery,
  type TableStore,
} from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { decodeRows, valueEncoder } from "./column-values.ts";
import { PageReader } from "./page-reader.ts";
import { prepareTables } from "./schema.ts";
import { type TableSql, tableSql } from "./statements.ts";

/** Rows in real SQLite tables with the registry's names and columns. */
export class SqliteTableStore implements TableStore {
  readonly #database: SqliteDatabase;
  readonly #pages: PageReader;
  readonly #sql = new WeakMap<Table, TableSql>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
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
