import { describe, expect } from "bun:test";
import fc from "fast-check";
import { makeTable } from "../../support/make-table.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { type StoreHarness, storeTests } from "../harness.ts";
import { arbitraryEntry, arbitraryQuery, arbitraryRows } from "./table-arbitraries.ts";
import { TableModel } from "./table-model.ts";
import { TableUnderTest } from "./table-under-test.ts";

/** Random histories: whatever was pushed, every page is the model's. */
export function tableHistoryTests(harness: StoreHarness): void {
  const it = storeTests(harness);
  let tables = 0;

  describe(`${harness.name}: histories`, () => {
    it("D-3 any pushes to any table give the pages of the model, at every offset", async (storage) => {
      const histories = arbitraryEntry.chain((entry) => {
        const definition = makeTable(entry);
        const step = fc.record({
          rows: arbitraryRows(definition),
          query: arbitraryQuery(definition),
        });
        return fc.record({
          entry: fc.constant(entry),
          steps: fc.array(step, { minLength: 1, maxLength: 8 }),
        });
      });
      await checkAsyncProperty(
        fc.asyncProperty(histories, async ({ entry, steps }) => {
          const definition = makeTable(entry, `history_${tables++}`);
          const model = new TableModel(definition);
          const table = await TableUnderTest.prepare(storage, definition);
          for (const { rows, query } of steps) {
            await table.write(...rows);
            model.write(rows);
            for (const offsetRows of [query.offsetRows, query.offsetRows + query.limitRows, 0]) {
              const page = { ...query, offsetRows };
              expect(JSON.stringify(await table.page(page))).toBe(JSON.stringify(model.page(page)));
            }
          }
          const everything = { sinceTime: null, offsetRows: 0, limitRows: 1000 };
          expect(await table.page(everything)).toEqual(model.page(everything));
          expect(await table.count()).toBe(model.page(everything).totalRows);
        }),
        harness.options.randomRuns,
      );
    });

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
