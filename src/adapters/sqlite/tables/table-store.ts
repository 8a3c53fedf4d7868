import type { Table } from "../../../domain/sync/table/table.ts";
import { PreparedTables, type TableStore } from "../../../ports/tables/table-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { prepareTables } from "./schema.ts";
import { TableReader } from "./table-reader.ts";

/** Rows in real SQLite tables with the registry's names and columns. */
export class SqliteTableStore extends TableReader implements TableStore {
  readonly stampsOthers = true;
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    super(database);
    this.#database = database;
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    await this.#database.write(() => prepareTables(this.#database, tables));
    return new PreparedTables(tables);
  }

  /** Triggers make tombstones in the commit of the delete. */
  async settled(): Promise<void> {}
}
