// What the rules of an application do because repsync writes. D-7.6, D-14.2.3.
import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { SqliteFile } from "../support.ts";

const OLD = "2024-01-01T00:00:00";
const LATER = "2024-02-01T00:00:00Z";

interface Scene {
  readonly storage: SqliteStorage;
  readonly program: Database;
  /** Of the table `name`. */
  readonly table: (name: string) => Table;
  /** Removes the rows `k` as a run does. */
  readonly bury: (name: string, ...keys: readonly string[]) => Promise<void>;
  /** Keys and times of the tombstones of a table. */
  readonly listed: (name: string) => Promise<readonly (readonly unknown[])[]>;
}

/** Tables `items` and `parts` with deletes, which are stamped or not. */
function scenes(name: string, rules: string, body: (scene: Scene) => Promise<void>): void {
  for (const stamped of [false, true]) {
    test(`${name}, in ${stamped ? "stamped" : "other"} tables`, () =>
      SqliteFile.use(async (file) => {
        const storage = await file.open();
        const table = (of: string) =>
          makeTable(
            {
              ...{ timestamp_column: "at", upsert_key: ["k"], deletes: true, stamped },
              columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
            },
            of,
          );
        await storage.tables.prepare([table("items"), table("parts")]);
        const program = file.openElsewhere();
        program.run(rules);
        const listed = async (of: string) => {
          const query = { after: null, sinceTime: null, limitRows: 9 };
          const { items } = await storage.tombstones.list(table(of), query);
          return items.map(({ key, deletedAt }) => [key["k"], deletedAt]);
        };
        const bury = async (of: string, ...keys: readonly string[]) => {
          const deleted = keys.map((k, index) => ({ index, key: { k }, deletedAt: LATER }));
          await writeTo(storage, table(of), [], { deleted });
        };
        await body({ storage, program, table, bury, listed });
      }));
  }
}

for (const event of ["DELETE", "INSERT"] as const) {
  scenes(
    `D-7.6 a rule that deletes because of ${event === "DELETE" ? "a delete" : "a write"} of repsync leaves tombstones with the times of its rows`,
    `CREATE TRIGGER rule AFTER ${event} ON items WHEN ${event === "DELETE" ? "OLD" : "NEW"}.k = 'a'
      BEGIN DELETE FROM items WHERE k <> 'a'; DELETE FROM parts; END`,
    async ({ storage, program, table, bury, listed }) => {
      for (const name of ["items", "parts"]) {
        const rows = "('old', ?1, 1), ('time', 'no time', 1), ('far', '2999-01-01T00:00:00', 1)";
        program.run(`INSERT INTO ${name} VALUES ${rows}`, [OLD]);
      }
      const caused = [
        ["old", `${OLD}Z`],
        ["time", "1970-01-01T00:00:00Z"],
        ["far", "1970-01-01T00:00:00Z"],
      ];
      if (event === "INSERT") {
        await writeTo(storage, table("items"), asWrites([{ k: "a", at: LATER, v: 1 }]));
      } else {
        program.run("INSERT INTO items VALUES ('a', ?, 1)", [OLD]);
        await bury("items", "a");
      }
      const own = event === "DELETE" ? [["a", LATER]] : [];
      expect([await listed("items"), await listed("parts")]).toEqual([[...caused, ...own], caused]);
    },
  );
}

scenes("D-7.6 so does a rule that comes between two writes", "SELECT 1", async (scene) => {
  const items = scene.table("items");
  const write = (k: string) => writeTo(scene.storage, items, asWrites([{ k, at: LATER, v: 1 }]));
  await write("before");
  scene.program.run(
    "CREATE TRIGGER rule AFTER INSERT ON items BEGIN DELETE FROM items WHERE k <> NEW.k; END",
  );
  await write("after");
  expect(await scene.listed("items")).toEqual([["before", LATER]]);
});

scenes(
  "D-7.6 a rule that replaces a row by deleting it first deletes nothing",
  `CREATE TRIGGER rule AFTER INSERT ON items WHEN NEW.k = 'a'
    BEGIN DELETE FROM items WHERE k = 'sum'; INSERT INTO items VALUES ('sum', '${OLD}', 2);
      DELETE FROM parts WHERE k = 'sum'; INSERT INTO parts VALUES ('sum', '${OLD}', 2); END`,
  async ({ storage, program, table, listed }) => {
    for (const name of ["items", "parts"]) {
      program.run(`INSERT INTO ${name} VALUES ('sum', ?, 1)`, [OLD]);
    }
    await writeTo(storage, table("items"), asWrites([{ k: "a", at: LATER, v: 1 }]));
    expect(program.query("SELECT v FROM parts").values()).toEqual([[2]]);
    expect([await listed("items"), await listed("parts")]).toEqual([[], []]);
  },
);

scenes(
  "D-7.6 a rule that deletes the very row that is written leaves a tombstone",
  `CREATE TRIGGER made AFTER INSERT ON items WHEN NEW.v = 9 BEGIN DELETE FROM items WHERE k = NEW.k; END;
    CREATE TRIGGER changed AFTER UPDATE ON items WHEN NEW.v = 9 BEGIN DELETE FROM items WHERE k = NEW.k; END`,
  async ({ storage, program, table, listed }) => {
    program.run("INSERT INTO items VALUES ('own', ?1, 1), ('b', ?1, 1)", [OLD]);
    await writeTo(
      storage,
      table("items"),
      asWrites(["a", "b"].map((k) => ({ k, at: LATER, v: 9 }))),
    );
    program.run("UPDATE items SET v = 9, at = ? WHERE k = 'own'", [LATER]);
    expect(program.query("SELECT k FROM items").values()).toEqual([]);
    const [a, b, own] = await listed("items");
    expect([a, b, own?.[0]]).toEqual([["a", LATER], ["b", LATER], "own"]);
  },
);

scenes(
  "D-7.6 a rule that deletes because of an erasure leaves tombstones, and the erasure none",
  `CREATE TRIGGER rule AFTER DELETE ON items WHEN OLD.k = 'a'
    BEGIN DELETE FROM items WHERE k <> 'a'; DELETE FROM parts; END`,
  async ({ storage, program, table, listed }) => {
    program.run(`INSERT INTO items VALUES ('a', '${OLD}', 1), ('b', '${OLD}', 1)`);
    program.run(`INSERT INTO parts VALUES ('p', '${OLD}', 1)`);
    await storage.documents.transact({ name: "test.erase" }, (tx) =>
      tx.tables.change(table("items"), "k", "a", null),
    );
    const keys = async (name: string) => (await listed(name)).map(([k]) => k);
    expect([await keys("items"), await keys("parts")]).toEqual([["b"], ["p"]]);
  },
);

test("D-14.2.3 what a rule writes to another stamped table because of a write of repsync is stamped, and to its own because of a delete", () =>
  SqliteFile.use(async (file) => {
    const storage = await file.open();
    const [items, sums] = ["items", "sums"].map((name) =>
      makeTable(
        {
          ...{ timestamp_column: "at", upsert_key: ["k"], deletes: true, stamped: true },
          columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
        },
        name,
      ),
    ) as [Table, Table];
    await storage.tables.prepare([items, sums]);
    const program = file.openElsewhere();
    program.run(`INSERT INTO items VALUES ('sum', '${OLD}', 0), ('b', '${OLD}', 0);
      INSERT INTO sums VALUES ('sum', '${OLD}', 0);
      CREATE TRIGGER more AFTER INSERT ON items BEGIN UPDATE sums SET v = v + 1; END;
      CREATE TRIGGER less AFTER DELETE ON items BEGIN UPDATE items SET v = v - 1 WHERE k = 'sum'; END`);
    await writeTo(storage, items, asWrites([{ k: "a", at: LATER, v: 1 }]));
    await writeTo(storage, items, [], {
      deleted: [{ index: 0, key: { k: "b" }, deletedAt: LATER }],
    });
    for (const [name, v] of [
      ["sums", 1],
      ["items", -1],
    ] as const) {
      const [row] = program.query(`SELECT v, at > '${OLD}' FROM ${name} WHERE k = 'sum'`).values();
      expect([name, row]).toEqual([name, [v, 1]]);
    }
    const own = program.query("SELECT at FROM items WHERE k = 'a'").values();
    expect(own).toEqual([[LATER.slice(0, -1)]]);
  }));
