// Triggers of repsync that somebody has dropped or switched off. D-7.6.
import { describe, expect } from "bun:test";
import { makeTable } from "../../../support/rows/make-table.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest } from "../support.ts";

const ITEMS = makeTable({
  ...{ timestamp_column: "at", upsert_key: ["k"], deletes: true, stamped: true },
  columns: { k: { type: "text" }, at: { type: "datetime" } },
});
const QUERY = { after: null, sinceTime: null, limitRows: 10 };

describe.skipIf(!postgresAvailable)("triggers on tables of PostgreSQL", () => {
  databaseTest(
    "D-7.6 a start makes them again, and the record of deletes is complete from then on",
    async (database) => {
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      const since = async () => (await storage.tombstones.list(ITEMS, QUERY)).earliestAvailable;
      const first = await since();
      await storage.tables.prepare([ITEMS]);
      expect(await since()).toBe(first);
      for (const [i, harm] of [
        "drop trigger repsync_deletes_delete on items",
        "alter table items disable trigger all",
      ].entries()) {
        const before = await since();
        const k = `${i}`;
        await database.sql.unsafe(`insert into items (k) values ('${k}'), ('${k} later')`);
        await database.sql.unsafe(`${harm}; delete from items where k = '${k}'`);
        await storage.tables.prepare([ITEMS]);
        expect((await since()) > before).toBe(true);
        await database.sql.unsafe(`delete from items where k = '${k} later'`);
      }
      const { items } = await storage.tombstones.list(ITEMS, QUERY);
      expect(items.map(({ key }) => key)).toEqual([{ k: "0 later" }, { k: "1 later" }]);
    },
  );
});
