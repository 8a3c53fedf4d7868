import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PageStart } from "../../../../src/ports/tables/table-store.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter, readKeyRange, readPage } from "../../../support/rows/read-rows.ts";
import { openSecond, type StoreHarness, storeTests } from "../../harness.ts";
import { TableUnderTest } from "../table-under-test.ts";
import { EVENTS, prepared, type ReadingParts, walk, write } from "./reading-ways.ts";

const HIDING = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: {
      at: { type: "datetime" },
      secret: { type: "text", serialize: false },
      id: { type: "integer", auto_increment: true },
      v: { type: "numeric" },
      k: { type: "text" },
    },
  },
  "hiding",
);

/** The first row, in each way. */
const STARTS: readonly PageStart[] = [
  { offsetRows: 0 },
  { cursor: null },
  { after: null },
  { afterKey: null, throughKey: null },
];

/** What rows a read gives, whichever way: their columns, how many at once, and of which moment. */
export function readingRowTests(harness: StoreHarness<ReadingParts>): void {
  describe(`${harness.name}: rows that are read`, () => {
    columnTests(harness);
    sizeTests(harness);
    unlimitedTests(harness);
    visibilityTests(harness);
  });
}

function columnTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  it("D-4.6 rows have the columns that a run sends, in registry order, values as written", async (storage) => {
    const row = { at: "2024-01-01T00:00:00.100Z", v: "1.10", k: "a" };
    await prepared(storage, HIDING, [{ ...row, secret: "s" }]);
    const query = { after: null, sinceTime: null, limitRows: 1 };
    const reads = [
      await readAfter(storage.tables, HIDING, query),
      await storage.tables.byKeys(HIDING, [{ k: "a" }], "sent"),
      await readKeyRange(storage.tables, HIDING, { afterKey: null, throughKey: null }, 1),
    ];
    for (const rows of reads) expect(JSON.stringify(rows)).toBe(JSON.stringify([row]));
  });

  it("D-9.5 byKeys() and pages in a range of keys or after a row give columns as pages show them, too", async (storage) => {
    const table = await TableUnderTest.prepare(storage, HIDING);
    await table.write(...["c", "a", "b"].map((k) => ({ at: null, secret: "s", v: "1.10", k })));
    const shown = await table.rows();
    expect(shown.map((row) => Object.keys(row).join())).toEqual(Array(3).fill("at,id,v,k"));
    const found = await storage.tables.byKeys(HIDING, [{ k: "c" }, { k: "d" }], "page");
    expect(found).toEqual(shown.slice(2));
    for (const way of ["position", "key"] as const) {
      expect(await walk(storage.tables, HIDING, way)).toEqual(shown);
    }
  });
}

function sizeTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  it("D-7.9 a page ends before its JSON is too large, but not before its first row, wherever it begins", async (storage) => {
    const names = Array.from({ length: 20 }, (_, n) => ({
      name: `${"é".repeat(20)}${String(n).padStart(2, "0")}`,
      at: null,
    }));
    await prepared(storage, EVENTS, names);
    const rowBytes = Buffer.byteLength(JSON.stringify(names[0])) + 1;
    for (const from of STARTS) {
      for (const rows of [1, 7]) {
        const query = { from, limitRows: 9, maxJsonBytes: rows * rowBytes + 1 };
        expect((await storage.tables.page(EVENTS, query)).rows).toEqual(names.slice(0, rows));
      }
      const query = { from, limitRows: 9, maxJsonBytes: 1 };
      expect((await storage.tables.page(EVENTS, query)).rows).toEqual(names.slice(0, 1));
    }
    const cut = { sinceTime: null, offsetRows: 18, limitRows: 9, maxJsonBytes: 1 };
    expect(await readPage(storage.tables, EVENTS, cut)).toEqual({
      ...{ rows: names.slice(18, 19), totalRows: 20 },
    });
    for (const way of ["offset", "cursor", "position", "key"] as const) {
      const walked = await walk(storage.tables, EVENTS, way, { maxJsonBytes: 2 * rowBytes + 1 });
      expect(walked).toEqual(names);
    }
  });
}

function unlimitedTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  it("D-7.9 a page without a limit of bytes has as many rows as it may, however large they are", async (storage) => {
    const table = makeTable({
      upsert_key: ["k"],
      columns: { k: { type: "text" }, list: { type: "json" } },
    });
    const list = Array.from({ length: 450_000 }, () => 0);
    await prepared(
      storage,
      table,
      ["a", "b", "c", "d", "e"].map((k) => ({ k, list })),
    );
    for (const from of STARTS) {
      expect((await storage.tables.page(table, { from, limitRows: 5 })).rows).toHaveLength(5);
    }
  });
}

function visibilityTests(harness: StoreHarness<ReadingParts>): void {
  const it = storeTests(harness);

  it("D-3.4, D-4.6 every read sees the writes acknowledged before it, on another instance too", async (storage, store) => {
    await storage.tables.prepare([EVENTS]);
    const other = harness.options.isShared ? await openSecond(store) : storage;
    for (let n = 0; n < 10; n++) {
      const [here, there] = n % 2 ? [storage, other] : [other, storage];
      await write(here, EVENTS, [{ name: `${n}`, at: `2024-01-01T00:00:0${n}Z` }]);
      const everything = { after: null, sinceTime: null, limitRows: 100 };
      expect(await readAfter(there.tables, EVENTS, everything)).toHaveLength(n + 1);
      const last = { sinceTime: "2024-01-01T00:00:00Z", offsetRows: n, limitRows: 1 };
      expect((await readPage(there.tables, EVENTS, last)).totalRows).toBe(n + 1);
      expect(
        await there.tables.count(EVENTS, { sinceTime: "2024-01-01T00:00:00Z", hasKey: true }),
      ).toBe(n + 1);
      expect(await there.tables.byKeys(EVENTS, [{ name: `${n}` }], "sent")).toHaveLength(1);
      const range = { afterKey: { name: `${n - 1}` }, throughKey: null };
      expect((await readKeyRange(there.tables, EVENTS, range, 9)).at(-1)?.["name"]).toBe(`${n}`);
    }
  });

  if (!harness.options.isShared) return;

  it("D-4.6 no read holds a part of a write", async (storage, store) => {
    await storage.tables.prepare([EVENTS]);
    const other = await openSecond(store);
    const keys = Array.from({ length: 1_200 }, (_, n) => ({ name: String(n).padStart(3, "0") }));
    let isWriting = true;
    const writing = (async () => {
      for (let n = 0; n < 8; n++) {
        await write(
          storage,
          EVENTS,
          keys.map((key) => ({ ...key, at: `2024-01-01T00:00:${10 + n}Z` })),
        );
      }
      isWriting = false;
    })();
    do {
      const reads = [
        await readAfter(other.tables, EVENTS, { after: null, sinceTime: null, limitRows: 1_200 }),
        await other.tables.byKeys(EVENTS, keys, "sent"),
        await readKeyRange(other.tables, EVENTS, { afterKey: null, throughKey: null }, 1_200),
      ];
      for (const rows of reads) {
        expect(new Set(rows.map(({ at }) => at)).size).toBe(rows.length === 0 ? 0 : 1);
      }
      await nextTurn();
    } while (isWriting);
    await writing;
  });
}
