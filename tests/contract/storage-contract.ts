import { describe, expect } from "bun:test";
import { makeTable } from "../support/rows/make-table.ts";
import { openSecond, type StoreHarness, storeTests } from "./harness.ts";
import { tableStoreContract } from "./tables/table-store-contract.ts";
import { TableUnderTest } from "./tables/table-under-test.ts";

const ITEMS = makeTable({
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "integer" } },
});

/** What every `FullStorage` does: its own methods, and those of each store in it. */
export function storageContract(harness: StoreHarness): void {
  const it = storeTests(harness);

  describe(`${harness.name}: storage`, () => {
    it("D-6.8 ping() resolves while the store answers", async (storage) => {
      await storage.ping(800);
      await Promise.all([storage.ping(800), storage.ping(800)]);
    });

    it("D-1.2 close() may be called again", async (storage) => {
      await storage.close();
      await storage.close();
    });

    if (!harness.options.isShared) return;

    it("D-1.2 what was acknowledged is there when the store is opened again", async (storage, store) => {
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write({ k: "a", v: 1 }, { k: "b", v: 2 });
      await table.write({ k: "a", v: 3 });
      await storage.close();
      const reopened = await TableUnderTest.prepare(await openSecond(store), ITEMS);
      expect(await reopened.rows()).toEqual([
        { k: "a", v: 3 },
        { k: "b", v: 2 },
      ]);
    });

    it("D-1.2 closing one instance leaves the other at work", async (storage, store) => {
      const table = await TableUnderTest.prepare(storage, ITEMS);
      const other = await openSecond(store);
      await table.write({ k: "a", v: 1 });
      await other.close();
      await table.write({ k: "b", v: 2 });
      expect(await table.count()).toBe(2);
      await storage.ping(800);
    });
  });

  tableStoreContract(harness);
}
