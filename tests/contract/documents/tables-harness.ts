// What a store hands to the suite of rows in transactions: one store for all cases, each of which has tables of its own.

import { afterAll, beforeAll } from "bun:test";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Collection, DocumentStore, Transaction } from "../../../src/ports/documents.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import type { RowWrite, WriteRule, Written } from "../../../src/ports/tables/table-writes.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { readPage } from "../../support/rows/read-rows.ts";
import { type Item, itemsCollection } from "./documents-harness.ts";

export type DocumentTables = Pick<FullStorage, "documents" | "tables" | "tombstones">;

export interface DocumentTablesHarness {
  /** Stands before the test names. */
  readonly name: string;
  /** False where tables with `deletes` are refused. */
  readonly hasDeletes?: false;
  /** Where texts in rows have no NUL. D-12.1. */
  readonly holds?: "own types";
  open(): Promise<OpenedDocumentTables>;
}

export interface OpenedDocumentTables {
  readonly storage: DocumentTables;
  /** False where rows are written at once. */
  readonly hasTurns?: false;
  /** The store's time in milliseconds since 1970. */
  nowMs(): number;
  /** Another instance on the same store; absent where a store has one. */
  openSecond?(): Promise<DocumentTables>;
  /** Lets the store refuse a row with a value that another has in a column; absent where it has no such rules. */
  makeUnique?(table: Table, column: string): Promise<void>;
  dispose(): Promise<void>;
}

let cases = 0;

/** A table that no other case has: key `k`, time `at`, number `v`, and `secret`, which pages do not show. */
export function itemsTable(entry: { deletes?: boolean; conflict?: "newer" } = {}): Table {
  const columns = {
    k: { type: "text" },
    at: { type: "datetime" },
    v: { type: "integer" },
    secret: { type: "text", serialize: false },
  } as const;
  const name = `rows_${++cases}`;
  return makeTable({ timestamp_column: "at", upsert_key: ["k"], columns, ...entry }, name);
}

/** Records of a push in their order. */
export function records(rows: readonly Row[]): RowWrite[] {
  return rows.map((row, index) => ({ index, row }));
}

/** Opens the store before the cases of a suite, and closes it after them. */
export class TablesOfSuite {
  #opened: OpenedDocumentTables | null = null;
  #second: DocumentTables | null = null;

  constructor(harness: DocumentTablesHarness) {
    beforeAll(async () => {
      this.#opened = await harness.open();
    });
    afterAll(async () => {
      await this.#opened?.dispose();
    });
  }

  get opened(): OpenedDocumentTables {
    if (this.#opened === null) throw new Error("The store is not open yet");
    return this.#opened;
  }

  get documents(): DocumentStore {
    return this.opened.storage.documents;
  }

  /** Stores that take turns: two where there may be several instances. */
  async instances(from: Collection<Item>, table: Table): Promise<readonly DocumentTables[]> {
    this.#second ??= (await this.opened.openSecond?.()) ?? null;
    const second = this.#second;
    await second?.documents.prepare([from]);
    await second?.tables.prepare([table]);
    return second === null ? [this.opened.storage] : [this.opened.storage, second];
  }

  /** Prepares a table, with these rows. */
  async tableWith(table: Table, ...rows: readonly Row[]): Promise<Table> {
    await this.opened.storage.tables.prepare([table]);
    if (rows.length > 0) await this.write(table, rows);
    return table;
  }

  async items(): Promise<Collection<Item>> {
    const from = itemsCollection();
    await this.documents.prepare([from]);
    return from;
  }

  async transact<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return await this.documents.transact({ name: "test.rows" }, body);
  }

  /** Writes rows as one commit. */
  async write(table: Table, rows: readonly Row[], rule?: WriteRule): Promise<Written> {
    await this.opened.storage.tables.settled(table);
    return await this.transact((tx) => tx.tables.write(table, records(rows), rule));
  }

  /** Every row, by key. */
  async rows(table: Table): Promise<readonly Row[]> {
    const everything = { sinceTime: null, offsetRows: 0, limitRows: 1_000 };
    const { rows } = await readPage(this.opened.storage.tables, table, everything);
    return rows.toSorted((a, b) => (String(a["k"]) < String(b["k"]) ? -1 : 1));
  }

  /** Keys of the tombstones, in the order of the list. */
  async tombstones(table: Table): Promise<readonly unknown[]> {
    const everything = { after: null, sinceTime: null, limitRows: 1_000 };
    const { items } = await this.opened.storage.tombstones.list(table, everything);
    return items.map(({ key }) => key["k"]);
  }
}
