// What a page costs PostgreSQL that stands far behind what was read before it. D-3.4.
import { describe, expect } from "bun:test";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest, watchedDriver } from "../support.ts";

const ITEMS = makeTable({ upsert_key: ["n"], columns: { n: { type: "integer" } } });
const ROWS = 1_000;
const PAGE = { sinceTime: null, offsetRows: 900, limitRows: 50 };

describe.skipIf(!postgresAvailable)("PostgreSQL: deep pages", () => {
  databaseTest(
    "D-3.4 one that is asked for again skips no rows that it has skipped before",
    async ({ url, open }) => {
      const table = await TableUnderTest.prepare(await open(), ITEMS);
      await table.write(...Array.from({ length: ROWS }, (_, n) => ({ n })));
      let skippedRows = 0;
      const driver = watchedDriver(url, (statement, text, parameters) => {
        const place = /offset \$(\d+)/.exec(text)?.[1];
        skippedRows += Number(place === undefined ? 0 : parameters[Number(place) - 1]);
        return statement();
      });
      const database = new PostgresDatabase({ driver, clock: new SystemClock() });
      const tables = new PostgresTables(database, "public");
      const skips: number[] = [];
      for (let i = 0; i < 2; i++) {
        const { rows, totalRows } = await readPage(tables, ITEMS, PAGE);
        expect([rows.length, rows[0], totalRows]).toEqual([50, { n: 900 }, ROWS]);
        skips.push(skippedRows);
      }
      expect(skips).toEqual([899, 899]);
      await database.close();
    },
  );

  databaseTest("D-3.4 rows that fill more than a portion are read one by one", async ({ open }) => {
    const text = "x".repeat(5 * 1024 * 1024);
    const columns = { n: { type: "integer" }, text: { type: "text" } } as const;
    const table = await TableUnderTest.prepare(
      await open(),
      makeTable({ upsert_key: ["n"], columns }),
    );
    for (const n of [1, 2, 3]) await table.write({ n, text });
    for (const limitRows of [1, 3]) {
      expect(await table.column("n", { limitRows })).toEqual([1, 2, 3].slice(0, limitRows));
    }
  });

  databaseTest("D-3.10 a table is counted once for as long as it stays", async ({ url, open }) => {
    const table = await TableUnderTest.prepare(await open(), ITEMS);
    await table.write({ n: 1 });
    let counts = 0;
    const driver = watchedDriver(url, (statement, text) => {
      if (text.startsWith("select count")) counts++;
      return statement();
    });
    const database = new PostgresDatabase({ driver, clock: new SystemClock() });
    const tables = new PostgresTables(database, "public");
    expect([await tables.count(ITEMS), await tables.count(ITEMS), counts]).toEqual([1, 1, 1]);
    await table.write({ n: 2 });
    expect([await tables.count(ITEMS), counts]).toEqual([2, 2]);
    await database.close();
  });
});
