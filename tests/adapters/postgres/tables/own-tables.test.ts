// Tables that repsync made, and what other programs do to them. D-2.4, D-11.4.
import { describe, expect } from "bun:test";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { copiesOf } from "../../../contract/copies/copies-contract.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { POSTGRESQL } from "../../../http/support/backends.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const ENTRY: TableEntry = {
  ...{ upsert_key: ["k"], timestamp_column: "at" },
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
};
const ITEMS = makeTable(ENTRY);
const DELETING = makeTable({ ...ENTRY, deletes: true });
const REKEYED = makeTable({ ...ENTRY, upsert_key: ["v"], timestamp_column: null });
const ROW = { k: "a", at: "2024-01-01T00:00:00Z", v: 1 };

/** Tells whether the table is disturbed after what another program says, and after it is prepared again. */
async function disturbedBy({ sql, url }: TestDatabase, statement: string, table: Table) {
  const options = { clock: new SystemClock(), collections: COLLECTIONS };
  const storage = await openPostgresStorage({ url, ...options });
  const isDisturbed = async () => ((await storage.tables.disturbed?.([table])) ?? []).length > 0;
  try {
    await storage.tables.prepare([table]);
    await sql.unsafe(statement);
    const before = await isDisturbed();
    await storage.tables.prepare([table]);
    return [before, await isDisturbed()];
  } finally {
    await storage.close();
  }
}

/** What a preparation says; null where it goes well. */
async function prepared({ url }: TestDatabase, table: Table, schema = "public") {
  const options = { clock: new SystemClock(), collections: COLLECTIONS };
  const storage = await openPostgresStorage({ url: `${url}?schema=${schema}`, ...options });
  try {
    return await storage.tables.prepare([table]).then(
      () => null,
      (error) => String(error.message),
    );
  } finally {
    await storage.close();
  }
}

describe.skipIf(!postgresAvailable)("PostgreSQL: tables that repsync made", () => {
  databaseTest("D-2.4 a start makes nothing anew that is as it has to be", async (database) => {
    const entries = () => database.sql`select name, xmin::text from repsync._tables`.values();
    for (const table of [ITEMS, DELETING]) {
      await prepared(database, table);
      const kept = await entries();
      expect(await prepared(database, table)).toBeNull();
      expect(await entries()).toEqual(kept);
    }
  });

  databaseTest(
    "D-14.6 an empty one is made anew whose column got another type",
    async (database) => {
      const statement = "alter table public.items alter column v type int4";
      expect(await disturbedBy(database, statement, ITEMS)).toEqual([true, false]);
    },
  );

  databaseTest(
    "D-2.4, D-14.6 one that gets its first row meanwhile is not made anew",
    async (database) => {
      const { sql } = database;
      await prepared(database, ITEMS);
      await sql`alter table public.items alter column v type int4`;
      const { promise: inserted, resolve: begin } = Promise.withResolvers<void>();
      const { promise: written, resolve: end } = Promise.withResolvers<void>();
      const writing = sql.begin(async (tx) => {
        await tx`insert into public.items values ('a', now(), 1)`;
        begin();
        await written;
      });
      await inserted;
      const preparing = prepared(database, ITEMS);
      await Bun.sleep(500);
      end();
      await writing;
      expect(await preparing).toContain('column "v" is integer in the database');
      expect(await sql`select k from public.items`.values()).toEqual([["a"]]);
    },
  );

  databaseTest("D-14.6 an index that was dropped is made again", async (database) => {
    const owned = "select indexname from pg_indexes where tablename = 'items'";
    await prepared(database, ITEMS);
    const names = (await database.sql.unsafe(owned).values()).flat();
    expect(names).toHaveLength(2);
    for (const name of names) {
      const statement = `drop index public."${name}"`;
      expect(await disturbedBy(database, statement, ITEMS)).toEqual([true, false]);
    }
  });

  databaseTest(
    "D-2.4, D-14.6 none is made anew whose rows cannot be looked at",
    async (database) => {
      await prepared(database, ITEMS);
      const { sql } = database;
      await sql`insert into public.items values ('a', now(), 1)`;
      await sql.unsafe(`create rule kept as on delete to public.items do also select 1;
        alter table public.items rename column v to w`);
      expect(await prepared(database, ITEMS)).toContain('column "v" is missing in the database');
      expect(await sql`select w::int4 from public.items`.values()).toEqual([[1]]);
    },
  );

  databaseTest(
    "D-12.2 one fits that has all columns of an index in its order",
    async (database) => {
      const names = Array.from({ length: 31 }, (_, i) => `k${i}`);
      const columns = Object.fromEntries(names.map((name) => [name, { type: "integer" }] as const));
      const wide = {
        ...ENTRY,
        upsert_key: names,
        columns: { ...columns, at: { type: "datetime" } },
      };
      expect(await prepared(database, makeTable(wide as TableEntry))).toBeNull();
    },
  );

  databaseTest(
    "D-12.2 names of the record of deletes are free in a table without one",
    async (database) => {
      const table = makeTable({ upsert_key: ["place"], columns: { place: { type: "text" } } });
      expect(await prepared(database, table)).toBeNull();
    },
  );

  databaseTest(
    "D-11.4.2 one that another program has put in its place is neither dropped nor altered",
    async (database) => {
      const { sql } = database;
      await prepared(database, ITEMS);
      await sql`drop table public.items`;
      await sql`create table public.items (k int primary key, price money)`;
      for (const table of [ITEMS, REKEYED]) {
        expect(await prepared(database, table)).toContain("which another program made");
      }
      expect(await sql`select * from public.items`).toBeEmpty();
      await sql`drop table public.items`;
      expect(await prepared(database, REKEYED)).toBeNull();
    },
  );

  databaseTest(
    "D-11.4.2 one of the same name in another schema is what it is",
    async (database) => {
      const { sql } = database;
      await sql`create schema app`;
      await sql`create table app.items (k int primary key, price money)`;
      await prepared(database, ITEMS);
      for (const table of [ITEMS, REKEYED]) {
        expect(await prepared(database, table, "app")).toContain("which another program made");
      }
      expect(await sql`select * from app.items`).toBeEmpty();
    },
  );

  databaseTest(
    "D-2.4 indexes that somebody dropped come back; with rows, a column that is gone and another type are refused",
    async (database) => {
      const { sql } = database;
      const table = await TableUnderTest.prepare(await database.open(), ITEMS);
      await table.write(ROW);
      const indexes = async () =>
        await sql`select indexname from pg_indexes where tablename = 'items' order by 1`.values();
      const made = await indexes();
      for (const [name] of made) await sql.unsafe(`drop index public."${name}"`);
      expect(await prepared(database, ITEMS)).toBeNull();
      expect(await indexes()).toEqual(made);
      await sql`alter table public.items rename column v to w`;
      const columns = { ...ENTRY.columns, v: { type: "text" } } as const;
      for (const table of [ITEMS, makeTable({ ...ENTRY, columns })]) {
        expect(await prepared(database, table)).toContain('column "v" is missing in the database');
      }
      await sql`alter table public.items rename column w to v`;
      await table.write({ ...ROW, v: 2 });
      expect(await table.rows()).toEqual([{ ...ROW, v: 2 }]);
      const wider = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, w: { type: "text" } } });
      await sql`alter table public.items add column w int`;
      expect(await prepared(database, wider)).toContain('column "w" is integer in the database');
      await sql`alter table public.items alter column v type text`;
      expect(await prepared(database, ITEMS)).toBe(
        'Table "items": column "v" is text in the database, where integer is kept as bigint. Undo the change, or export the table, drop it and import it again',
      );
      await sql`alter table public.items drop column k`;
      expect(await prepared(database, ITEMS)).toContain('column "k" is missing');
      await sql`delete from public.items`;
      expect(await prepared(database, ITEMS)).toBeNull();
      await table.write(ROW);
      expect(await table.rows()).toEqual([ROW]);
    },
  );

  databaseTest(
    "D-2.4 an empty one that can be what the registry says keeps what others added",
    async (database) => {
      await prepared(database, ITEMS);
      await database.sql`create index other on public.items (v)`;
      const wider = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, more: { type: "text" } } });
      expect(await prepared(database, wider)).toBeNull();
      const found = database.sql`select tablename from pg_indexes where indexname = 'other'`;
      expect(await found.values()).toEqual([["items"]]);
    },
  );

  databaseTest(
    "D-2.4 rows that are there get numbers and keep their times, and those of other programs are numbered on",
    async (database) => {
      const storage = await database.open();
      const stamped = { ...ENTRY, stamped: true };
      const table = await TableUnderTest.prepare(storage, makeTable(stamped));
      await table.write(ROW, { ...ROW, k: "b" });
      const columns = { ...ENTRY.columns, id: { type: "integer", auto_increment: true } } as const;
      const numbered = await TableUnderTest.prepare(storage, makeTable({ ...stamped, columns }));
      await database.sql`insert into public.items (k, at, v) values ('c', ${ROW.at}, 1)`;
      expect(await numbered.column("at")).toEqual([ROW.at, ROW.at, ROW.at]);
      expect((await numbered.column("id")).toSorted()).toEqual([1, 2, 3]);
    },
  );

  databaseTest(
    "D-2.4 one that a state of this version before it marked its tables has made stays repsync's own",
    async (database) => {
      const { sql } = database;
      const table = await TableUnderTest.prepare(await database.open(), ITEMS);
      await table.write(ROW);
      await sql`comment on table public.items is null`;
      await sql`update repsync._tables set entry = (entry::jsonb - 'schema')::text`;
      const wider = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, more: { type: "text" } } });
      expect(await prepared(database, wider)).toBeNull();
      const read = await TableUnderTest.prepare(await database.open(), wider);
      expect(await read.rows()).toEqual([{ ...ROW, more: null }]);
      const mark = sql`select obj_description('public.items'::regclass)`;
      expect(await mark.values()).toEqual([["Made by repsync"]]);
      await sql`drop table public.items`;
      await sql`create table public.items (k int primary key, price money)`;
      expect(await prepared(database, wider)).toContain("which another program made");
    },
  );

  databaseTest(
    "D-10.7 a copy leaves out what is not there any more of a table that has left the registry",
    async (database) => {
      const { sql, url } = database;
      const storage = await database.open();
      const others = ["gone", "narrow"].map((name) => makeTable(ENTRY, name));
      await storage.tables.prepare([ITEMS, ...others]);
      await (await TableUnderTest.prepare(storage, others[1] as Table)).write(ROW);
      await sql`drop table public.gone`;
      await sql`alter table public.narrow drop column v`;
      const source = await copiesOf(POSTGRESQL).source(url);
      const dump = await source.dump();
      const rows: unknown[] = [];
      for await (const part of dump.parts) if (part.of === "rows") rows.push(...part.items);
      expect(dump.about.tables.map(({ name }) => name)).toEqual(["items", "narrow"]);
      expect(rows).toEqual([{ row: { k: "a", at: ROW.at } }]);
      await source.close();
    },
  );

  databaseTest(
    "D-12.2 all tables may be published, before the first start too",
    async (database) => {
      const { sql } = database;
      await sql`drop schema repsync cascade`;
      await sql`create publication everything for all tables`;
      const storage = await database.open();
      const table = await TableUnderTest.prepare(storage, DELETING);
      await table.write(ROW);
      await table.write({ ...ROW, v: 2 });
      await sql`delete from public.items`;
      await sql`insert into public.items values ('b', now(), 1)`;
      const read = { lateAfter: null, isForOwnPush: false };
      for (let i = 0; i < 2; i++) await storage.lateRows.read(DELETING, read);
      await sql`with gone as (delete from repsync._versions returning slot) select count(*) from gone`;
      const [[index] = []] = await sql`select indexrelid::regclass::text from pg_index
        where indrelid = 'public.items'::regclass and indisreplident`.values();
      await sql.unsafe(`drop index ${index}`);
      await storage.tables.prepare([DELETING]);
      await sql`update public.items set v = 3`;
      expect(await table.rows()).toMatchObject([{ k: "b", v: 3 }]);
    },
  );

  databaseTest("D-12.2 a table in another schema is another one", async (database) => {
    const { sql } = database;
    await prepared(database, DELETING);
    await sql`insert into public.items values ('a', now(), 1)`;
    await sql`create schema other`;
    expect(await prepared(database, DELETING, "other")).toBeNull();
    await sql`insert into other.items values ('b', now(), 1)`;
    await sql`delete from other.items`;
    expect(await sql`select k from public.items`.values()).toEqual([["a"]]);
  });
});
