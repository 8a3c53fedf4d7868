// Rules that another program has for a table: a record that breaks one fails alone, and what it does not touch stays. S-4.2.11, D-4.6.
import { describe, expect } from "bun:test";
import type { SQL } from "bun";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../../src/domain/sync/table/table.ts";
import { asWrites, TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const ENTRY: TableEntry = {
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "integer" } },
};
const ITEMS = makeTable(ENTRY);
const MADE = `create table public.items (k text collate "C" primary key, v int8)`;

/** Opens a store whose database has such a table, and writes rows to it; what became of them. */
async function write(database: TestDatabase, made: string, rows: readonly Row[]) {
  await database.sql.unsafe(made);
  const storage = await database.open();
  const table = await TableUnderTest.prepare(storage, ITEMS);
  const { changed, failures } = await writeTo(storage, ITEMS, asWrites(rows));
  return { changed, failures, rows: await table.rows() };
}

/** A trigger that does something with each row before it is written. */
function trigger(body: string, events = "insert or update"): string {
  return `create function public.judge() returns trigger language plpgsql as $body$ begin ${body} end $body$;
    create trigger judge before ${events} on public.items for each row execute function public.judge()`;
}

async function allOf(sql: SQL, text: string): Promise<unknown> {
  return await sql.unsafe(text).values();
}

describe.skipIf(!postgresAvailable)("PostgreSQL: rules of other programs", () => {
  databaseTest(
    "D-12.2 one that names a table without its schema finds it, whatever the role of repsync is called",
    async (database) => {
      const [[role] = []] = await database.sql`select current_user::text`.values();
      expect(role).toBe("repsync");
      const made = `${MADE}; create table public.audit (k text); ${trigger("insert into audit values (new.k); return new;")}`;
      const { failures } = await write(database, made, [{ k: "a", v: 1 }]);
      expect(failures).toEqual([]);
      expect(await allOf(database.sql, "select k from public.audit")).toEqual([["a"]]);
    },
  );

  databaseTest(
    "D-12.4 a row that comes without a time has the one that a trigger sets",
    async (database) => {
      await database.sql.unsafe(`create table public.items (k text collate "C" primary key, at timestamptz);
        ${trigger("new.at = '2024-01-01Z'; return new;")}`);
      const timed = makeTable({
        ...{ upsert_key: ["k"], timestamp_column: "at" },
        columns: { k: { type: "text" }, at: { type: "datetime" } },
      });
      const table = await TableUnderTest.prepare(await database.open(), timed);
      await table.write({ k: "a", at: "2023-01-01T00:00:00Z" }, { k: "b", at: null });
      expect(await table.rows()).toEqual([
        { k: "a", at: "2023-01-01T00:00:00Z" },
        { k: "b", at: "2024-01-01T00:00:00Z" },
      ]);
    },
  );

  databaseTest(
    "D-12.4, S-4.2.9 a row that is there is changed, whatever columns beside those of the registry demand of a new one",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(`create table public.items (id bigserial primary key, k text collate "C" not null unique, v int8,
        extra text not null check (extra <> '')); insert into public.items (k, v, extra) values ('a', 1, 'of the application')`);
      const storage = await database.open();
      const columns = { ...ENTRY.columns, id: { type: "integer", auto_increment: true } } as const;
      const table = makeTable({ ...ENTRY, columns });
      await storage.tables.prepare([table]);
      const rows = [
        { k: "a", v: 2 },
        { k: "b", v: 3 },
      ];
      const { changed, failures } = await writeTo(storage, table, asWrites(rows));
      expect([changed, failures]).toEqual([
        1,
        [{ index: 1, message: 'the column "extra" of the table may not be null' }],
      ]);
      expect(await allOf(sql, "select id::int4, k, v::int4, extra from items")).toEqual([
        [1, "a", 2, "of the application"],
      ]);
      await storage.documents.transact({ name: "test" }, (tx) =>
        tx.tables.change(table, "k", "a", { v: 5 }),
      );
      expect(await allOf(sql, "select v::int4, extra from items")).toEqual([
        [5, "of the application"],
      ]);
    },
  );

  databaseTest(
    "D-4.6 a row that a trigger passes over in silence is a failed record",
    async (database) => {
      const { sql } = database;
      const rows = ["a", "no", "b"].map((k) => ({ k, v: 1 }));
      const made = `${MADE}; ${trigger("if new.k = 'no' or new.v = 9 then return null; end if; return new;")}`;
      const message = "a trigger of the table passes over it";
      const kept = [rows[0], rows[2]] as Row[];
      expect(await write(database, made, rows)).toEqual({
        ...{ changed: 2, failures: [{ index: 1, message }], rows: kept },
      });
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      const changes = asWrites([{ k: "a", v: 9 }]);
      expect(await writeTo(storage, ITEMS, changes)).toMatchObject({
        failures: [{ index: 0, message }],
      });
      expect(await allOf(sql, "select count(*)::int4 from items where v = 9")).toEqual([[0]]);
    },
  );

  databaseTest(
    "D-4.6 an erasure over which a trigger passes in silence fails, and so does a change",
    async ({ open, sql }) => {
      await sql.unsafe(`${MADE}; insert into public.items values ('a', 1), ('a b', 1)`);
      const storage = await open();
      await storage.tables.prepare([ITEMS]);
      await sql.unsafe(trigger("return null;", "update or delete"));
      for (const fields of [null, { v: 2 }]) {
        const changed = storage.documents.transact({ name: "test" }, (tx) =>
          tx.tables.change(ITEMS, "k", "a", fields),
        );
        await expect(changed).rejects.toMatchObject({
          ...{ kind: "commit_failed", message: "a trigger of the table passes over it" },
        });
      }
    },
  );

  databaseTest(
    "D-4.6 so is one that another of its key follows, by a rule that came to a table of repsync's own",
    async ({ open, sql }) => {
      const storage = await open();
      await storage.tables.prepare([ITEMS]);
      await sql`insert into items values ('b', 9)`;
      for (const [rule, refused, end] of [
        [
          "alter table items add constraint rule check (v <> 9) not valid",
          9,
          "alter table items drop constraint rule",
        ],
        [
          trigger("if new.v = 9 then raise exception 'no'; end if; return new;"),
          9,
          "drop function judge() cascade",
        ],
        ["create unique index rule on items (v)", 9, "drop index rule"],
        [
          "alter table items add g int2 generated always as (v::int2) stored",
          99_999,
          "alter table items drop g",
        ],
        ["alter table items alter v set not null", null, "alter table items alter v drop not null"],
      ] as const) {
        await sql.unsafe(rule);
        const rows = [refused, 1].map((v) => ({ k: "a", v }));
        const { failures } = await writeTo(storage, ITEMS, asWrites(rows));
        expect([rule, failures.map(({ index }) => index)]).toEqual([rule, [0]]);
        await sql.unsafe(end);
      }
    },
  );

  databaseTest(
    "S-4.2.11 a row that needs another of its push is written in any order beside a refused one",
    async (database) => {
      const { sql } = database;
      const made = `create table public.items (k text collate "C" primary key, v int8 unique, parent text collate "C" references public.items)`;
      await sql.unsafe(`${made}; insert into public.items values ('a', 1), ('b', 2)`);
      const storage = await database.open();
      const columns = { ...ENTRY.columns, parent: { type: "text" } } as const;
      const table = makeTable({ ...ENTRY, columns });
      const items = await TableUnderTest.prepare(storage, table);
      const rows = [
        { k: "a", v: 2, parent: null },
        { k: "b", v: 3, parent: null },
        { k: "c", v: null, parent: "p" },
        { k: "refused", v: null, parent: "nobody" },
        { k: "p", v: null, parent: null },
      ];
      const { failures } = await writeTo(storage, table, asWrites(rows));
      expect(failures.map(({ index }) => index)).toEqual([3]);
      expect(await items.rows()).toEqual([rows[0], rows[1], rows[2], rows[4]] as Row[]);
    },
  );

  databaseTest(
    "D-7.6.4 a row that another names goes with that one in any order beside one that stays",
    async (database) => {
      await database.sql.unsafe(`create table public.items (k text collate "C" primary key, at timestamptz, parent text collate "C" references public.items);
        insert into public.items values ('a', '2024-01-01Z', null), ('kept', '2024-01-01Z', null), ('of a', '2024-01-01Z', 'a'), ('of kept', '2024-01-01Z', 'kept')`);
      const table = makeTable({
        ...{ upsert_key: ["k"], timestamp_column: "at", deletes: true },
        columns: { k: { type: "text" }, at: { type: "datetime" }, parent: { type: "text" } },
      });
      const storage = await database.open();
      const items = await TableUnderTest.prepare(storage, table);
      const deletedAt = "2024-02-01T00:00:00Z";
      const deleted = ["a", "kept", "of a"].map((k, index) => ({ index, key: { k }, deletedAt }));
      const { refusedDeletes = [] } = await writeTo(storage, table, [], { deleted });
      expect(refusedDeletes.map(({ index }) => index)).toEqual([1]);
      expect((await items.rows()).map(({ k }) => k)).toEqual(["kept", "of kept"]);
    },
  );

  databaseTest(
    "D-4.6 so is one that a rule refuses that is looked at with the commit",
    async (database) => {
      const made = `create table public.owners (v int8 primary key); insert into public.owners values (1);
      ${MADE.replace("v int8", "v int8 constraint owned references public.owners deferrable initially deferred")}`;
      const rows = [1, 99, 1].map((v, i) => ({ k: `${i}`, v }));
      expect(await write(database, made, rows)).toMatchObject({
        ...{ changed: 2, rows: [rows[0], rows[2]] },
        failures: [
          { index: 1, message: 'the row of another table that it names is not there "owned"' },
        ],
      });
    },
  );

  for (const [how, message] of [
    ["raise exception 'too few' using errcode = 'PT400'", "too few"],
    ["raise exception 'not for you' using errcode = 'U0001'", "not for you"],
    ["raise exception 'never' using errcode = '0A000'", "PostgreSQL refuses it (0A000)"],
    ["assert false, 'no item'", "no item"],
  ] as const) {
    databaseTest(`D-4.6 so is one for which a trigger says ${how}`, async (database) => {
      const rows = ["a", "no", "b"].map((k) => ({ k, v: 1 }));
      const made = `${MADE}; ${trigger(`if new.k = 'no' then ${how}; end if; return new;`)}`;
      expect(await write(database, made, rows)).toMatchObject({
        ...{ changed: 2, failures: [{ index: 1, message }] },
      });
    });
  }

  databaseTest(
    "D-3.8, D-7.6 a tombstone whose key has no room in an index is left out: no row can have it",
    async (database) => {
      const storage = await database.open();
      const table = makeTable({
        ...{ upsert_key: ["k"], timestamp_column: "at", deletes: true },
        columns: { k: { type: "text" }, at: { type: "datetime" } },
      });
      await storage.tables.prepare([table]);
      const random = Array.from({ length: 5_000 }, (_, i) =>
        String.fromCodePoint(0x4e00 + ((i * i * 7_919) % 20_000)),
      );
      const deletedAt = "2024-02-01T00:00:00Z";
      const deleted = [random.join(""), "b"].map((k, index) => ({ index, key: { k }, deletedAt }));
      const rows = asWrites([{ k: "a", at: deletedAt }]);
      const { failures, changed } = await writeTo(storage, table, rows, { deleted });
      expect([failures, changed]).toEqual([[], 1]);
      const query = { after: null, sinceTime: null, limitRows: 9 };
      const { items } = await storage.tombstones.list(table, query);
      expect(items.map(({ key }) => key)).toEqual([{ k: "b" }]);
    },
  );

  databaseTest(
    "D-4.6, D-7.6 deletes come once before the records of a key, and one that a trigger passes over is refused",
    async (database) => {
      await database.sql.unsafe(`create table public.items (k text collate "C" primary key, v int8 check (v <> 9), at timestamptz);
        insert into public.items values ('a', 1, '2024-01-01Z'), ('kept', 1, '2024-01-01Z');
        ${trigger("if old.k = 'kept' then return null; end if; return old;", "delete")}`);
      const table = makeTable({
        ...{ upsert_key: ["k"], timestamp_column: "at", deletes: true },
        columns: { ...ENTRY.columns, at: { type: "datetime" } },
      });
      const storage = await database.open();
      const items = await TableUnderTest.prepare(storage, table);
      const at = "2024-01-01T00:00:00Z";
      const deletedAt = "2024-02-01T00:00:00Z";
      const deleted = ["a", "kept"].map((k, index) => ({ index, key: { k }, deletedAt }));
      const rows = asWrites([
        { k: "a", v: 2, at },
        { k: "a", at },
      ]);
      const message = "a trigger of the table passes over it";
      expect(await writeTo(storage, table, rows, { deleted })).toMatchObject({
        ...{ changed: 1, deleted: 1, failures: [], refusedDeletes: [{ index: 1, message }] },
      });
      expect(await items.rows()).toEqual([
        { k: "a", v: 2, at },
        { k: "kept", v: 1, at },
      ]);
    },
  );

  databaseTest(
    "D-7.6, D-12.3, D-14.2.3 what a rule does about a write of repsync is noticed as the application's",
    async (database) => {
      const { sql } = database;
      await sql.unsafe(`create table public.items (k text collate "C" primary key, at timestamptz);
        create table public.parts (k text collate "C" primary key, at timestamptz, item text references public.items on delete cascade);
        create table public.sums (k text collate "C" primary key, at timestamptz, n int8);
        create function public.sum() returns trigger language plpgsql as
          $$ begin update public.sums set n = n + 1; delete from public.items where k = 'old' and new.k = 'b'; return null; end $$;
        create trigger sum after insert on public.items for each row execute function public.sum();
        insert into public.items values ('a', '2024-01-01Z'), ('old', '2024-01-01Z'); insert into public.parts values ('p', '2024-01-01Z', 'a');
        insert into public.sums values ('s', '2024-01-01Z', 0)`);
      const [items, parts, sums] = ["items", "parts", "sums"].map((name) => {
        const isSum = name === "sums";
        return makeTable(
          {
            ...{ upsert_key: ["k"], timestamp_column: "at", deletes: true, stamped: isSum },
            columns: { k: { type: "text" }, at: { type: "datetime" } },
          },
          name,
        );
      }) as [Table, Table, Table];
      const storage = await database.open();
      await storage.tables.prepare([items, parts, sums]);
      const at = "2024-02-01T00:00:00Z";
      const deleted = [{ index: 0, key: { k: "a" }, deletedAt: at }];
      const marks = await storage.lateRows.read(sums, { lateAfter: null, isForOwnPush: false });
      await writeTo(storage, items, asWrites([{ k: "b", at }]), { deleted });
      const query = { after: null, sinceTime: null, limitRows: 9 };
      for (const [table, gone] of [
        [items, ["a", "old"]],
        [parts, ["p"]],
      ] as const) {
        const listed = await storage.tombstones.list(table, query);
        expect(listed.items.map(({ key }) => key["k"])).toEqual([...gone]);
      }
      const [sum] = await new TableUnderTest(storage, sums).column("at");
      expect(String(sum) > at).toBe(true);
      const since = { lateAfter: marks.mark, isForOwnPush: false };
      expect((await storage.lateRows.read(sums, since)).freshFrom).toBe(String(sum));
    },
  );
});
