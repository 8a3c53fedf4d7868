import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { makeTable } from "../../support/rows/make-table.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import { type StoreHarness, storeTests } from "../harness.ts";
import { asWrites, TableUnderTest } from "./table-under-test.ts";

const ITEMS = makeTable({
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    v: { type: "integer" },
  },
});

const INSERT_ONLY = makeTable({
  upsert_key: ["k"],
  update_columns: [],
  columns: { k: { type: "text" }, v: { type: "integer" } },
});

const LISTED = makeTable({
  upsert_key: ["k"],
  update_columns: ["v"],
  columns: { k: { type: "text" }, v: { type: "integer" }, first: { type: "text" } },
});

/** Every object has a `constructor`. */
const HIDDEN = makeTable({
  upsert_key: ["k"],
  columns: {
    k: { type: "text" },
    v: { type: "integer" },
    secret: { type: "text", serialize: false },
    constructor: { type: "text" as const, serialize: false },
  },
});

/** As `HIDDEN`, with the hidden columns shown: how a test looks at them. */
const SHOWN = makeTable({
  upsert_key: ["k"],
  columns: {
    k: { type: "text" },
    v: { type: "integer" },
    secret: { type: "text" },
    constructor: { type: "text" as const },
  },
});

/** What `write()` does with new and existing keys. */
export function tableWriteTests(harness: StoreHarness): void {
  describe(`${harness.name}: writes`, () => {
    upsertTests(harness);
    hiddenColumnTests(harness);
  });
}

function upsertTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("S-4.2.9 write() inserts new keys and updates every other column of known ones", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "a", v: 1 }, { k: "b", v: 2 });
    await table.write({ k: "b", v: null }, { k: "c", v: 3 });
    expect(await table.rows()).toEqual([
      { id: 1, k: "a", v: 1 },
      { id: 2, k: "b", v: null },
      { id: 3, k: "c", v: 3 },
    ]);
  });

  it("S-4.2.9 write() with no update columns leaves known keys as they are", async (storage) => {
    const table = await TableUnderTest.prepare(storage, INSERT_ONLY);
    await table.write({ k: "a", v: 1 });
    await table.write({ k: "a", v: 2 }, { k: "b", v: 3 }, { k: "b", v: 4 });
    expect(await table.rows()).toEqual([
      { k: "a", v: 1 },
      { k: "b", v: 3 },
    ]);
  });

  it("S-4.2.9 write() updates listed columns only", async (storage) => {
    const table = await TableUnderTest.prepare(storage, LISTED);
    await table.write({ k: "a", v: 1, first: "yes" });
    await table.write({ k: "a", v: 2, first: "no" }, { k: "b", v: 3, first: "yes" });
    expect(await table.rows()).toEqual([
      { k: "a", v: 2, first: "yes" },
      { k: "b", v: 3, first: "yes" },
    ]);
  });

  it("D-3.6 write() takes the same key twice as if written one after the other", async (storage) => {
    const items = await TableUnderTest.prepare(storage, ITEMS);
    await items.write(
      { k: "a", v: 1 },
      { k: "b", v: 2 },
      { k: "a", v: 3 },
      { k: "a", v: 4 },
      { k: "c", v: 5 },
    );
    expect(await items.rows()).toEqual([
      { id: 1, k: "a", v: 4 },
      { id: 2, k: "b", v: 2 },
      { id: 3, k: "c", v: 5 },
    ]);
  });

  it("S-4.2.9 write() keeps the id of a row, and numbers on after updates and in later writes", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write({ k: "z", v: 1 });
    await table.write({ k: "z", v: 2 }, { k: "z", v: 3 }, { k: "y", v: 1 });
    await table.write({ k: "x", v: 1 }, { k: "z", v: 4 }, { k: "w", v: 1 });
    expect(await table.rows()).toEqual([
      { id: 4, k: "w", v: 1 },
      { id: 3, k: "x", v: 1 },
      { id: 2, k: "y", v: 1 },
      { id: 1, k: "z", v: 4 },
    ]);
  });

  it("S-4.2.7 write() takes an id within the key as it comes", async (storage) => {
    const definition = makeTable({
      upsert_key: ["id"],
      columns: { id: { type: "integer", auto_increment: true }, v: { type: "integer" } },
    });
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write({ id: 7, v: 1 }, { id: -2, v: 2 });
    await table.write({ id: 7, v: 3 });
    expect(await table.rows()).toEqual([
      { id: -2, v: 2 },
      { id: 7, v: 3 },
    ]);
  });

  it("S-4.2.9 __all__ does not update an id that is pushed but not in the key", async (storage) => {
    const definition = makeTable({
      upsert_key: ["k"],
      columns: { id: { type: "integer" }, k: { type: "text" }, v: { type: "integer" } },
    });
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write({ id: 7, k: "a", v: 1 });
    await table.write({ id: 8, k: "a", v: 2 });
    expect(await table.rows()).toEqual([{ id: 7, k: "a", v: 2 }]);
  });

  it("D-3.8 write() is idempotent, and resolves without failures", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const writes = asWrites([
      { k: "a", v: 1 },
      { k: "b", v: 2 },
    ]);
    expect((await writeTo(storage, ITEMS, writes)).failures).toEqual([]);
    expect((await writeTo(storage, ITEMS, writes)).failures).toEqual([]);
    expect((await writeTo(storage, ITEMS, [])).failures).toEqual([]);
    expect(await table.rows()).toEqual([
      { id: 1, k: "a", v: 1 },
      { id: 2, k: "b", v: 2 },
    ]);
  });

  it("D-7.9.2 pages that are read during a large write() show the state before it, or after it", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write(...Array.from({ length: 1_500 }, (_, i) => ({ k: `first-${i}`, v: 0 })));
    const rows = Array.from({ length: 2_000 }, (_, i) => ({ k: `k-${i}`, v: 1 }));
    let isWritten = false;
    const writing = table.write(...rows).finally(() => {
      isWritten = true;
    });
    while (!isWritten) {
      const { rows: seen, totalRows } = await table.page();
      expect([1_500, 3_500]).toContain(seen.length);
      expect(totalRows).toBe(seen.length);
      await nextTurn();
    }
    await writing;
    expect(await table.count()).toBe(3_500);
  });

  it("D-3.8 concurrent write()s of one instance are each written whole", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    const batches = Array.from({ length: 8 }, (_, v) =>
      ["a", "b", "c", `own ${v}`].map((k) => ({ k, v })),
    );
    await Promise.all(batches.map((batch) => table.write(...batch)));
    const rows = await table.rows();
    const shared = rows.filter((row) => ["a", "b", "c"].includes(String(row["k"])));
    expect(rows.length).toBe(11);
    expect(new Set(shared.map((row) => row["v"])).size).toBe(1);
    expect(new Set(rows.map((row) => row["id"])).size).toBe(11);
  });

  it("S-8 write() takes a batch of 5,000 rows", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write(...Array.from({ length: 5000 }, (_, v) => ({ k: `k${v}`, v })));
    await table.write(
      ...Array.from({ length: 5000 }, (_, v) => ({ k: `k${v + 2500}`, v: -1 - v })),
    );
    const rows = new Map((await table.rows()).map((row) => [row["k"], [row["id"], row["v"]]]));
    expect(rows.size).toBe(7500);
    expect(rows.get("k0")).toEqual([1, 0]);
    expect(rows.get("k2499")).toEqual([2500, 2499]);
    expect(rows.get("k2500")).toEqual([2501, -1]);
    expect(rows.get("k4999")).toEqual([5000, -2500]);
    expect(rows.get("k5000")).toEqual([5001, -2501]);
    expect(rows.get("k7499")).toEqual([7500, -5000]);
  });
}

function hiddenColumnTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-2.2 a column with serialize: false is written, kept when absent, and not shown", async (storage) => {
    const hidden = await TableUnderTest.prepare(storage, HIDDEN);
    const shown = new TableUnderTest(storage, SHOWN);
    await hidden.write(
      { k: "a", v: 1, secret: "s1", constructor: "h1" },
      { k: "b", v: 2, secret: "s2" },
      { k: "c", v: 3 },
    );
    expect(await hidden.rows()).toEqual([
      { k: "a", v: 1 },
      { k: "b", v: 2 },
      { k: "c", v: 3 },
    ]);
    await hidden.write(
      { k: "a", v: 4 },
      { k: "b", v: 5, constructor: "h2" },
      { k: "c", v: 6, secret: null, constructor: "h3" },
      { k: "a", v: 7, secret: null },
      { k: "a", v: 8 },
    );
    expect(await shown.rows()).toEqual([
      { k: "a", v: 8, secret: null, constructor: "h1" },
      { k: "b", v: 5, secret: "s2", constructor: "h2" },
      { k: "c", v: 6, secret: null, constructor: "h3" },
    ]);
  });

  it("D-2.2 a record that holds nothing but its key and absent columns changes nothing", async (storage) => {
    const definition = makeTable({
      upsert_key: ["k"],
      columns: { k: { type: "text" }, secret: { type: "text", serialize: false } },
    });
    const table = await TableUnderTest.prepare(storage, definition);
    await table.write({ k: "a" }, { k: "b", secret: "s" });
    await table.write({ k: "a" }, { k: "b" });
    expect(await table.rows()).toEqual([{ k: "a" }, { k: "b" }]);
  });
}
