// What a page costs MongoDB that stands far behind what was read before it. D-3.4.
import { describe, expect } from "bun:test";
import type { Db } from "mongodb";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { databaseTest } from "../support.ts";

const ITEMS = makeTable({ upsert_key: ["n"], columns: { n: { type: "integer" } } });
const LARGE = makeTable({
  upsert_key: ["n"],
  columns: { n: { type: "integer" }, text: { type: "text" } },
});
const ROWS = 1_000;
const PAGE = { sinceTime: null, offsetRows: 900, limitRows: 50 };

/** Places in indexes of the table that its reads looked at meanwhile. */
async function placesRead(db: Db, work: () => Promise<unknown>): Promise<number> {
  const profile = db.collection("system.profile");
  try {
    await db.command({ profile: 2 });
    await work();
    const reads = await profile.find({ ns: `${db.databaseName}.items` }).toArray();
    return reads.reduce((sum, { keysExamined }) => sum + Number(keysExamined ?? 0), 0);
  } finally {
    await db.command({ profile: 0 });
    await profile.drop();
  }
}

describe.skipIf(!mongoAvailable)("MongoDB: deep pages", () => {
  databaseTest(
    "D-3.4 one that is asked for again skips no rows that it has skipped before",
    async (database) => {
      // What is known of a table is used again for 2 s.
      const storage = await database.open("", new FakeClock());
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write(...Array.from({ length: ROWS }, (_, n) => ({ n })));
      const read = async () => {
        const { rows, totalRows } = await readPage(storage.tables, ITEMS, PAGE);
        expect([rows.length, rows[0], totalRows]).toEqual([50, { n: 900 }, ROWS]);
      };
      // It counts the rows, too.
      expect(await placesRead(database.db, read)).toBeGreaterThanOrEqual(ROWS + PAGE.offsetRows);
      expect(await placesRead(database.db, read)).toBeLessThan(2 * PAGE.limitRows);
    },
  );

  databaseTest(
    "D-7.9 one that ends for its bytes leaves no cursor open, and nothing in memory",
    async (database) => {
      const table = await TableUnderTest.prepare(await database.open(), LARGE);
      const text = "x".repeat(1024 * 1024);
      await table.write(...Array.from({ length: 20 }, (_, n) => ({ n, text })));
      const openCursors = async () => {
        const { metrics } = await database.db.admin().serverStatus();
        return Number(metrics.cursor.open.total);
      };
      const before = await openCursors();
      const read = async () => {
        expect(await table.column("n", { maxJsonBytes: 2.5 * text.length })).toEqual([0, 1]);
      };
      await read();
      expect(await openCursors()).toBe(before);
      // The driver has some 15 MiB of each that nobody read.
      const { rss } = process.memoryUsage();
      for (let page = 0; page < 40; page++) await read();
      Bun.gc(true);
      expect(process.memoryUsage().rss - rss).toBeLessThan(300 * text.length);
    },
  );
});
