import { describe, expect } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { heldRows } from "../held-values.ts";
import { TableUnderTest } from "./table-under-test.ts";

const COLUMNS: TableEntry["columns"] = {
  k: { type: "text" },
  v: { type: "integer" },
  at: { type: "datetime" },
  due: { type: "datetime" },
};
const ITEMS = makeTable({ upsert_key: ["k"], timestamp_column: "at", columns: COLUMNS });
const ROW = { k: "a", v: 1, at: "2024-01-01T00:00:00Z", due: null };

/** The table of `ITEMS` with a changed registry entry. */
function changed(change: Partial<TableEntry>): Table {
  return makeTable({ upsert_key: ["k"], timestamp_column: "at", columns: COLUMNS, ...change });
}

/** What `prepare()` makes, and what it refuses. */
export function tablePrepareTests(harness: StoreHarness): void {
  describe(`${harness.name}: prepare`, () => {
    repeatTests(harness);
    allowedChangeTests(harness);
    changedKeyTests(harness);
    refusedChangeTests(harness);
    if (harness.options.hasDeletes === false) refusedDeletesTests(harness);
  });
}

function repeatTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-2.4 prepare() may be called again, and leaves the rows", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write(ROW);
    await storage.tables.prepare([ITEMS]);
    await storage.tables.prepare([]);
    await storage.tables.prepare([
      ITEMS,
      makeTable({ upsert_key: ["k"], columns: COLUMNS }, "others"),
    ]);
    expect(await table.rows()).toEqual([ROW]);
  });

  it("D-14.6 nothing that was prepared is disturbed, by what is prepared later either", async (storage) => {
    const others = [{ stamped: true, timestamp_column: "at" }, {}].map((entry, n) =>
      makeTable({ upsert_key: ["k"], columns: COLUMNS, ...entry }, `other${n}`),
    );
    const tables = [ITEMS, ...others];
    for (const table of tables) await storage.tables.prepare([table]);
    expect((await storage.tables.disturbed?.(tables)) ?? []).toEqual([]);
  });

  it("D-2.4 prepare() may be called several times at once", async (storage) => {
    const tables = ["one", "two", "three"].map((name) =>
      makeTable({ upsert_key: ["k"], columns: COLUMNS }, name),
    );
    await Promise.all([1, 2, 3, 4].map(() => storage.tables.prepare(tables)));
    for (const table of tables) {
      const prepared = new TableUnderTest(storage, table);
      await prepared.write(ROW);
      await prepared.write(ROW);
      expect(await prepared.rows()).toEqual([ROW]);
    }
  });

  if (!harness.options.isShared) return;

  it("D-2.4 several instances may prepare at once", async (storage, store) => {
    const others = await Promise.all([openSecond(store), openSecond(store), openSecond(store)]);
    const instances = [storage, ...others];
    await Promise.all(instances.map((instance) => instance.tables.prepare([ITEMS])));
    for (const instance of instances) await new TableUnderTest(instance, ITEMS).write(ROW);
    expect(await new TableUnderTest(storage, ITEMS).rows()).toEqual([ROW]);
  });
}

function allowedChangeTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-2.4 prepare() adds columns, which are null in the rows that exist", async (storage) => {
    const before = await TableUnderTest.prepare(storage, ITEMS);
    await before.write(ROW);
    const extra = { extra: { type: "json" }, code: { type: "bigint" } } as const;
    const after = await TableUnderTest.prepare(
      storage,
      changed({ columns: { ...COLUMNS, ...extra } }),
    );
    expect(await after.rows()).toEqual([{ ...ROW, extra: null, code: null }]);
    await after.write({ ...ROW, k: "b", extra: [1], code: "2" });
    expect(await after.rows()).toEqual([
      { ...ROW, extra: null, code: null },
      { ...ROW, k: "b", extra: [1], code: "2" },
    ]);
  });

  it("D-2.4 prepare() adds columns with the names of what every object has", async (storage) => {
    const before = await TableUnderTest.prepare(storage, ITEMS);
    await before.write(ROW);
    const extra = { constructor: { type: "text" }, toString: { type: "json" } } as const;
    const columns = { ...COLUMNS, ...extra } as TableEntry["columns"];
    const after = await TableUnderTest.prepare(storage, changed({ columns }));
    expect(await after.rows()).toEqual([{ ...ROW, constructor: null, toString: null } as never]);
  });

  it("D-2.4 a column that the registry drops stays, and shows its values when it comes back", async (storage) => {
    const before = await TableUnderTest.prepare(storage, ITEMS);
    await before.write(ROW);
    const { v, ...columns } = COLUMNS;
    const without = await TableUnderTest.prepare(storage, changed({ columns }));
    await without.write({ k: "a", at: ROW.at, due: ROW.at }, { k: "b", at: ROW.at, due: null });
    expect(await without.rows()).toEqual([
      { k: "a", at: ROW.at, due: ROW.at },
      { k: "b", at: ROW.at, due: null },
    ]);
    const again = await TableUnderTest.prepare(storage, ITEMS);
    expect(await again.rows()).toEqual([
      { k: "a", v: 1, at: ROW.at, due: ROW.at },
      { k: "b", v: null, at: ROW.at, due: null },
    ]);
  });

  it("D-2.4 rows that came while the registry numbered none have numbers once it does again", async (storage) => {
    const numbered = changed({
      columns: { id: { type: "integer", auto_increment: true }, ...COLUMNS },
    });
    const before = await TableUnderTest.prepare(storage, numbered);
    await before.write(ROW);
    const without = await TableUnderTest.prepare(storage, ITEMS);
    await without.write({ ...ROW, k: "b" }, { ...ROW, k: "c" });
    const again = await TableUnderTest.prepare(storage, numbered);
    const ids = (await again.rows()).map(({ k, id }) => [k, id]);
    expect(ids[0]).toEqual(["a", 1]);
    expect(ids.map(([, id]) => id).toSorted()).toEqual([1, 2, 3]);
    await again.write({ ...ROW, k: "d" });
    expect((await again.column("id")).at(-1)).toBe(4);
    expect((await again.rows()).slice(0, 3).map(({ k, id }) => [k, id])).toEqual(ids);
  });

  it("D-2.4 another timestamp_column orders the rows that exist", async (storage) => {
    const early = "2024-01-01T00:00:00Z";
    const late = "2024-06-01T00:00:00Z";
    const before = await TableUnderTest.prepare(storage, ITEMS);
    await before.write(
      { k: "a", v: 1, at: early, due: late },
      { k: "b", v: 2, at: late, due: early },
    );
    expect(await before.column("k")).toEqual(["a", "b"]);
    const byDue = await TableUnderTest.prepare(storage, changed({ timestamp_column: "due" }));
    expect(await byDue.column("k")).toEqual(["b", "a"]);
    expect(await byDue.column("k", { sinceTime: late })).toEqual(["a"]);
    await byDue.write({ k: "c", v: 3, at: null, due: "2024-03-01T00:00:00Z" });
    expect(await byDue.column("k")).toEqual(["b", "c", "a"]);
    const byKey = await TableUnderTest.prepare(storage, changed({ timestamp_column: null }));
    expect(await byKey.column("k")).toEqual(["a", "b", "c"]);
    const byAt = await TableUnderTest.prepare(storage, ITEMS);
    expect(await byAt.column("k")).toEqual(["c", "a", "b"]);
  });

  it("D-2.4, D-3.1 another key column as timestamp_column orders the rows that exist", async (storage) => {
    const byKey = (timestamp_column: string) =>
      makeTable({
        ...{ timestamp_column, upsert_key: ["k1", "k2"] },
        columns: { k1: { type: "datetime" }, k2: { type: "datetime" } },
      });
    const before = await TableUnderTest.prepare(storage, byKey("k1"));
    const rows = heldRows(harness, byKey("k1"), [
      { k1: "2001-01-01T00:00:00Z", k2: "2030-01-01T00:00:00Z" },
      { k1: "2002-01-01T00:00:00Z", k2: "2020-01-01T00:00:00Z" },
      { k1: "2003-01-01T00:00:00Z", k2: "n/a" },
    ]);
    await before.write(...rows);
    const all = rows.map(({ k1 }) => k1.slice(0, 4));
    const years = async (table: TableUnderTest, query = {}) =>
      (await table.column("k1", query)).map((time) => String(time).slice(0, 4));
    expect(await years(before)).toEqual(all);
    const after = await TableUnderTest.prepare(storage, byKey("k2"));
    expect(await years(after)).toEqual(all.toReversed());
    expect(await years(after, { sinceTime: "2025-01-01T00:00:00Z" })).toEqual(["2001"]);
    const again = await TableUnderTest.prepare(storage, byKey("k1"));
    expect(await years(again)).toEqual(all);
  });

  it("D-3.3 a time that was no time once does not come back when its column orders nothing any more", async (storage) => {
    const before = await TableUnderTest.prepare(storage, ITEMS);
    await before.write(...heldRows(harness, ITEMS, [{ ...ROW, at: "n/a" }]));
    await before.write({ ...ROW, at: "2024-01-01T00:00:00Z" });
    const other = await TableUnderTest.prepare(storage, changed({ timestamp_column: null }));
    await other.write({ ...ROW, at: null });
    const after = await TableUnderTest.prepare(storage, ITEMS);
    expect(await after.rows()).toEqual([{ ...ROW, at: null }]);
  });

  it("D-2.4 other rules of the registry may change at any time", async (storage) => {
    const before = await TableUnderTest.prepare(storage, ITEMS);
    await before.write(ROW);
    const columns: TableEntry["columns"] = {
      at: { type: "datetime" },
      v: { type: "integer", nullable: false },
      k: { type: "text", nullable: false, max_length: 1 },
      due: { type: "datetime", serialize: false },
    };
    const rules = { columns, update_columns: ["v"], conflict: "newer", lag_seconds: 5 } as const;
    const after = await TableUnderTest.prepare(
      storage,
      changed({ ...rules, update_columns: ["v"] }),
    );
    await after.write({ k: "a", v: 2, at: "2024-02-01T00:00:00Z" });
    expect(JSON.stringify(await after.rows())).toBe(
      '[{"at":"2024-01-01T00:00:00Z","v":2,"k":"a"}]',
    );
  });

  it("D-2.4 an empty table may change its key and the types of its columns", async (storage) => {
    await storage.tables.prepare([ITEMS]);
    const definition = changed({
      upsert_key: ["v", "k"],
      columns: {
        ...COLUMNS,
        k: { type: "bigint", nullable: false },
        v: { type: "date" },
        new: { type: "text", nullable: false },
      },
    });
    const table = await TableUnderTest.prepare(storage, definition);
    const row = { k: "10", v: "2024-01-01", at: null, due: null, new: "x" };
    await table.write(row, { ...row, k: "9" }, row);
    expect(await table.column("k")).toEqual(["9", "10"]);
    const numbered = makeTable(
      {
        upsert_key: ["k"],
        columns: { id: { type: "integer", auto_increment: true }, k: { type: "text" } },
      },
      "numbered",
    );
    await storage.tables.prepare([
      makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "numbered"),
    ]);
    const late = await TableUnderTest.prepare(storage, numbered);
    await late.write({ k: "a" });
    expect(await late.rows()).toEqual([{ id: 1, k: "a" }]);
  });
}

/** Upsert key and timestamp column, such that one's order is another's key, or their indexes could have one name. */
const KEYS: readonly (readonly [upsertKey: readonly string[], timestampColumn?: string])[] = [
  [["a", "b"]],
  [["b"], "a"],
  [["b_c"], "a"],
  [["b", "c"], "a"],
  [["a", "b", "c"]],
];

function changedKeyTests(harness: StoreHarness): void {
  const it = storeTests(harness);
  const pairs = KEYS.flatMap((from) => KEYS.map((to) => ({ from, to })));

  it("D-2.4 an empty table may change from any upsert key to any other", async (storage) => {
    for (const [n, { from, to }] of pairs.entries()) {
      await storage.tables.prepare([keyed(from, `t${n}`)]);
      const table = await TableUnderTest.prepare(storage, keyed(to, `t${n}`));
      const row = { a: "2024-01-01T00:00:00Z", b: "b", c: "c", b_c: "bc", v: 1 };
      const other = { ...row, b: "x", b_c: "y", a: "2024-01-02T00:00:00Z" };
      await table.write(row, other);
      await table.write({ ...other, v: 2 });
      expect(await table.rows()).toEqual([row, { ...other, v: 2 }]);
      // Alike but for one key column, which an index of the former key would refuse.
      await table.write({ ...other, [to[0].at(-1) ?? ""]: "z" });
      expect((await table.rows()).length).toBe(3);
    }
  });
}

function keyed([upsertKey, timestampColumn]: (typeof KEYS)[number], name: string): Table {
  const columns: TableEntry["columns"] = {
    a: { type: "datetime" },
    b: { type: "text" },
    c: { type: "text" },
    b_c: { type: "text" },
    v: { type: "integer" },
  };
  const time = timestampColumn === undefined ? {} : { timestamp_column: timestampColumn };
  return makeTable({ upsert_key: [...upsertKey], ...time, columns }, name);
}

function refusedChangeTests(harness: StoreHarness): void {
  const it = storeTests(harness);
  const refused: Readonly<Record<string, Table>> = {
    "another type for a column": changed({ columns: { ...COLUMNS, v: { type: "text" } } }),
    "another type that is kept in the same way": changed({
      columns: { ...COLUMNS, due: { type: "text" } },
    }),
    "another type for the key": changed({ columns: { ...COLUMNS, k: { type: "integer" } } }),
    "another upsert key": changed({ upsert_key: ["v"] }),
    "a longer upsert key": changed({ upsert_key: ["k", "v"] }),
    "a new column in the key": changed({
      upsert_key: ["k", "z"],
      columns: { ...COLUMNS, z: { type: "text" } },
    }),
    "a new column that may not be null": changed({
      columns: { ...COLUMNS, z: { type: "text", nullable: false } },
    }),
  };

  for (const [change, definition] of Object.entries(refused)) {
    it(`D-2.4 prepare() refuses ${change} while the table has rows`, async (storage) => {
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write(ROW);
      await expectConflict(storage, [definition]);
      await storage.tables.prepare([ITEMS]);
      expect(await table.rows()).toEqual([ROW]);
      await table.write({ ...ROW, v: 2 });
      expect(await table.rows()).toEqual([{ ...ROW, v: 2 }]);
    });
  }

  it("D-8.2 prepare() refuses to drop the name of people while rows have one", async (storage) => {
    const people = (columns: TableEntry["columns"]) =>
      makeTable({ upsert_key: ["k"], columns }, "platform_accounts");
    const named = people({ ...COLUMNS, username: { type: "text" } });
    const table = await TableUnderTest.prepare(storage, named);
    await table.write({ ...ROW, username: "ana" });
    await expect(storage.tables.prepare([people(COLUMNS)])).rejects.toMatchObject({
      kind: "schema_conflict",
      message: expect.stringMatching(
        /^Table "platform_accounts": its rows have a "username", by which an erasure finds them: keep the column/,
      ),
    });
    await storage.tables.prepare([named]);
    await table.write({ ...ROW, username: null });
    await storage.tables.prepare([people(COLUMNS)]);
  });

  it("D-2.4 prepare() remembers the types of columns that the registry dropped", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write(ROW);
    const { v, due, ...columns } = COLUMNS;
    await storage.tables.prepare([changed({ columns })]);
    await storage.tables.prepare([changed({ columns })]);
    await expectConflict(storage, [changed({ columns: { ...columns, v: { type: "text" } } })]);
    await expectConflict(storage, [changed({ columns: { ...columns, due: { type: "text" } } })]);
  });

  it("D-2.4 a refusal changes no table, whatever their order", async (storage) => {
    const entry = { upsert_key: ["k"], columns: { k: { type: "text" } } } as const;
    const named = (name: string, type: "text" | "integer") =>
      makeTable({ upsert_key: ["k"], columns: { ...entry.columns, extra: { type } } }, name);
    for (const name of ["first", "last"]) {
      const table = await TableUnderTest.prepare(
        storage,
        makeTable({ upsert_key: ["k"], columns: entry.columns }, name),
      );
      await table.write({ k: "a" });
    }
    await (await TableUnderTest.prepare(storage, ITEMS)).write(ROW);
    const bad = changed({ columns: { ...COLUMNS, v: { type: "text" } } });
    await expectConflict(storage, [named("first", "text"), bad, named("last", "text")]);
    // Were `extra` there already, as text, these would be refused.
    await storage.tables.prepare([named("first", "integer"), named("last", "integer")]);
    const first = new TableUnderTest(storage, named("first", "integer"));
    expect(await first.rows()).toEqual([{ k: "a", extra: null }]);
  });
}

/** The error names the table and says what to do. */
async function expectConflict(storage: RunStorage, tables: readonly Table[]): Promise<void> {
  const error = await storage.tables.prepare(tables).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    kind: "schema_conflict",
    message: expect.stringMatching(/"items".+/s),
  });
}

function refusedDeletesTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  it("D-7.6 prepare() refuses a table with deletes, names it, and makes none", async (storage) => {
    const table = await TableUnderTest.prepare(storage, ITEMS);
    await table.write(ROW);
    const refused = storage.tables.prepare([
      makeTable({ upsert_key: ["k"], columns: COLUMNS }, "others"),
      changed({ deletes: true }),
    ]);
    await expect(refused).rejects.toMatchObject({
      kind: "schema_conflict",
      message: expect.stringMatching(/^Table "items": .* remove "deletes" from the registry$/),
    });
    await storage.tables.prepare([changed({})]);
    expect(await table.rows()).toEqual([ROW]);
  });
}
