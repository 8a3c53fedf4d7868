import { describe, expect, test } from "bun:test";
import { formatMs } from "../../../src/domain/shared/time.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import {
  type DocumentTablesHarness,
  itemsTable,
  records,
  TablesOfSuite,
} from "./tables-harness.ts";

const T1 = "2024-05-01T10:00:00.000001Z";
const T2 = "2024-05-01T10:00:00.000002Z";
const T3 = "2024-05-01T10:00:00.000003Z";

/** A row that pages show. */
const shown = (k: string, at: string | null, v: number): Row => ({ k, at, v });

/** What a body does to the rows of tables. */
export function documentTables(harness: DocumentTablesHarness): void {
  describe(`${harness.name}: rows in transactions`, () => {
    const store = new TablesOfSuite(harness);
    writing(store);
    refusing(store);
    reading(store, harness.holds === undefined ? "b\u0000" : "b");
    if (harness.hasDeletes !== false) burying(store);
  });
}

function writing(store: TablesOfSuite): void {
  test("D-3.6 new rows are inserted, known ones changed, equal ones left, and times are told", async () => {
    const table = await store.tableWith(itemsTable(), shown("a", T2, 1), shown("b", T3, 1));
    const rows = [shown("a", T2, 1), shown("b", T2, 2), shown("c", T3, 1), { k: "d" }];
    const { visibleMs, ...written } = await store.write(table, rows);
    expect(written).toEqual({
      failures: [],
      kept: [],
      changed: 3,
      deleted: 0,
      earliestChanged: T2,
      earliestKept: null,
    });
    expect(Math.abs(visibleMs - store.opened.nowMs())).toBeLessThan(60_000);
    expect(await store.rows(table)).toEqual([
      shown("a", T2, 1),
      shown("b", T2, 2),
      shown("c", T3, 1),
      { k: "d", at: null, v: null },
    ]);
  });

  test("D-7.1 with the guard an older record is kept out, and the time of the row here is told", async () => {
    const table = await store.tableWith(itemsTable(), shown("a", T2, 1), shown("b", T3, 1));
    const rows = [shown("b", T1, 9), shown("a", T1, 9), shown("c", T1, 1)];
    const { kept, changed, earliestKept } = await store.write(table, rows, { conflict: "newer" });
    expect([kept.toSorted(), changed, earliestKept]).toEqual([[0, 1], 1, T2]);
    expect((await store.rows(table)).map(({ v }) => v)).toEqual([1, 1, 1]);
    expect((await store.write(table, [shown("a", T1, 9)])).changed).toBe(1);
  });

  test("rows of several tables and documents are one commit", async () => {
    const [one, two] = [await store.tableWith(itemsTable()), await store.tableWith(itemsTable())];
    const from = await store.items();
    await store.transact(async (tx) => {
      await tx.read({ from, count: {} });
      const { visibleMs } = await tx.tables.write(one, records([shown("a", T1, 1)]));
      expect(visibleMs).toBeGreaterThanOrEqual(tx.nowMs);
      tx.put(from, { key: ["a"], value: 1 });
      await tx.tables.write(two, records([shown("b", T1, 1)]));
      await tx.tables.write(one, records([shown("c", T1, 1)]));
    });
    expect((await store.rows(one)).map(({ k }) => k)).toEqual(["a", "c"]);
    expect((await store.rows(two)).map(({ k }) => k)).toEqual(["b"]);
  });

  test("D-7.9 a write of thousands of rows gives others their turn", async () => {
    const { hasTurns = true } = store.opened;
    if (!hasTurns) return;
    const table = await store.tableWith(itemsTable());
    let turns = 0;
    let isOver = false;
    const other = () => {
      turns++;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    const rows = Array.from({ length: 20_000 }, (_, n) => shown(`k${n}`, T1, n));
    const { changed } = await store.write(table, rows);
    isOver = true;
    expect([changed, turns > 0]).toEqual([20_000, true]);
  });
}

function refusing(store: TablesOfSuite): void {
  test("S-4.2.11 records that the store refuses fail alone, and all else that the body does is committed", async () => {
    const { makeUnique } = store.opened;
    if (makeUnique === undefined) return;
    const [first, second] = [
      await store.tableWith(itemsTable()),
      await store.tableWith(itemsTable()),
    ];
    const from = await store.items();
    for (const table of [first, second]) await makeUnique(table, "v");
    await store.write(first, [shown("x", T1, 7)]);
    const numbers = [1, 7, 2, 1, 3, 7, 4];
    const outcome = await store.transact(async (tx) => {
      const [before] = await tx.read({ from, count: {} });
      tx.put(from, { key: ["n", before], value: 1 });
      const rows = numbers.map((v, n) => shown(`k${n}`, T1, v));
      const one = await tx.tables.write(first, records(rows));
      const two = await tx.tables.write(second, records(rows.slice(2, 6)));
      tx.put(from, { key: ["failures"], value: [...one.failures, ...two.failures].length });
      return { one, two };
    });
    const positions = outcome.one.failures.map(({ index }) => index);
    // Of two equal ones either is refused.
    expect(positions.map((index) => numbers[index]).toSorted()).toEqual([1, 7, 7]);
    expect([outcome.one.changed, outcome.two.changed, outcome.two.failures]).toEqual([4, 4, []]);
    expect((await store.rows(first)).map(({ v }) => v).toSorted()).toEqual([1, 2, 3, 4, 7]);
    expect(await store.rows(second)).toHaveLength(4);
    const [items] = await store.documents.read({ name: "test.items" }, (at) =>
      at.read({ from, stretch: {} }),
    );
    expect(items.map(({ key, value }) => [key, value])).toEqual([
      [["failures"], 3],
      [["n", 0], 1],
    ]);
  });

  test("S-4.2.11 of known rows those that the store refuses fail alone", async () => {
    const { makeUnique } = store.opened;
    if (makeUnique === undefined) return;
    const known = [shown("a", T1, 1), shown("b", T1, 2), shown("c", T1, 3)];
    const table = await store.tableWith(itemsTable(), ...known);
    await makeUnique(table, "v");
    const changes = [shown("a", T2, 4), shown("b", T2, 3), shown("c", T2, 3), shown("d", T2, 2)];
    const { failures, changed } = await store.write(table, changes, { conflict: "newer" });
    expect([failures.map(({ index }) => index), changed]).toEqual([[1, 3], 2]);
    expect((await store.rows(table)).map(({ v }) => v)).toEqual([4, 2, 3]);
  });
}

function reading(store: TablesOfSuite, secret: string): void {
  test("D-14.3 rows are read by their keys, whole, and with what the body wrote", async () => {
    const columns = {
      n: { type: "bigint" },
      shop: { type: "text" },
      j: { type: "json" },
      secret: { type: "text", serialize: false },
    } as const;
    const first: Row = { n: "9007199254740993", shop: "a", j: { b: [1, null] }, secret: "s" };
    const second: Row = { n: "7", shop: "a", j: null, secret: null };
    const third: Row = { n: "7", shop: "", j: "\u0000", secret: null };
    const entry = makeTable({ upsert_key: ["n", "shop"], columns }, "keyed_rows");
    const table = await store.tableWith(entry, first, second, third);
    const withKeys = (...keys: Row[]) => ({ rowsOf: table, keys }) as const;
    await store.transact(async (tx) => {
      const [found, none] = await tx.read(
        withKeys(third, first, first, { n: "8", shop: "a" }),
        withKeys(),
      );
      expect([found.length, none]).toEqual([2, []]);
      expect(found).toEqual(expect.arrayContaining([first, third]));
      await tx.tables.write(table, records([{ n: "7", shop: "a", j: 5 }]));
      const [after] = await tx.read(withKeys(second));
      expect(after).toEqual([{ ...second, j: 5 }]);
    });
  });

  test("D-14.3 in a table without deletes what is deleted goes, and leaves nothing", async () => {
    const rows = [
      shown("old", T1, 1),
      shown("ahead", "2999-01-01T00:00:00Z", 2),
      shown("other", null, 3),
    ];
    const table = await store.tableWith(itemsTable(), ...rows);
    const deletedAt = "2026-01-01T00:00:01Z";
    const deleted = ["old", "ahead", "none"].map((k, index) => ({ index, key: { k }, deletedAt }));
    const written = await store.write(table, [], { deleted });
    expect([written.deleted, (await store.rows(table)).map(({ k }) => k)]).toEqual([2, ["other"]]);
    expect((await store.write(table, [shown("old", T1, 4)], { conflict: "newer" })).kept).toEqual(
      [],
    );
  });

  test("rows are read by a value in a column, whole, and with what the body wrote", async () => {
    const columns = {
      owner: { type: "text" },
      n: { type: "integer" },
      secret: { type: "text", serialize: false },
    } as const;
    const table = await store.tableWith(
      makeTable({ upsert_key: ["owner", "n"], columns }, "owned_rows"),
      { owner: "x", n: 1, secret: "a" },
      { owner: "y", n: 2, secret },
      { owner: "x", n: 3, secret: null },
    );
    const rowsOf = (column: string, ...values: string[]) =>
      ({ rowsOf: table, where: [column, values] }) as const;
    const found = await store.transact(async (tx) => {
      const before = await tx.read(rowsOf("owner", "x", "x", "z"), rowsOf("owner", "y"));
      const rows = [
        { owner: "x", n: 1, secret: "c" },
        { owner: "x", n: 4 },
      ];
      await tx.tables.write(table, records(rows));
      await tx.tables.change(table, "owner", "y", null);
      const after = await tx.read(
        rowsOf("owner", "y", "x"),
        rowsOf("absent", "x"),
        rowsOf("owner"),
      );
      return [...before, ...after].map((some) =>
        some.toSorted((a, b) => Number(a["n"]) - Number(b["n"])),
      );
    });
    expect(found).toEqual([
      [
        { owner: "x", n: 1, secret: "a" },
        { owner: "x", n: 3, secret: null },
      ],
      [{ owner: "y", n: 2, secret }],
      [
        { owner: "x", n: 1, secret: "c" },
        { owner: "x", n: 3, secret: null },
        { owner: "x", n: 4, secret: null },
      ],
      [],
      [],
    ]);
  });

  test("rows are of the moment of the first read, as documents are", async () => {
    const table = await store.tableWith(itemsTable(), shown("a", T1, 0));
    const from = await store.items();
    const write = async () => {
      for (let n = 1; n <= 8; n++) {
        await store.transact(async (tx) => {
          tx.put(from, { key: ["n"], value: n });
          await tx.tables.write(table, records([shown("a", T1, n)]));
        });
      }
    };
    const read = async () => {
      for (let n = 0; n < 12; n++) {
        await store.documents.read({ name: "test.pair" }, async (at) => {
          const [[item]] = await at.read({ from, keys: [["n"]] });
          const [[row]] = await at.read({ rowsOf: table, where: ["k", ["a"]] });
          expect(row?.["v"]).toBe(Number(item?.value ?? 0));
        });
      }
    };
    await Promise.all([write(), read()]);
  });
}

function burying(store: TablesOfSuite): void {
  test("D-7.6 what a body buries keeps out what it writes next", async () => {
    const table = await store.tableWith(itemsTable({ deletes: true }), shown("a", T1, 1));
    await store.opened.storage.tables.settled(table);
    const deletedAt = formatMs(store.opened.nowMs());
    const second = await store.transact(async (tx) => {
      await tx.tables.write(table, [], { deleted: [{ index: 0, key: { k: "a" }, deletedAt }] });
      return await tx.tables.write(table, records([shown("a", T2, 2)]), { conflict: "newer" });
    });
    expect([second.kept, await store.rows(table)]).toEqual([[0], []]);
  });

  test("D-8.2 removed rows leave no tombstone, and none of their keys stays", async () => {
    const rows = [shown("a", T1, 1), shown("b", T1, 1), shown("c", T1, 1)];
    const table = await store.tableWith(itemsTable({ deletes: true }), ...rows);
    const deleted = ["b", "c"].map((k, index) => ({ index, key: { k }, deletedAt: T2 }));
    await store.write(table, [], { deleted });
    await store.opened.storage.tables.settled(table);
    await store.transact(async (tx) => {
      await tx.tables.change(table, "k", "a", null);
      await tx.tables.change(table, "k", "b", null);
    });
    expect([await store.rows(table), await store.tombstones(table)]).toEqual([[], ["c"]]);
  });

  test("what a body throws takes rows, removals and tombstones back with its documents", async () => {
    const table = await store.tableWith(itemsTable({ deletes: true }), shown("a", T1, 1));
    const from = await store.items();
    const before = await store.rows(table);
    const failed = store.transact(async (tx) => {
      const deleted = [{ index: 0, key: { k: "a" }, deletedAt: T2 }];
      await tx.tables.write(table, records([shown("b", T1, 1)]), { deleted });
      tx.put(from, { key: ["a"], value: 1 });
      await tx.tables.change(table, "k", "b", { v: 2 });
      throw new Error("changed its mind");
    });
    expect(await failed.catch(({ message }) => message)).toBe("changed its mind");
    expect(await store.rows(table)).toEqual(before);
    expect(await store.tombstones(table)).toEqual([]);
    const [items] = await store.documents.read({ name: "test.items" }, (at) =>
      at.read({ from, stretch: {} }),
    );
    expect(items).toEqual([]);
  });
}
