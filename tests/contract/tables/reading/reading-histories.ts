import { describe, expect } from "bun:test";
import fc from "fast-check";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import {
  type PageQuery,
  readAfter,
  readKeyRange,
  readPage,
} from "../../../support/rows/read-rows.ts";
import { checkAsyncProperty } from "../../../support/seed.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import { heldRows } from "../../held-values.ts";
import { arbitraryEntry, arbitraryQuery, arbitraryRows } from "../table-arbitraries.ts";
import { comparePlaces, compareRowKeys, TableModel } from "../table-model.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { type ReadingParts, walk, write } from "./reading-ways.ts";

/** Where and how much to read. */
interface Reading extends PageQuery {
  /** Null for the first row on. */
  readonly after: Row | null;
  readonly through: Row | null;
}

/** What a read is compared with. */
interface Compared {
  readonly table: Table;
  readonly model: RowModel;
  readonly reading: Reading;
}

type Compare = (parts: ReadingParts, compared: Compared) => Promise<void>;

/** Random histories: whatever was pushed, every read is the model's, and walks are in the order of pages. */
export function readingHistoryTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);
  let tables = 0;

  describe(`${harness.name}: histories`, () => {
    const compared =
      (maxSteps: number, compare: readonly Compare[]) => async (storage: ReadingParts) => {
        await checkAsyncProperty(
          fc.asyncProperty(histories(maxSteps), async ({ entry, steps }) => {
            const table = makeTable(entry, `history_${tables++}`);
            const model = new RowModel(table);
            await storage.tables.prepare([table]);
            for (const { rows: all, reading } of steps) {
              const rows = heldRows(harness, table, all);
              await write(storage, table, rows);
              model.write(rows);
              for (const one of compare) await one(storage, { table, model, reading });
            }
          }),
          harness.options.randomRuns,
        );
      };

    it(
      "D-3 any pushes to any table give the pages of the model, at every offset and cursor",
      compared(8, [comparePages, walked("cursor")]),
    );

    it(
      "D-4.6 any pushes to any table give the rows of the model, from every position and by key",
      compared(6, [compareReads, walked("position"), compareKeyWalk]),
    );

    it("D-3.4 deep pages are exact while rows are written between them", async (storage) => {
      const definition = makeTable({
        timestamp_column: "at",
        upsert_key: ["n"],
        columns: { n: { type: "integer" }, at: { type: "datetime" } },
      });
      const table = await TableUnderTest.prepare(storage, definition);
      const model = new TableModel(definition);
      const write = async (rows: { n: number; at: string }[]) => {
        model.write(rows);
        await table.write(...rows);
      };
      const at = (n: number) => `2024-01-01T00:00:${String(n % 60).padStart(2, "0")}Z`;
      await write(Array.from({ length: 400 }, (_, n) => ({ n, at: at(n * 7) })));
      for (let step = 0; step < 40; step++) {
        for (const sinceTime of [null, "2024-01-01T00:00:30Z"]) {
          const query = { sinceTime, offsetRows: step * 10, limitRows: 10 };
          expect(await table.page(query)).toEqual(model.page(query));
        }
        if (step % 3 === 0) await write([{ n: (step * 37) % 400, at: at(step * 11) }]);
        if (step % 5 === 0) await write([{ n: 1000 + step, at: at(step) }]);
      }
    });
  });
}

function histories(maxSteps: number) {
  return arbitraryEntry.chain((entry) => {
    const table = makeTable(entry);
    const rows = arbitraryRows(table);
    // Positions are those of random rows: some are in the table, some are not.
    const position = rows.map((some) => some[0] ?? null);
    const reading = fc
      .tuple(position, position, arbitraryQuery(table))
      .map(([after, through, query]): Reading => ({ ...query, after, through }));
    const step = fc.record({ rows, reading });
    return fc.record({
      entry: fc.constant(entry),
      steps: fc.array(step, { minLength: 1, maxLength: maxSteps }),
    });
  });
}

/** Pages at offsets, one after another and from the first, and the numbers of rows. */
async function comparePages(
  { tables }: ReadingParts,
  { table, model, reading: { sinceTime, limitRows, offsetRows } }: Compared,
): Promise<void> {
  for (const offset of [offsetRows, offsetRows + limitRows, 0]) {
    const query = { sinceTime, limitRows, offsetRows: offset };
    const page = await readPage(tables, table, query);
    expect(JSON.stringify(page)).toBe(JSON.stringify(model.page(query)));
  }
  const everything = { sinceTime: null, offsetRows: 0, limitRows: 1000 };
  expect(await tables.count(table)).toBe(model.page(everything).totalRows);
}

/** One read of every kind, from a position that was not read before. */
async function compareReads(
  { tables }: ReadingParts,
  { table, model, reading }: Compared,
): Promise<void> {
  const { after, through, sinceTime, limitRows } = reading;
  expectSame(await readAfter(tables, table, reading), model.after(reading).slice(0, limitRows));
  expect(await tables.count(table, { sinceTime, hasKey: true })).toBe(
    model.after({ after: null, sinceTime }).length,
  );
  const range = { afterKey: after, throughKey: through };
  expectSame(
    await readKeyRange(tables, table, range, limitRows),
    model.range(range).slice(0, limitRows),
  );
  const keys = [after, through].filter((key) => key !== null);
  const found = await tables.byKeys(table, keys, "sent");
  expectSame(
    found.toSorted((a, b) => compareRowKeys(table, a, b)),
    model.byKeys(keys),
  );
}

/** Reads on from the end of each page: every row once, in the order of pages. */
function walked(way: "cursor" | "position"): Compare {
  return async ({ tables }, { table, model, reading: { sinceTime, limitRows } }) => {
    const { rows } = model.page({ sinceTime, offsetRows: 0, limitRows: 1000 });
    expectSame(await walk(tables, table, way, { sinceTime, limitRows }), rows);
  };
}

/** The same in the order of keys. */
async function compareKeyWalk(
  { tables }: ReadingParts,
  { table, model, reading: { limitRows } }: Compared,
): Promise<void> {
  const byKey = await walk(tables, table, "key", { limitRows });
  expectSame(
    byKey.map((row) => sentValues(table, row)),
    model.range({ afterKey: null, throughKey: null }),
  );
}

/** The rows as the contract says, in the plainest code. */
class RowModel {
  readonly #table: Table;
  readonly #rows: TableModel;

  constructor(table: Table) {
    this.#table = table;
    this.#rows = new TableModel(table);
  }

  write(rows: readonly Row[]): void {
    this.#rows.write(rows);
  }

  page(query: PageQuery) {
    return this.#rows.page(query);
  }

  after({ after, sinceTime }: Pick<Reading, "after" | "sinceTime">): Row[] {
    const { rows } = this.#rows.page({ sinceTime, offsetRows: 0, limitRows: 1000 });
    return rows
      .filter((row) => after === null || comparePlaces(this.#table, row, after) > 0)
      .map((row) => sentValues(this.#table, row));
  }

  range({ afterKey, throughKey }: { afterKey: Row | null; throughKey: Row | null }): Row[] {
    const compare = (a: Row, b: Row) => compareRowKeys(this.#table, a, b);
    return this.after({ after: null, sinceTime: null })
      .filter((row) => afterKey === null || compare(row, afterKey) > 0)
      .filter((row) => throughKey === null || compare(row, throughKey) <= 0)
      .sort(compare);
  }

  byKeys(keys: readonly Row[]): Row[] {
    const everything = this.range({ afterKey: null, throughKey: null });
    return everything.filter((row) =>
      keys.some((key) => compareRowKeys(this.#table, row, key) === 0),
    );
  }
}

/** What a run sends of a row: the shown values without a number that the store gives. */
function sentValues(table: Table, row: Row): Row {
  const columns = table.columns.filter((column) => column.serialize);
  const sent = columns.filter((column) => column.isKey || !column.autoIncrement);
  return Object.fromEntries(sent.map(({ name }) => [name, row[name] ?? null]));
}

function expectSame(rows: readonly Row[], expected: readonly Row[]): void {
  expect(JSON.stringify(rows)).toBe(JSON.stringify(expected));
}
