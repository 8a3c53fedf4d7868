// Tables that another program made: they are used as they are, or refused before anything is written. D-11.4, D-12.4.
import { describe, expect } from "bun:test";
import type { SQL } from "bun";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { copiesOf } from "../../../contract/copies/copies-contract.ts";
import { ADVICE, ENTRY, ITEMS, ROW } from "../../../contract/tables/foreign-items.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { POSTGRESQL } from "../../../http/support/backends.ts";
import { failureOf } from "../../../support/failures.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest } from "../support.ts";

const COLUMNS = `a text collate "C" not null, b int8 not null, at timestamptz, note text`;

/** Columns, constraints and indexes that repsync has not made. */
async function shapeOf(sql: SQL, table = "items"): Promise<unknown> {
  const [shape] = await sql.unsafe(`select array(
      select concat(attname, ' ', format_type(atttypid, atttypmod), ' ', attnotnull, ' ', pg_get_expr(adbin, adrelid))
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = '${table}'::regclass and attnum > 0 order by attnum)::text as columns,
    array(select pg_get_constraintdef(oid) from pg_constraint where conrelid = '${table}'::regclass order by 1)::text as rules,
    array(select indexdef from pg_indexes where tablename = '${table}' and indexname not like 'repsync%' order by 1)::text as indexes`);
  return shape;
}

/** What repsync's indexes are on, and whether they are unique. */
async function ownIndexes(sql: SQL, table = "items"): Promise<readonly string[]> {
  const found: { indexdef: string }[] = await sql.unsafe(
    `select indexdef from pg_indexes where tablename = '${table}' and indexname like 'repsync%' order by indexname`,
  );
  return found.map(({ indexdef }) =>
    indexdef.replace(/^CREATE (UNIQUE )?INDEX (repsync_[a-z]+)_.*? USING btree [\s\S]*/, "$1$2"),
  );
}

/** What the key of an application's table is, in `public`, as a role named as a schema looks there first, and the indexes that it lacks. */
const FITTING: Readonly<Record<string, readonly [sql: string, indexes: readonly string[]]>> = {
  "without a unique index": [
    `create table public.items (${COLUMNS}, other bytea)`,
    ["UNIQUE repsync_key", "repsync_order"],
  ],
  "with that primary key": [
    `create table public.items (${COLUMNS}, primary key (a, b))`,
    ["repsync_order"],
  ],
  "with a unique index in another order": [
    `create table public.items (${COLUMNS}, unique (b, a))`,
    ["repsync_key", "repsync_order"],
  ],
  "with a descending one": [
    `create table public.items (${COLUMNS}); create unique index u on items (a, b desc)`,
    ["repsync_key", "repsync_order"],
  ],
  "with one of some rows and one of more columns": [
    `create table public.items (${COLUMNS});
     create unique index u on items (a, b) where b > 5; create unique index v on items (a, b, at)`,
    ["UNIQUE repsync_key", "repsync_order"],
  ],
  "with one of an expression, and some in another order of texts": [
    `create table public.items (${COLUMNS}); create unique index u on items (a, b, lower(note));
     create unique index v on items (a text_pattern_ops, b); create unique index w on items (a collate "POSIX", b)`,
    ["UNIQUE repsync_key", "repsync_order"],
  ],
  "with one whose making failed": [
    `create table public.items (${COLUMNS}); create unique index u on items (a, b);
     update pg_index set indisvalid = false where indexrelid = 'u'::regclass`,
    ["UNIQUE repsync_key", "repsync_order"],
  ],
  "with a key that brings another column along": [
    `create table public.items (${COLUMNS}); create unique index u on items (a, b) include (note)`,
    ["repsync_order"],
  ],
};

describe.skipIf(!postgresAvailable)("PostgreSQL: tables of other programs that fit", () => {
  for (const [what, [text, indexes]] of Object.entries(FITTING)) {
    databaseTest(
      `D-11.4.2, D-12.4 a table ${what} is used as it is, and gets the indexes that it lacks`,
      async (database) => {
        const { sql } = database;
        await sql.unsafe(text);
        await sql`insert into items (a, b, at) values ('z', 1, '2023-01-01 10:00:00Z')`;
        const before = await shapeOf(sql);
        for (const b of [1, 2]) {
          const table = await TableUnderTest.prepare(await database.open(), ITEMS);
          await table.write({ ...ROW, b }, { ...ROW, b, note: "again" });
          expect(await ownIndexes(sql)).toEqual([...indexes]);
        }
        expect(await shapeOf(sql)).toEqual(before);
        const table = await TableUnderTest.prepare(await database.open(), ITEMS);
        expect(await table.rows()).toEqual([
          { a: "z", b: 1, at: "2023-01-01T10:00:00Z", note: null },
          { ...ROW, note: "again" },
          { ...ROW, b: 2, note: "again" },
        ]);
        expect(await table.column("b", { sinceTime: "2023-06-01T00:00:00Z" })).toEqual([1, 2]);
      },
    );
  }

  databaseTest(
    "D-11.4.2, D-12.4 a column that its own sequence numbers goes on to be numbered by that",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(`create table public.items (id int8 generated by default as identity, a text collate "C" primary key);
        create table public.others (id bigserial, a text collate "C" primary key);
        insert into items (a) values ('x'); insert into others (a) values ('x')`);
      const before = [await shapeOf(sql), await shapeOf(sql, "others")];
      const storage = await database.open();
      for (const name of ["items", "others"]) {
        const columns = { id: { type: "integer", auto_increment: true }, a: { type: "text" } };
        const entry = { upsert_key: ["a"], columns } as TableEntry;
        const table = await TableUnderTest.prepare(storage, makeTable(entry, name));
        await table.write({ a: "y" }, { a: "x" });
        await sql.unsafe(`insert into ${name} (a) values ('z')`);
        await table.write({ a: "zz" });
        expect(await table.rows()).toEqual([
          { id: 1, a: "x" },
          { id: 2, a: "y" },
          { id: 3, a: "z" },
          { id: 4, a: "zz" },
        ]);
      }
      expect([await shapeOf(sql), await shapeOf(sql, "others")]).toEqual(before);
      expect([...(await ownIndexes(sql)), ...(await ownIndexes(sql, "others"))]).toEqual([]);
    },
  );

  databaseTest(
    "D-11.4.2, D-7.6, D-12.3 deletes and late commits are noted, beside the triggers of the application",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(`create table public.items (${COLUMNS}, primary key (a, b)); create table public.log (a text);
        create function public.logs() returns trigger language plpgsql as 'begin insert into public.log values (old.a); return null; end';
        create trigger logs after delete on items for each row execute function public.logs()`);
      const before = await shapeOf(sql);
      const storage = await database.open();
      const deletes = makeTable({ ...ENTRY, deletes: true });
      const table = await TableUnderTest.prepare(storage, deletes);
      await table.write(ROW, { ...ROW, b: 2 });
      await sql`delete from items where b = 1`;
      await sql`update items set b = 3 where b = 2`;
      const query = { after: null, sinceTime: null, limitRows: 10 };
      const { items } = await storage.tombstones.list(deletes, query);
      expect(items.map(({ key }) => key)).toEqual([
        { a: "x", b: 1 },
        { a: "x", b: 2 },
      ]);
      const { mark } = await storage.lateRows.read(deletes, {
        ...{ lateAfter: null, isForOwnPush: false },
      });
      await sql`insert into items values ('late', 1, now())`;
      const since = { lateAfter: mark, isForOwnPush: false };
      const { freshFrom } = await storage.lateRows.read(deletes, since);
      expect(freshFrom).toBe((await table.rows()).at(-1)?.["at"] as string);
      expect([...(await sql`select a from log`)]).toEqual([{ a: "x" }]);
      expect(await shapeOf(sql)).toEqual(before);
    },
  );

  databaseTest(
    "D-11.4.2 which tables another program made stands in the store, and holds for the next start",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(`create table public.items (${COLUMNS})`);
      const storage = await database.open();
      const own = makeTable(ENTRY, "own");
      await storage.tables.prepare([ITEMS, own]);
      const wider = { ...ENTRY, columns: { ...ENTRY.columns, more: { type: "text" } } } as const;
      expect(await failureOf(storage.tables.prepare([makeTable(wider)]))).toEqual({
        kind: "schema_conflict",
        message: `Table "items", which another program made, cannot be used: column "more" is missing in the database, and nothing is added there${ADVICE}`,
      });
      await storage.tables.prepare([makeTable(wider, "own")]);
      await sql`drop table items`;
      // What repsync makes in its place is its own.
      await storage.tables.prepare([ITEMS]);
      await storage.tables.prepare([makeTable(wider)]);
    },
  );

  databaseTest(
    "D-11.4.2 an empty one is never dropped, another key and time get their own indexes, and rows keep their key",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(
        `create table public.items (${COLUMNS}, code text collate "C" not null, day date)`,
      );
      const before = await shapeOf(sql);
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      const columns = { ...ENTRY.columns, code: { type: "text" }, day: { type: "date" } } as const;
      const byCode = makeTable({
        ...ENTRY,
        columns,
        upsert_key: ["code"],
        timestamp_column: "day",
      });
      const table = await TableUnderTest.prepare(storage, byCode);
      const rows = ["1", "2"].map((code) => ({ ...ROW, code, day: "2024-01-01" }));
      await table.write(...rows);
      expect(await table.rows()).toEqual(rows);
      expect(await ownIndexes(sql)).toEqual(["UNIQUE repsync_key", "repsync_order"]);
      expect((await failureOf(storage.tables.prepare([ITEMS])))?.message).toContain(
        "its rows have the upsert key code, not a, b",
      );
      await sql`delete from items`;
      await storage.tables.prepare([makeTable({ ...ENTRY, timestamp_column: null })]);
      expect(await ownIndexes(sql)).toEqual(["UNIQUE repsync_key"]);
      expect(await shapeOf(sql)).toEqual(before);
    },
  );

  databaseTest(
    "D-11.4.2 an index and a trigger that somebody dropped are made again by the next start",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(`create table public.items (${COLUMNS})`);
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      const made = await ownIndexes(sql);
      const harms: { text: string }[] = await sql`
        select format('drop index %I', indexname) as text from pg_indexes where tablename = 'items'
        union all select format('drop trigger %I on items', tgname) from pg_trigger where tgrelid = 'items'::regclass`;
      expect(harms).toHaveLength(5);
      for (const { text } of harms) await sql.unsafe(text);
      await storage.tables.prepare([ITEMS]);
      expect(await ownIndexes(sql)).toEqual(made);
      expect(
        await sql`select count(*)::int4 as count from pg_trigger where tgrelid = 'items'::regclass`,
      ).toEqual([{ count: 3 }] as never);
    },
  );

  databaseTest(
    "D-11.4.2, D-7.6 an application that renames a column goes on writing, and the record of deletes is interrupted",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(
        `create table public.items (${COLUMNS}, primary key (a, b)); insert into items values ('x', 1), ('y', 1)`,
      );
      const storage = await database.open();
      const deletes = makeTable({ ...ENTRY, deletes: true });
      await storage.tables.prepare([deletes]);
      const query = { after: null, sinceTime: null, limitRows: 10 };
      const before = await storage.tombstones.list(deletes, query);
      await sql`alter table items rename at to changed_at`;
      await sql`insert into items values ('z', 1)`;
      await sql`update items set note = 'later'`;
      await sql`delete from items where a = 'x'`;
      await sql`alter table items rename changed_at to at`;
      await sql`delete from items where a = 'y'`;
      const after = await storage.tombstones.list(deletes, query);
      expect(after.items.map(({ key }) => key)).toEqual([{ a: "y", b: 1 }]);
      expect(Date.parse(after.earliestAvailable)).toBeGreaterThan(
        Date.parse(before.earliestAvailable),
      );
      expect(after.earliestAvailable).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    },
  );
});

describe.skipIf(!postgresAvailable)("PostgreSQL: tables of other programs that do not fit", () => {
  const text = (columns: readonly string[], type = "text") =>
    Object.fromEntries(columns.map((name) => [name, { type }])) as TableEntry["columns"];
  /** How an application makes a table, its entry, and what is said of it. */
  const REFUSED: Readonly<Record<string, readonly [string, TableEntry, string]>> = {
    kinds: [
      "create table kinds (k int4 primary key, t varchar(20), n numeric(10,2), r real, d timestamp, s timestamptz(3), j jsonb, u uuid)",
      {
        upsert_key: ["k"],
        columns: {
          ...{ k: { type: "integer" }, t: { type: "text" }, n: { type: "numeric" } },
          ...{ r: { type: "real" }, d: { type: "datetime" }, s: { type: "datetime" } },
          ...{ j: { type: "json" }, u: { type: "text" } },
        },
      },
      'column "k" is integer in the database, where integer is kept as bigint; column "t" is character varying(20) in the database, where text is kept as text; column "n" is numeric(10,2) in the database, where numeric is kept as numeric; column "r" is real in the database, where real is kept as double precision; column "d" is timestamp without time zone in the database, where datetime is kept as timestamp with time zone; column "s" is timestamp(3) with time zone in the database, where datetime is kept as timestamp with time zone; column "j" is jsonb in the database, where json is kept as json; column "u" is uuid in the database, where text is kept as text',
    ],
    names: [
      "create table names (k int8, ShortName text, g text generated always as ('x') stored, i int8 generated always as identity)",
      {
        upsert_key: ["k"],
        columns: {
          ...text(["ShortName", "g", "gone"]),
          ...text(["k", "i"], "integer"),
        },
      },
      'column "ShortName" is called "shortname" in the database; column "g" is generated by the database, so nobody can write it; column "gone" is missing in the database, and nothing is added there; column "k" is of the key, and may be null in the database; column "i" is generated by the database, so nobody can write it',
    ],
    texts: [
      `create collation nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
       create table texts (k text collate "und-x-icu" primary key, t text collate nocase, id int8)`,
      {
        upsert_key: ["k"],
        columns: { ...text(["k", "t"]), id: { type: "integer", auto_increment: true } },
      },
      'column "k" has the collation und-x-icu in the database, where it is compared by bytes (collation "C"); column "t" has the collation nocase in the database, where it is compared by bytes (collation "C"); column "id" has no sequence of its own in the database that numbers rows, or none for this user',
    ],
    twice: [
      "create table twice (k int8 not null, v text); insert into twice values (1), (1)",
      { upsert_key: ["k"], columns: text(["k"], "integer") },
      "rows in the database share an upsert key (k)",
    ],
    later: [
      "create table later (k int8 primary key deferrable)",
      { upsert_key: ["k"], columns: text(["k"], "integer") },
      'its key "later_pkey" is deferrable, so nothing can be upserted',
    ],
    seen: [
      "create view seen as select 1::int8 as k",
      { upsert_key: ["k"], columns: text(["k"], "integer") },
      "its name belongs to a view in the database",
    ],
    listed: [
      "create table base (k int8); create index listed on base (k)",
      { upsert_key: ["k"], columns: text(["k"], "integer") },
      "its name belongs to an index in the database",
    ],
    parted: [
      "create table parted (k int8 primary key) partition by range (k)",
      { upsert_key: ["k"], columns: text(["k"], "integer") },
      "its name belongs to a partitioned table in the database",
    ],
    heirs: [
      `create table parent (k int8); create unlogged table heirs (primary key (k)) inherits (parent);
       create rule r as on insert to heirs do also select 1;
       alter table heirs enable row level security; alter table heirs force row level security`,
      { upsert_key: ["k"], columns: text(["k"], "integer") },
      "it shares rows with other tables: they are its partitions, or inherit from it, or it from them; a crash of the server empties it, as it is unlogged; rules rewrite what is written",
    ],
  };

  databaseTest(
    "D-11.4.2, D-12.4 all are told at once with all that is in the way, and nothing is made",
    async ({ sql, url }) => {
      await sql.unsafe("drop schema repsync cascade");
      for (const [made] of Object.values(REFUSED)) await sql.unsafe(made);
      const look = async () => [
        ...(await sql`select relname, relnamespace::regnamespace::text from pg_class where relnamespace::regnamespace::text not like 'pg\_%' order by 1, 2`),
        ...(await sql`select tgname from pg_trigger where not tgisinternal`),
      ];
      const before = await look();
      const tables = Object.entries(REFUSED).map(([name, [, entry]]) => makeTable(entry, name));
      const opening = openPostgresStorage({ url, clock: new SystemClock(), tables });
      expect(await failureOf(opening)).toEqual({
        kind: "schema_conflict",
        message: Object.entries(REFUSED)
          .map(
            ([name, [, , problems]]) =>
              `Table "${name}", which another program made, cannot be used: ${problems}${ADVICE}`,
          )
          .join("\n"),
      });
      expect(await look()).toEqual(before);
    },
  );
});

describe.skipIf(!postgresAvailable)("PostgreSQL: copies of a database of another program", () => {
  databaseTest(
    "D-10.7 its tables are in a backup, and no copy is made into it",
    async (database) => {
      const { sql, url } = database;
      await sql.unsafe(`create table public.items (${COLUMNS}, id bigserial)`);
      const storage = await database.open();
      const columns = { ...ENTRY.columns, id: { type: "integer", auto_increment: true } } as const;
      const table = await TableUnderTest.prepare(storage, makeTable({ ...ENTRY, columns }));
      await table.write(ROW, { ...ROW, b: 2 });
      const { source, claim } = copiesOf(POSTGRESQL);
      const stopped = await source(url);
      const dump = await stopped.dump();
      expect(dump.about.tables).toMatchObject([{ name: "items", isForeign: true, lastNumber: 2 }]);
      await dump.close();
      await stopped.close();
      await storage.close();
      await sql.unsafe("delete from items");
      await expect(claim(url)).rejects.toThrow('another program has a table "items" there');
      await sql.unsafe("insert into items values ('still', 1)");
    },
  );
});
