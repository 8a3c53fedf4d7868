import { describe, expect } from "bun:test";
import fc from "fast-check";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/make-table.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { writeTo } from "../../support/write-to.ts";
import { type StoreHarness, storeTests } from "../harness.ts";
import type { RowParts } from "./row-source-reading.ts";
import { arbitraryEntry, arbitraryQuery, arbitraryRows } from "./table-arbitraries.ts";
import { comparePlaces, compareRowKeys, TableModel } from "./table-model.ts";
import { asWrites } from "./table-under-test.ts";

/** Where and how much to read. */
interface Reading {
  /** Null for the first row on. */
  readonly after: Row | null;
  readonly through: Row | null;
  readonly sinceTime: string | null;
  readonly limitRows: number;
}

/** Random histories: whatever was pushed, every read is the model's, and walks are in the order of pages. */
export function rowHistoryTests(harness: StoreHarness<RowParts>): void {
  const it = storeTests(harness);
  let tables = 0;

  describe(`${harness.name}: histories of rows`, () => {
    it("D-4.6 any pushes to any table give the rows of the model, from every position", async (storage) => {
      await checkAsyncProperty(
        fc.asyncProperty(histories(), async ({ entry, steps }) => {
          const table = makeTable(entry, `rows_${tables++}`);
          const model = new RowModel(table);
          await storage.tables.prepare([table]);
          for (const { rows, reading } of steps) {
            expect((await writeTo(storage, table, asWrites(rows))).failures).toEqual([]);
            model.write(rows);
            await compareReads(storage, { table, model, reading });
            await compareWalks(storage, { table, model, reading });
          }
        }),
        harness.options.randomRuns,
      );
    });
  });
}

function histories() {
  return arbitraryEntry.chain((entry) => {
    const table = makeTable(entry);
    const rows = arbitraryRows(table);
    // Positions are those of random rows: some are in the table, some are not.
    const position = rows.map((some) => some[0] ?? null);
    const reading = fc
      .tuple(position, position, arbitraryQuery(table))
      .map(([after, through, { sinceTime, limitRows }]): Reading => {
        return { after, through, sinceTime, limitRows };
      });
    const step = fc.record({ rows, reading });
    return fc.record({
      entry: fc.constant(entry),
      steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    });
  });
}

/** One read of every kind, from a position that was not read before. */
async function compareReads(
  { rows }: RowParts,
  { table, model, reading }: { table: Table; model: RowModel; reading: Reading },
): Promise<void> {
  const { after, through, sinceTime, limitRows } = reading;
  expectSame(await rows.readAfter(table, reading), model.after(reading).slice(0, limitRows));
  expect(await rows.countSince(table, sinceTime)).toBe(
    model.after({ after: null, sinceTime }).length,
  );
  const range = { afterKey: after, throughKey: through };
  expectSame(
    await rows.readKeyRange(table, range, limitRows),
    model.range(range).slice(0, limitRows),
  );
  const keys = [after, through].filter((key) => key !== null);
  const found = await rows.readByKeys(table, keys);
  expectSame(
    found.toSorted((a, b) => compareRowKeys(table, a, b)),
    model.byKeys(keys),
  );
}

/** Reads on from each row that was read: every row once, in the order of pages and of keys. */
async function compareWalks(
  { rows, tables }: RowParts,
  { table, model, reading }: { table: Table; model: RowModel; reading: Reading },
): Promise<void> {
  const { sinceTime, limitRows } = reading;
  const query = { sinceTime, limitRows };
  const walked = await walk((after) => rows.readAfter(table, { ...query, after }));
  expectSame(walked, model.after({ after: null, sinceTime }));
  const page = await tables.readPage(table, { sinceTime, offsetRows: 0, limitRows: 1000 });
  expectSame(
    walked,
    page.rows.map((row) => sentValues(table, row)),
  );
  const byKey = await walk((afterKey) =>
    rows.readKeyRange(table, { afterKey, throughKey: null }, limitRows),
  );
  expectSame(byKey, model.range({ afterKey: null, throughKey: null }));
}

async function walk(read: (after: Row | null) => Promise<readonly Row[]>): Promise<Row[]> {
  const walked: Row[] = [];
  for (;;) {
    const rows = await read(walked.at(-1) ?? null);
    if (rows.length === 0) return walked;
    walked.push(...rows);
    if (walked.length > 1000) throw new Error("The walk comes to no end");
  }
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
