// What other programs write to a stamped table on PostgreSQL, and which time it gets. D-14.2.
import { describe, expect } from "bun:test";
import { STAMP_NOW } from "../../../../src/domain/sync/rows/row-time.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest, duringStatement, type TestDatabase } from "../support.ts";

const ENTRY: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["k"], stamped: true },
  columns: {
    k: { type: "text" },
    at: { type: "datetime" },
    v: { type: "integer" },
    j: { type: "json" },
  },
};
const LONG_AGO = "2024-01-01T00:00:00Z";

class Scene {
  readonly #database: TestDatabase;
  readonly #begun = Date.now();
  readonly storage: RunStorage;
  readonly table: Table;

  constructor(database: TestDatabase, storage: RunStorage, table: Table) {
    this.#database = database;
    this.storage = storage;
    this.table = table;
  }

  /** As another program. */
  async run(sql: string): Promise<void> {
    await this.#database.sql.unsafe(sql);
  }

  /** The time of a row. */
  async at(k: string): Promise<string> {
    const [row] = await this.storage.tables.byKeys(this.table, [{ k }], "page");
    return String(row?.["at"]);
  }

  /** "now" for a time of since the scene began, to the millisecond. */
  async shown(k: string): Promise<string> {
    const at = await this.at(k);
    const ms = Date.parse(at);
    const isNow = ms >= this.#begun && ms <= Date.now() && at.length <= 24;
    return isNow ? "now" : at;
  }
}

/** Plays a body on a table with and without deletes. */
function scenes(name: string, body: (scene: Scene) => Promise<void>): void {
  databaseTest(`D-14.2.3 ${name}, with deletes and without`, async (database) => {
    for (const deletes of [false, true]) {
      const storage = await database.open();
      const table = makeTable({ ...ENTRY, deletes }, deletes ? "with" : "without");
      await storage.tables.prepare([table]);
      await body(new Scene(database, storage, table));
    }
  });
}

/** So many seconds ahead, on a whole one. */
function ahead(seconds: number): string {
  return `${new Date(Date.now() + seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

describe.skipIf(!postgresAvailable)(
  "stamps of rows that other programs write to PostgreSQL",
  () => {
    scenes(
      "a row that changes gets a time behind its own, unless it is given one",
      async (scene) => {
        const { name } = scene.table;
        const [near, far] = [ahead(60), ahead(600)];
        const behind = (n: number) => near.replace("Z", `.00000${n}Z`);
        const shown = async (...keys: string[]) =>
          await Promise.all(keys.map((k) => scene.shown(k)));

        await scene.run(`insert into "${name}" (k, at, v) values ('new', null, 1), ('old', '${LONG_AGO}', 1),
      ('near', '${near}', 1), ('far', '${far}', 1), ('same', '${near}', 2)`);
        expect(await shown("new", "old", "near", "far")).toEqual(["now", LONG_AGO, near, far]);

        await scene.run(`update "${name}" set v = 2`);
        expect(await shown("old", "near", "far", "same")).toEqual(["now", behind(1), "now", near]);

        await scene.run(`update "${name}" set v = 3, at = '${LONG_AGO}' where k = 'old'`);
        await scene.run(`update "${name}" set at = null where k in ('old', 'near')`);
        expect(await shown("old", "near")).toEqual([LONG_AGO, behind(1)]);

        await scene.run(`update "${name}" set j = '{"a":1.0}', at = null where k = 'near'`);
        await scene.run(`update "${name}" set j = '{"a":1.00}' where k = 'near'`);
        expect(await scene.at("near")).toBe(behind(3));

        await scene.run(`insert into "${name}" (k, v) values ('near', 9)
      on conflict (k) do update set v = excluded.v, at = excluded.at`);
        await scene.run(`update "${name}" set k = 'moved' where k = 'near'`);
        expect(await scene.at("moved")).toBe(behind(5));
      },
    );

    scenes("commits of repsync stamp what their rule says, and nothing else", async (scene) => {
      const { storage, table } = scene;
      const write = (row: object, options = {}) =>
        writeTo(storage, table, [{ index: 0, row: { v: 1, j: null, ...row } }], options);
      await write({ k: "a", at: LONG_AGO });
      await write({ k: "a", at: LONG_AGO, v: 2 }, { conflict: "newer" });
      await write({ k: "b", at: null });
      expect([await scene.at("a"), await scene.at("b")]).toEqual([LONG_AGO, "null"]);
      await write({ k: "a", v: 3 }, { stamps: STAMP_NOW });
      await scene.run(`update "${table.name}" set v = 9 where k = 'b'`);
      expect([await scene.shown("a"), await scene.shown("b")]).toEqual(["now", "now"]);
    });

    databaseTest(
      "D-14.2, D-14.2.3 a row that comes back, or changes beside its tombstone, is later than that, and triggers go with the word",
      async (database) => {
        const storage = await database.open();
        const table = makeTable({ ...ENTRY, deletes: true });
        await storage.tables.prepare([table]);
        const scene = new Scene(database, storage, table);
        const near = ahead(60);
        await scene.run(`insert into items (k, at) values ('a', '${near}')`);
        await scene.run("delete from items; insert into items (k) values ('a')");
        expect(await scene.at("a")).toBe(near.replace("Z", ".000002Z"));
        await storage.tables.settled(table);
        const query = { after: null, sinceTime: null, limitRows: 10 };
        expect((await storage.tombstones.list(table, query)).items).toEqual([]);
        const deleted = [{ index: 0, key: { k: "b" }, deletedAt: near }];
        await writeTo(storage, table, [], { deleted });
        await scene.run(`insert into items (k, at, v) values ('b', '${LONG_AGO}', 1)`);
        await scene.run("update items set v = 2 where k = 'b'");
        expect(await scene.at("b")).toBe(near.replace("Z", ".000001Z"));
        await scene.run("delete from items where k = 'b'");

        const columns = { ...ENTRY.columns, since: { type: "datetime" as const } };
        const other = makeTable({ ...ENTRY, timestamp_column: "since", columns });
        await storage.tables.prepare([other]);
        await scene.run("insert into items (k) values ('b')");
        const [row] = await storage.tables.byKeys(other, [{ k: "b" }], "page");
        expect([row?.["at"], typeof row?.["since"]]).toEqual([null, "string"]);
        await storage.tables.prepare([makeTable({ ...ENTRY, stamped: false })]);
        await scene.run("insert into items (k) values ('c')");
        expect(await scene.at("c")).toBe("null");
      },
    );

    for (const [how, sql, gone] of [
      ["inserted", "insert into items (k) values ('a')", ["last"]],
      ["moved there", "update items set k = 'a' where k = 'b'", ["last", "b"]],
    ] as const) {
      databaseTest(
        `D-14.2.3 a row that is ${how} while its key is being deleted is later than that`,
        async (database) => {
          const storage = await database.open();
          const table = makeTable({ ...ENTRY, deletes: true });
          await storage.tables.prepare([table]);
          await database.sql.unsafe("insert into items (k) values ('a'), ('b'), ('last')");
          const deleting = "delete from items where k in ('a', 'last')";
          await duringStatement(database, deleting, async (others) => await others.unsafe(sql));
          const query = { after: null, sinceTime: null, limitRows: 10 };
          const { items } = await storage.tombstones.list(table, query);
          expect(items.map(({ key }) => key["k"])).toEqual([...gone]);
        },
      );
    }

    scenes("a row beside a computed column changes only with another", async (scene) => {
      const { storage, table } = scene;
      const { name } = table;
      await scene.run(`alter table "${name}" add column "Twice" int8 generated always as (v * 2) stored, add column other text,
        add column id int8 generated always as identity`);
      await storage.tables.prepare([makeTable(table.entry, name)]);
      await scene.run(`insert into "${name}" (k, at, v) values ('a', '${LONG_AGO}', 1)`);
      await scene.run(`update "${name}" set v = v`);
      expect(await scene.at("a")).toBe(LONG_AGO);
      await scene.run(`update "${name}" set other = 'changed'`);
      expect(await scene.shown("a")).toBe("now");
      await scene.run(`alter table "${name}" drop column "Twice"`);
      await scene.run(`update "${name}" set v = 2, at = '${LONG_AGO}'`);
      await scene.run(`update "${name}" set v = 2`);
      expect(await scene.at("a")).toBe(LONG_AGO);
    });

    scenes("a computed column may have a type without null", async (scene) => {
      const { storage, table } = scene;
      const { name } = table;
      const type = `"of ${name}"`;
      await scene.run(`create domain ${type} as int8 not null;
        alter table "${name}" add column twice ${type} generated always as (coalesce(v * 2, 0)) stored`);
      await storage.tables.prepare([makeTable(table.entry, name)]);
      await scene.run(`insert into "${name}" (k, at, v) values ('a', '${LONG_AGO}', 1)`);
      await scene.run(`update "${name}" set v = 2`);
      expect(await scene.shown("a")).toBe("now");
    });

    databaseTest(
      "D-14.2.3 an insert locks a row of its key no longer than the server would",
      async (database) => {
        const storage = await database.open();
        await storage.tables.prepare([makeTable(ENTRY)]);
        const { sql } = database;
        await sql`insert into items (k) values ('a'), ('locked before')`;
        await sql`select from items where k <> 'a' for update`;
        await sql.begin(async (tx) => {
          await tx`insert into items (k) values ('a'), ('locked before') on conflict do nothing`;
          const free = await sql`select k from items order by k for update skip locked`;
          expect(free.map(({ k }: { k: string }) => k)).toEqual(["a", "locked before"]);
        });
      },
    );

    databaseTest("D-2.4 rows that get numbers keep their times", async (database) => {
      const storage = await database.open();
      const table = makeTable(ENTRY);
      await storage.tables.prepare([table]);
      await writeTo(storage, table, [{ index: 0, row: { k: "a", at: LONG_AGO } }]);
      const columns = { id: { type: "integer", auto_increment: true }, ...ENTRY.columns } as const;
      const numbered = makeTable({ ...ENTRY, columns });
      await storage.tables.prepare([numbered]);
      const rows = await storage.tables.byKeys(numbered, [{ k: "a" }], "page");
      expect(rows).toMatchObject([{ k: "a", at: LONG_AGO }]);
      expect(await database.sql`select id from public.items`.values()).toEqual([["1"]]);
    });
  },
);
