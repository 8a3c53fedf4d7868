// Triggers of repsync that somebody has dropped or switched off. D-7.6.
import { describe, expect } from "bun:test";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
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
        expect(Date.parse(await since())).toBeGreaterThan(Date.parse(before));
        await database.sql.unsafe(`delete from items where k = '${k} later'`);
      }
      const { items } = await storage.tombstones.list(ITEMS, QUERY);
      expect(items.map(({ key }) => key)).toEqual([{ k: "0 later" }, { k: "1 later" }]);
    },
  );

  databaseTest(
    "D-7.6, D-14.6 one of an application with a name like theirs is told apart from them",
    async ({ open, sql }) => {
      const storage = await open();
      await storage.tables.prepare([ITEMS]);
      await sql.unsafe(`create function public.check_row() returns trigger language plpgsql as $$ begin return new; end $$;
        create trigger repsync_check before insert on items for each row execute function public.check_row();
        alter table items enable always trigger repsync_check`);
      expect(await storage.tables.disturbed?.([ITEMS])).toEqual([ITEMS]);
      const since = async () => {
        await storage.tables.prepare([ITEMS]);
        return (await storage.tombstones.list(ITEMS, QUERY)).earliestAvailable;
      };
      const first = await since();
      expect(await since()).toBe(first);
      await sql.unsafe("drop trigger repsync_deletes_delete on items");
      expect(await storage.tables.disturbed?.([ITEMS])).toEqual([ITEMS]);
    },
  );

  for (const write of ["delete from things where k = 'a'", "truncate things"]) {
    databaseTest(
      `D-7.6, D-14.2.3 an application may write a table that it has renamed, which interrupts the record: ${write}`,
      async ({ open, sql }) => {
        const storage = await open();
        await storage.tables.prepare([ITEMS]);
        const before = await storage.tombstones.list(ITEMS, QUERY);
        await sql.unsafe("insert into items (k) values ('a'), ('b')");
        await sql.unsafe(`alter table items rename to things; insert into things (k) values ('c');
          update things set k = 'd' where k = 'b'; ${write}; alter table things rename to items`);
        const { items, earliestAvailable } = await storage.tombstones.list(ITEMS, QUERY);
        expect(items).toEqual([]);
        expect(Date.parse(earliestAvailable)).toBeGreaterThan(Date.parse(before.earliestAvailable));
      },
    );
  }

  databaseTest(
    "D-7.6, D-14.2.3 what an application does to a table that it has replaced is none of the new one's",
    async ({ open, sql }) => {
      const storage = await open();
      await storage.tables.prepare([ITEMS]);
      await sql.unsafe(`insert into items (k) values ('a'), ('b'); alter table items rename to things;
        create table public.items (like things including all); insert into public.items (k) values ('a');
        update things set k = 'c' where k = 'b'; delete from things`);
      const { items } = await storage.tombstones.list(ITEMS, QUERY);
      expect(items).toEqual([]);
    },
  );

  databaseTest(
    "D-7.6 of a table that somebody dropped the record of deletes is complete from the next start on",
    async (database) => {
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      await database.sql.unsafe(
        "insert into items (k) values ('a'), ('b'); delete from items where k = 'a'",
      );
      const before = await storage.tombstones.list(ITEMS, QUERY);
      await database.sql.unsafe("drop table items");
      await storage.tables.prepare([ITEMS]);
      const after = await storage.tombstones.list(ITEMS, QUERY);
      expect(after.items).toEqual(before.items);
      expect(Date.parse(after.earliestAvailable)).toBeGreaterThan(
        Date.parse(before.earliestAvailable),
      );
    },
  );

  databaseTest(
    "D-7.6 of a table that a migration makes anew with a computed column the record is complete from the next start on",
    async ({ open, sql }) => {
      const storage = await open();
      await storage.tables.prepare([ITEMS]);
      const before = await storage.tombstones.list(ITEMS, QUERY);
      await sql.unsafe(`insert into items (k) values ('a');
        create table made (k text collate "C" primary key, at timestamptz, twice text generated always as (k || k) stored);
        alter table made set schema public; drop table items; alter table made rename to items`);
      await storage.tables.prepare([ITEMS]);
      const after = await storage.tombstones.list(ITEMS, QUERY);
      expect(Date.parse(after.earliestAvailable)).toBeGreaterThan(
        Date.parse(before.earliestAvailable),
      );
    },
  );

  databaseTest(
    "D-7.6 those that the registry needs no more go, and the record of deletes goes on",
    async (database) => {
      const storage = await database.open();
      const since = async (table: Table) => {
        await storage.tables.prepare([table]);
        return (await storage.tombstones.list(table, QUERY)).earliestAvailable;
      };
      const columns = { k: { type: "text" }, at: { type: "datetime" } } as const;
      const entry = { upsert_key: ["k"], columns };
      const plain = makeTable({ ...entry, timestamp_column: "at", deletes: true });
      const first = await since(ITEMS);
      expect([await since(plain), await since(plain)]).toEqual([first, first]);
      await storage.tables.prepare([makeTable(entry)]);
      const names = await database.sql`
        select tgname from pg_trigger where not tgisinternal order by tgname`.values();
      expect(names.flat()).toEqual(["repsync_changed"]);
    },
  );

  for (const [of, made] of [
    ["repsync", ""],
    [
      "an application",
      'create table public.items (k text collate "C" primary key, at timestamptz)',
    ],
  ] as const) {
    databaseTest(
      `D-7.6 a version that makes others goes on with the record of deletes of a table of ${of}`,
      async (database) => {
        const { sql } = database;
        await sql.unsafe(made);
        const storage = await database.open();
        await storage.tables.prepare([ITEMS]);
        const before = await storage.tombstones.list(ITEMS, QUERY);
        await sql.unsafe("insert into items values ('a', null), ('b', '2024-01-01Z')");
        await sql.unsafe(`drop trigger repsync_stamp on items; delete from items where k = 'a';
          alter table repsync."_deleted_6ab2667eccdf" drop column repsync_xact;
          update repsync._tables set entry = jsonb_set(entry::jsonb, '{triggers}', '"of another"')::text`);
        await storage.tables.prepare([ITEMS]);
        await sql.unsafe(
          "delete from items where k = 'b'; insert into items values ('b', '2024-01-01Z')",
        );
        const { items, earliestAvailable } = await storage.tombstones.list(ITEMS, {
          ...{ ...QUERY, after: before.cursor },
        });
        expect(items.map(({ key }) => key)).toEqual([{ k: "a" }]);
        expect(earliestAvailable).toBe(before.earliestAvailable);
      },
    );
  }

  databaseTest(
    "D-7.6 a role that may write a table needs no right to what they write",
    async ({ open, sql, url }) => {
      const storage = await open();
      const columns = { username: { type: "text" }, at: { type: "datetime" } } as const;
      const entry = { upsert_key: ["username"], timestamp_column: "at", columns };
      await storage.tables.prepare([ITEMS, makeTable(entry, "profiles")]);
      const role = new URL(url).pathname.slice(1);
      const writer = await sql.reserve();
      await writer.unsafe(`create role ${role}; grant all on items, profiles to ${role};
        set role ${role}; insert into items values ('a'); insert into profiles values ('ana');
        update items set k = 'b'; update profiles set at = now();
        delete from items; delete from profiles;
        reset role; drop owned by ${role}; drop role ${role}`);
      writer.release();
      const { items } = await storage.tombstones.list(ITEMS, QUERY);
      expect(items.map(({ key }) => key)).toEqual([{ k: "a" }, { k: "b" }]);
    },
  );

  databaseTest(
    "D-7.6, D-14.2.3 columns may have the names that functions of the server give to rows",
    async (database) => {
      const storage = await database.open();
      const table = makeTable({
        ...{ timestamp_column: "tg_op", upsert_key: ["new", "old"], deletes: true, stamped: true },
        columns: {
          new: { type: "text" },
          old: { type: "integer" },
          tg_op: { type: "datetime" },
          seen: { type: "text" },
        },
      });
      await storage.tables.prepare([table]);
      const { sql } = database;
      await sql.unsafe(`insert into items ("new", "old") values ('a', 1), ('b', 2)`);
      await sql.unsafe(`update items set seen = 'x'; update items set "old" = 3 where "old" = 2`);
      await sql.unsafe("delete from items where seen = 'x'");
      const { items } = await storage.tombstones.list(table, QUERY);
      expect(items.map(({ key }) => key)).toEqual([
        { new: "b", old: 2 },
        { new: "a", old: 1 },
        { new: "b", old: 3 },
      ]);
      await sql.unsafe(`insert into items ("new", "old") values ('b', 3)`);
      expect(await storage.tombstones.list(table, QUERY)).toMatchObject({
        items: items.slice(0, 2),
      });
    },
  );
});
