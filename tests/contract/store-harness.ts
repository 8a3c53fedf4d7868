// What a storage adapter hands to the contract suites.
import { test } from "bun:test";
import type { ColumnValue, Row, Table } from "../../src/domain/sync/table/table.ts";
import type { Storage } from "../../src/ports/storage.ts";
import type { RowWrite, StoredPage, StoredPageQuery } from "../../src/ports/tables/table-store.ts";

/** One kind of store under test. */
export interface StoreHarness {
  /** Stands before the test names. */
  readonly name: string;
  readonly options: {
    /** True when several instances may open one store, which outlives each of them: `openSecond` is there. */
    readonly isShared: boolean;
    /** Random histories and values per property; fewer for a store across a network. */
    readonly randomRuns: number;
  };

  /** Opens a new, empty store of its own. */
  open(): Promise<OpenedStore>;
}

/** A store of one test. */
export interface OpenedStore {
  readonly storage: Storage;

  /** Opens another instance on the same store, as another process would; `dispose` closes it when the test did not. */
  openSecond?(): Promise<Storage>;

  /** Closes every instance and removes the store. */
  dispose(): Promise<void>;
}

/** Far above what any case needs, so that only a hanging one meets it. */
const TEST_TIMEOUT_MS = 120_000;

/** The body of a test, with a store of its own. */
export type StoreTestBody = (storage: Storage, store: OpenedStore) => Promise<void>;

/** Gives the function that defines tests on a store. */
export function storeTests(harness: StoreHarness): (name: string, body: StoreTestBody) => void {
  return (name, body) =>
    test(
      name,
      async () => {
        const store = await harness.open();
        try {
          await body(store.storage, store);
        } finally {
          await store.dispose();
        }
      },
      TEST_TIMEOUT_MS,
    );
}

/** Opens another instance on a shared store. */
export async function openSecond(store: OpenedStore): Promise<Storage> {
  if (store.openSecond === undefined) throw new Error("The harness has no openSecond()");
  return await store.openSecond();
}

/** Rows as a push hands them to `write()`. */
export function asWrites(rows: readonly Row[]): RowWrite[] {
  return rows.map((row, index) => ({ index, row }));
}

/** One prepared table of a store, read and written in the shortest way. */
export class TableUnderTest {
  readonly #storage: Storage;
  readonly #table: Table;

  constructor(storage: Storage, table: Table) {
    this.#storage = storage;
    this.#table = table;
  }

  /** Prepares the table. */
  static async prepare(storage: Storage, table: Table): Promise<TableUnderTest> {
    await storage.tables.prepare([table]);
    return new TableUnderTest(storage, table);
  }

  /** Writes rows as one push. Throws when the store refuses one. */
  async write(...rows: Row[]): Promise<void> {
    const failures = await this.#storage.tables.write(this.#table, asWrites(rows));
    if (failures.length > 0) throw new Error(`Rows were refused: ${JSON.stringify(failures)}`);
  }

  /** Reads a page: every row of the table unless the query says otherwise. */
  async page(query: Partial<StoredPageQuery> = {}): Promise<StoredPage> {
    const everything = { sinceTime: null, offsetRows: 0, limitRows: 100_000 };
    return await this.#storage.tables.readPage(this.#table, { ...everything, ...query });
  }

  /** The rows of a page. */
  async rows(query: Partial<StoredPageQuery> = {}): Promise<Row[]> {
    return (await this.page(query)).rows;
  }

  /** One column of the rows of a page. */
  async column(name: string, query: Partial<StoredPageQuery> = {}): Promise<ColumnValue[]> {
    return (await this.rows(query)).map((row) => row[name] ?? null);
  }

  /** The number of rows. */
  async count(): Promise<number> {
    return await this.#storage.tables.countRows(this.#table);
  }
}
