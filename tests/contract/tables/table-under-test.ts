import type { ColumnValue, Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { RowWrite } from "../../../src/ports/tables/table-writes.ts";
import { type CountedPage, type PageQuery, readPage } from "../../support/rows/read-rows.ts";
import { type WriteToOptions, type WrittenTo, writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";

/** Rows as a push hands them to `write()`. */
export function asWrites(rows: readonly Row[]): RowWrite[] {
  return rows.map((row, index) => ({ index, row }));
}

type Parts = Pick<RunStorage, "tables" | "documents">;

/** One prepared table of a store, read and written in the shortest way. */
export class TableUnderTest {
  readonly #storage: Parts;
  readonly #table: Table;

  constructor(storage: Parts, table: Table) {
    this.#storage = storage;
    this.#table = table;
  }

  /** Prepares the table. */
  static async prepare(storage: Parts, table: Table): Promise<TableUnderTest> {
    await storage.tables.prepare([table]);
    return new TableUnderTest(storage, table);
  }

  /** Writes rows as one push. Throws when the store refuses one. */
  async write(...rows: Row[]): Promise<void> {
    const { failures } = await writeTo(this.#storage, this.#table, asWrites(rows));
    if (failures.length > 0) throw new Error(`Rows were refused: ${JSON.stringify(failures)}`);
  }

  /** Writes rows as one push, and tells what became of them. */
  async writeWith(options: WriteToOptions, ...rows: Row[]): Promise<WrittenTo> {
    return await writeTo(this.#storage, this.#table, asWrites(rows), options);
  }

  /** Reads a page: every row of the table unless the query says otherwise. */
  async page(query: Partial<PageQuery> = {}): Promise<CountedPage> {
    const everything = { sinceTime: null, offsetRows: 0, limitRows: 100_000 };
    return await readPage(this.#storage.tables, this.#table, { ...everything, ...query });
  }

  /** The rows of a page. */
  async rows(query: Partial<PageQuery> = {}): Promise<Row[]> {
    return (await this.page(query)).rows;
  }

  /** One column of the rows of a page. */
  async column(name: string, query: Partial<PageQuery> = {}): Promise<ColumnValue[]> {
    return (await this.rows(query)).map((row) => row[name] ?? null);
  }

  /** The number of rows. */
  async count(): Promise<number> {
    return await this.#storage.tables.count(this.#table);
  }
}
