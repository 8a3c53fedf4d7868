import type { Table } from "../../../domain/sync/table/table.ts";
import {
  PreparedTables,
  type RowWrite,
  type StoredPage,
  type StoredPageQuery,
  type TableStore,
  type WriteFailure,
  type WriteOptions,
} from "../../../ports/tables/table-store.ts";
import { PageReader, type PageReaderParts } from "./page-reader.ts";
import { TablePreparer } from "./table-preparer.ts";
import { TableWriter } from "./table-writer.ts";

/** Tables as collections of the same name. */
export class MongoTableStore implements TableStore {
  readonly #preparer: TablePreparer;
  readonly #reader: PageReader;
  readonly #writer: TableWriter;

  constructor(parts: PageReaderParts) {
    this.#preparer = new TablePreparer(parts);
    this.#reader = new PageReader(parts);
    this.#writer = new TableWriter(parts);
  }

  async prepare(tables: readonly Table[]): Promise<PreparedTables> {
    const emptyTables = await this.#preparer.prepare(tables);
    this.#writer.expectNewRows(emptyTables);
    return new PreparedTables(tables);
  }

  readPage(table: Table, query: StoredPageQuery): Promise<StoredPage> {
    return this.#reader.readPage(table, query);
  }

  write(
    table: Table,
    writes: readonly RowWrite[],
    options?: WriteOptions,
  ): Promise<readonly WriteFailure[]> {
    return this.#writer.write(table, writes, options);
  }

  countRows(table: Table): Promise<number> {
    return this.#reader.countRows(table);
  }
}
