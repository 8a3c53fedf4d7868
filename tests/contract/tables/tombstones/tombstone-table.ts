// One table with deletes, read and written in the shortest way.

import { formatMs } from "../../../../src/domain/shared/time.ts";
import { justAfter } from "../../../../src/domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import type { TombstonePage, TombstoneQuery } from "../../../../src/ports/tables/table-store.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { type WriteToOptions, type WrittenTo, writeTo } from "../../../support/rows/write-to.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import type { OpenedStore } from "../../harness.ts";
import { asWrites } from "../table-under-test.ts";

/** Another program at work on the tables of a store. Rows are as pages show them; keys name the key columns. */
export interface OtherProgram {
  insert(table: Table, row: Row): Promise<void>;
  /** Changes the given columns of a row, those of the key too. */
  update(table: Table, key: Row, changes: Row): Promise<void>;
  remove(table: Table, key: Row): Promise<void>;
  /** Removes every row in one statement. */
  removeAll(table: Table): Promise<void>;
}

/** What the suites of `Tombstones` look at. */
export interface TombstoneParts
  extends Pick<
    RunStorage,
    "tables" | "documents" | "memory" | "lateRows" | "tombstones" | "close"
  > {
  readonly program: OtherProgram;
}

/** Keyed by two columns, of which one is none of JavaScript's numbers. */
export const PARTS = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["shop", "number"],
    deletes: true,
    columns: {
      number: { type: "bigint" },
      at: { type: "datetime" },
      shop: { type: "text" },
      v: { type: "integer" },
    },
  },
  "parts",
);

/** The plainest table with deletes. */
export const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  deletes: true,
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
});

/** The same table, with deletes switched off. */
export const WITHOUT_DELETES: Table = { ...ITEMS, deletes: false };

/** The second in which a test first asked for a time of its store: a test may take more than one. */
const seconds = new WeakMap<OpenedStore<unknown>, number>();

/** A time so many seconds from that of the store when the test began, to the millisecond. */
export function at(store: OpenedStore<unknown>, offset: number): string {
  const begun = seconds.get(store) ?? Math.floor(store.nowMs() / 1000);
  seconds.set(store, begun);
  return formatMs((begun + offset) * 1000 + 250);
}

/** The `deletedAt` of a row with that time, when it is ahead and not too far. */
export const behind = justAfter;

/** The table `items` of a store. */
export class ItemsWithDeletes {
  readonly #parts: TombstoneParts;

  constructor(parts: TombstoneParts) {
    this.#parts = parts;
  }

  static async prepare(parts: TombstoneParts): Promise<ItemsWithDeletes> {
    await parts.tables.prepare([ITEMS]);
    return new ItemsWithDeletes(parts);
  }

  /** Writes rows as a push without a guard does, unless `options` say more. */
  async write(rows: readonly Row[], options: WriteToOptions = {}): Promise<WrittenTo> {
    const outcome = await writeTo(this.#parts, ITEMS, asWrites(rows), options);
    if (outcome.failures.length > 0) throw new Error(JSON.stringify(outcome.failures));
    return outcome;
  }

  /** Takes in a tombstone: the number of rows that it removed. */
  async bury(k: string, deletedAt: string): Promise<number> {
    const deleted = [{ index: 0, key: { k }, deletedAt }];
    return (await this.write([], { deleted })).deleted;
  }

  async insert(row: Row): Promise<void> {
    await this.#parts.program.insert(ITEMS, row);
  }

  async update(k: string, changes: Row): Promise<void> {
    await this.#parts.program.update(ITEMS, { k }, changes);
  }

  async remove(k: string): Promise<void> {
    await this.#parts.program.remove(ITEMS, { k });
  }

  async rows(): Promise<readonly Row[]> {
    const page = { sinceTime: null, offsetRows: 0, limitRows: 1000 };
    const { rows } = await readPage(this.#parts.tables, ITEMS, page);
    return rows.toSorted((a, b) => (String(a["k"]) < String(b["k"]) ? -1 : 1));
  }

  /** The rows of these keys, by key. */
  async rowsOf(keys: readonly string[]): Promise<readonly Row[]> {
    const rows = await this.#parts.tables.byKeys(
      ITEMS,
      keys.map((k) => ({ k })),
      "sent",
    );
    return rows.toSorted((a, b) => (String(a["k"]) < String(b["k"]) ? -1 : 1));
  }

  async page(query: Partial<TombstoneQuery> = {}): Promise<TombstonePage> {
    const everything = { after: null, sinceTime: null, limitRows: 1000 };
    return await this.#parts.tombstones.list(ITEMS, { ...everything, ...query });
  }

  /** What is listed, as `[k, deletedAt]`. */
  async listed(after: string | null = null): Promise<readonly (readonly unknown[])[]> {
    const { items } = await this.page({ after });
    return items.map(({ key, deletedAt }) => [key["k"], deletedAt]);
  }

  async end(): Promise<string> {
    return await this.#parts.tombstones.end(ITEMS);
  }

  async countAfter(after: string | null = null): Promise<number> {
    return await this.#parts.tombstones.countAfter(ITEMS, after);
  }
}
