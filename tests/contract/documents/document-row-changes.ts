import { describe, expect, test } from "bun:test";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { type DocumentTablesHarness, itemsTable, TablesOfSuite } from "./tables-harness.ts";

const T1 = "2024-05-01T10:00:00.000001Z";
const T2 = "2024-05-01T10:00:00.000002Z";

const COLUMNS = {
  id: { type: "integer", auto_increment: true },
  owner: { type: "text" },
  n: { type: "integer" },
  at: { type: "datetime" },
  v: { type: "integer" },
  secret: { type: "text", serialize: false },
} as const;
let tables = 0;

/** Rows of owners; without `v` the registry has dropped that column. */
function ownedTables(deletes = false): readonly [Table, withoutV: Table] {
  const name = `changed_rows_${++tables}`;
  const { v, ...others } = COLUMNS;
  const entry = { upsert_key: ["owner", "n"], timestamp_column: "at", deletes };
  return [
    makeTable({ ...entry, columns: { ...others, v } }, name),
    makeTable({ ...entry, columns: others }, name),
  ];
}

/** What `change` does to rows. */
export function documentRowChanges(harness: DocumentTablesHarness): void {
  describe(`${harness.name}: rows that are changed by a value`, () => {
    const store = new TablesOfSuite(harness);
    const change = (table: Table, column: string, value: string, fields: Row | null) =>
      store.transact((tx) => tx.tables.change(table, column, value, fields));
    const whole = async (table: Table, owner: string) => {
      const [rows] = await store.documents.read({ name: "test.whole" }, (at) =>
        at.read({ rowsOf: table, where: ["owner", [owner]] }),
      );
      return rows.toSorted((a, b) => Number(a["n"]) - Number(b["n"]));
    };

    test("fields of rows with a value are changed, as far as the table has them", async () => {
      const rows = ["a", "b"].map((k) => ({ k, at: T1, v: 1 }));
      const table = await store.tableWith(itemsTable(), ...rows);
      await store.transact(async (tx) => {
        await tx.tables.change(table, "k", "a", { v: 5, at: T2, absent: 1 });
        await tx.tables.change(table, "k", "b", { absent: 1 });
        await tx.tables.change(table, "k", "z", { v: 5 });
        await tx.tables.change(table, "absent", "a", { v: 5 });
      });
      expect(await store.rows(table)).toEqual([
        { k: "a", at: T2, v: 5 },
        { k: "b", at: T1, v: 1 },
      ]);
    });

    test("what a change does not name stays: numbers, columns that no page shows and those that the registry dropped", async () => {
      const [table, withoutV] = ownedTables();
      await store.tableWith(
        table,
        { owner: "a", n: 1, v: 1, secret: "s" },
        { owner: "b", n: 2, v: 2, secret: "s" },
        { owner: "a", n: 3, v: 3, secret: null },
      );
      await store.tableWith(withoutV);
      await change(withoutV, "owner", "a", { secret: "t", v: 9 });
      await store.tableWith(table);
      expect(await whole(table, "a")).toEqual([
        { id: 1, owner: "a", n: 1, at: null, secret: "t", v: 1 },
        { id: 3, owner: "a", n: 3, at: null, secret: "t", v: 3 },
      ]);
      expect(await whole(table, "b")).toEqual([
        { id: 2, owner: "b", n: 2, at: null, secret: "s", v: 2 },
      ]);
    });

    test("a change that would give two rows one key is refused, and nothing of its body is kept", async () => {
      const [table] = ownedTables();
      await store.tableWith(table, { owner: "a", n: 1 }, { owner: "b", n: 1 });
      const failed = await change(table, "owner", "a", { owner: "b" }).catch(({ kind }) => kind);
      expect([failed, await whole(table, "a")]).toMatchObject(["invalid_request", [{ n: 1 }]]);
    });

    if (harness.hasDeletes === false) return;

    test("D-7.6 a row that a change moves to another key leaves a tombstone at the one before", async () => {
      const [table] = ownedTables(true);
      await store.tableWith(table, { owner: "a", n: 1 }, { owner: "b", n: 2 });
      await store.opened.storage.tables.settled(table);
      await change(table, "owner", "a", { owner: "c" });
      const query = { after: null, sinceTime: null, limitRows: 9 };
      const { items } = await store.opened.storage.tombstones.list(table, query);
      expect(items.map(({ key }) => key)).toEqual([{ owner: "a", n: 1 }]);
      expect(await whole(table, "c")).toMatchObject([{ id: 1, n: 1 }]);
    });

    test("D-7.6 one that outlives the tombstone of its new key takes it away, and one that does not leaves it", async () => {
      const [table] = ownedTables(true);
      await store.tableWith(table, { owner: "a", n: 1, at: T2 }, { owner: "a", n: 2, at: T1 });
      const deleted = [1, 2].map((n, index) => ({
        ...{ index, key: { owner: "c", n }, deletedAt: n === 1 ? T1 : T2 },
      }));
      await store.transact((tx) => tx.tables.write(table, [], { deleted }));
      await store.opened.storage.tables.settled(table);
      await change(table, "owner", "a", { owner: "c" });
      const query = { after: null, sinceTime: null, limitRows: 9 };
      const { items } = await store.opened.storage.tombstones.list(table, query);
      expect(items.filter(({ key }) => key["owner"] === "c")).toEqual([
        { key: { owner: "c", n: 2 }, deletedAt: T2 },
      ]);
    });
  });
}
