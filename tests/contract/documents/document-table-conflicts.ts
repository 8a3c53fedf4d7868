import { describe, expect, test } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import type { Collection, Transaction } from "../../../src/ports/documents.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import type { Item } from "./documents-harness.ts";
import {
  type DocumentTablesHarness,
  itemsTable,
  records,
  TablesOfSuite,
} from "./tables-harness.ts";

const T1 = "2024-05-01T10:00:00.000001Z";
const BODIES = 6;
const ROUNDS = 4;

/** The table whose rows belong to people. */
export const PROFILES = makeTable(
  {
    timestamp_column: "updated_at",
    upsert_key: ["username"],
    columns: {
      username: { type: "text" },
      updated_at: { type: "datetime" },
      n: { type: "integer" },
    },
  },
  "profiles",
);

/** Another, whose rows may move from one person to another. */
const ACCOUNTS = makeTable(
  {
    upsert_key: ["platform", "account"],
    columns: {
      platform: { type: "text" },
      account: { type: "text" },
      username: { type: "text" },
    },
  },
  "platform_accounts",
);

/** What bodies that run at the same time do to rows, and to the versions of people. */
export function documentTableConflicts(harness: DocumentTablesHarness): void {
  describe(`${harness.name}: rows that several write`, () => {
    const store = new TablesOfSuite(harness);
    const atOnce = async (
      [from, table]: readonly [Collection<Item>, Table],
      body: (tx: Transaction, n: number) => Promise<unknown>,
    ) => {
      const stores = await store.instances(from, table);
      const bodies = Array.from({ length: BODIES }, (_, n) =>
        stores[n % stores.length]?.documents.transact({ name: "test.meet" }, (tx) => body(tx, n)),
      );
      return await Promise.all(bodies);
    };
    meeting(store, atOnce);
    if (harness.hasDeletes !== false) burying(store, atOnce);
    versions(store, atOnce);
  });
}

type AtOnce = (
  on: readonly [Collection<Item>, Table],
  body: (tx: Transaction, n: number) => Promise<unknown>,
) => Promise<readonly unknown[]>;

function meeting(store: TablesOfSuite, atOnce: AtOnce): void {
  test("no change of a row that was read and written is lost", async () => {
    const table = await store.tableWith(itemsTable(), { k: "n", at: T1, v: 0 });
    const from = await store.items();
    for (let round = 0; round < ROUNDS; round++) {
      await atOnce([from, table], async (tx) => {
        const [[row]] = await tx.read({ rowsOf: table, where: ["k", ["n"]] });
        await tx.tables.write(table, records([{ k: "n", at: T1, v: Number(row?.["v"]) + 1 }]));
      });
    }
    expect((await store.rows(table)).map(({ v }) => v)).toEqual([BODIES * ROUNDS]);
  });

  test("of bodies that write rows and lock one document, each is committed whole", async () => {
    const table = await store.tableWith(itemsTable());
    const from = await store.items();
    await atOnce([from, table], async (tx, n) => {
      const [[item]] = await tx.read({ from, keys: [["last"]] });
      const next = Number(item?.value ?? 0) + 1;
      await tx.tables.write(table, records([{ k: `row ${next}`, at: T1, v: n }]));
      tx.put(from, { key: ["last"], value: next });
    });
    const keys = (await store.rows(table)).map(({ k }) => k);
    expect(keys).toEqual(["row 1", "row 2", "row 3", "row 4", "row 5", "row 6"]);
  });

  test("S-4.2.7 new rows that several write at once have numbers of their own", async () => {
    const columns = { id: { type: "integer", auto_increment: true }, k: { type: "text" } } as const;
    const table = await store.tableWith(
      makeTable({ upsert_key: ["k"], columns }, "numbers_at_once"),
    );
    const from = await store.items();
    await atOnce([from, table], async (tx, n) => {
      await tx.tables.write(table, records([{ k: `${n} a` }, { k: `${n} b` }]));
    });
    const numbers = (await store.rows(table)).map(({ id }) => id);
    expect([numbers.length, new Set(numbers).size]).toEqual([2 * BODIES, 2 * BODIES]);
  });

  test("pushes of other rows of one table do not hold one another up", async () => {
    const table = await store.tableWith(itemsTable());
    const from = await store.items();
    const runs: number[] = [];
    await atOnce([from, table], async (tx, n) => {
      runs.push(n);
      await tx.tables.write(table, records([{ k: `row ${n}`, at: T1, v: n }]));
    });
    expect(await store.rows(table)).toHaveLength(BODIES);
    expect(runs.length).toBeLessThan(3 * BODIES);
  });
}

function burying(store: TablesOfSuite, atOnce: AtOnce): void {
  test("D-7.6 who reads on from place to place misses no tombstone of bodies at once", async () => {
    const table = await store.tableWith(itemsTable({ deletes: true }));
    const from = await store.items();
    const { tables, tombstones } = store.opened.storage;
    const seen = new Set<unknown>();
    let after: string | null = null;
    const readOn = async () => {
      const page = await tombstones.list(table, { after, sinceTime: null, limitRows: 100 });
      for (const { key } of page.items) seen.add(key["k"]);
      after = page.cursor;
    };
    for (let round = 0; round < ROUNDS; round++) {
      await tables.settled(table);
      let isOver = false;
      const buried = atOnce([from, table], async (tx, n) => {
        const deleted = [{ index: 0, key: { k: `${round} ${n}` }, deletedAt: T1 }];
        await tx.tables.write(table, [], { deleted });
      }).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        await readOn();
        await nextTurn();
      }
      await buried;
    }
    await readOn();
    expect(seen.size).toBe(BODIES * ROUNDS);
  });

  test("D-7.6 of a delete and guarded pushes of the key at once no row is left behind", async () => {
    const table = await store.tableWith(itemsTable({ deletes: true }));
    const from = await store.items();
    for (let round = 0; round < ROUNDS; round++) {
      const key = { k: `${round}` };
      await store.opened.storage.tables.settled(table);
      await atOnce([from, table], async (tx, n) => {
        const deleted = n === 0 ? [{ index: 0, key, deletedAt: T1 }] : [];
        const rows = n === 0 ? [] : [{ ...key, at: "2024-05-01T10:00:00Z", v: n }];
        await tx.tables.write(table, records(rows), { conflict: "newer", deleted });
      });
    }
    expect(await store.rows(table)).toEqual([]);
    expect((await store.tombstones(table)).toSorted()).toEqual(["0", "1", "2", "3"]);
  });
}

function versions(store: TablesOfSuite, atOnce: AtOnce): void {
  const profile = (username: string, n: number) => ({ username, updated_at: T1, n });
  const versionsOf = async (...names: readonly string[]) => {
    const [found] = await store.documents.read({ name: "test.versions" }, (at) =>
      at.read({ versionsOf: names }),
    );
    return found;
  };

  test("D-6.3 a change of a person's row raises the version, of that commit", async () => {
    const table = await store.tableWith(PROFILES);
    const steps = [
      () => store.write(table, [profile("ana", 1)]),
      () => store.write(table, [profile("ana", 2)]),
      () => store.transact((tx) => tx.tables.change(table, "username", "ana", { n: 3 })),
      () => store.transact((tx) => tx.tables.change(table, "username", "ana", null)),
    ];
    for (const step of steps) {
      const [before = 0, other = 0] = await versionsOf("ana", "somebody else");
      await step();
      const [after = 0, same] = await versionsOf("ana", "somebody else");
      expect([after > before, same]).toEqual([true, other]);
    }
  });

  test("D-6.3 a row that moves from one person to another raises both", async () => {
    const table = await store.tableWith(ACCOUNTS);
    const row = (username: string) => ({ platform: "p", account: "1", username });
    await store.write(table, [row("from")]);
    for (const move of [
      () => store.write(table, [row("to")]),
      () => store.transact(({ tables }) => tables.change(table, "username", "to", row("from"))),
      () => store.transact(({ tables }) => tables.change(table, "platform", "p", row("to"))),
    ]) {
      const before = await versionsOf("from", "to");
      await move();
      const after = await versionsOf("from", "to");
      expect(after.map((version, i) => version > (before[i] ?? 0))).toEqual([true, true]);
    }
  });

  test("D-6.3 rows of many people raise all of them", async () => {
    const table = await store.tableWith(PROFILES);
    const names = Array.from({ length: 300 }, (_, n) => `many ${n}`);
    const before = await versionsOf(...names);
    await store.write(
      table,
      names.map((name) => profile(name, 1)),
    );
    const after = await versionsOf(...names);
    expect(after.every((version, i) => version > (before[i] ?? 0))).toBe(true);
  });

  test("D-8.2 of an erasure and pushes of the person's row no row is left behind", async () => {
    const table = await store.tableWith(PROFILES);
    const from = await store.items();
    for (let round = 0; round < ROUNDS; round++) {
      const name = `erased ${round}`;
      // One of the pushes is of so many people that it raises everybody.
      const others = Array.from({ length: 100 }, (_, n) => profile(`other ${n}`, round));
      await atOnce([from, table], async (tx, n) => {
        const [[erased]] = await tx.read({ from, keys: [[name]] });
        if (n === 3) {
          tx.put(from, { key: [name], value: "erased" });
          tx.raise([name]);
          await tx.tables.excludePushes();
          await tx.tables.change(table, "username", name, null);
        } else if (erased === undefined) {
          const rows = n === 4 ? [profile(name, n), ...others] : [profile(name, n)];
          await tx.tables.write(table, records(rows));
        }
      });
      const [left] = await store.documents.read({ name: "test.left" }, (at) =>
        at.read({ rowsOf: table, where: ["username", [name]] }),
      );
      expect(left).toEqual([]);
    }
  });
}
