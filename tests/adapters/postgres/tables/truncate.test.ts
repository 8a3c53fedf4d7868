// Tables that another program empties at once, by `truncate`. D-12.3.
import { describe, expect } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest as it } from "../support.ts";

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" } },
};
const ITEMS = makeTable({ ...ENTRY, deletes: true }, "items");
const PROFILES = makeTable(
  {
    ...ENTRY,
    upsert_key: ["username"],
    columns: { username: { type: "text" }, at: { type: "datetime" } },
  },
  "profiles",
);

describe.skipIf(!postgresAvailable)("truncate on PostgreSQL", () => {
  it("D-12.3 rows that a truncate takes leave tombstones one by one, by a cascade too", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const { sql } = database;
    const list = async (after: string | null) =>
      await storage.tombstones.list(ITEMS, { after, sinceTime: null, limitRows: 9 });
    const empty = await list(null);
    await sql`insert into items values ('a', '2024-01-01'), ('b', null)`;
    expect(await storage.tables.count(ITEMS)).toBe(2);
    await sql`truncate items`;
    expect(await storage.tables.count(ITEMS)).toBe(0);
    const first = await list(empty.cursor);
    expect(first.items.map(({ key }) => key["k"]).sort()).toEqual(["a", "b"]);
    expect(first.earliestAvailable).toBe(empty.earliestAvailable);
    await sql`create table owners (k text primary key)`;
    await sql`insert into owners values ('c')`;
    await sql`alter table items add foreign key (k) references owners (k)`;
    await sql`insert into items values ('c', '2024-01-01')`;
    await sql`truncate owners cascade`;
    expect((await list(first.cursor)).items.map(({ key }) => key)).toEqual([{ k: "c" }]);
  });

  it("D-7.6 a row that goes and comes back in one transaction was replaced, and leaves nothing", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([ITEMS]);
    const { sql } = database;
    const insert = (keys: string) =>
      `insert into items select k, '2024-01-01' from unnest('{${keys}}'::text[]) as k`;
    await sql.unsafe(insert("a,b,c,moved"));
    await sql.unsafe(`delete from items where k in ('a', 'b'); ${insert("a")}`);
    await sql.unsafe(`truncate items; ${insert("a,c,moved")}`);
    const move = (from: string, to: string) => `update items set k = '${to}' where k = '${from}'`;
    await sql.unsafe(`${move("moved", "d")}; ${move("d", "moved")}`);
    const remove = (k: string) => `delete from items where k = '${k}'`;
    await sql.begin(async (tx) => {
      await tx.savepoint((within) => within.unsafe(remove("a")));
      await tx.unsafe(insert("a"));
    });
    const replace = `${remove("moved")}; ${insert("moved")}`;
    await sql.unsafe(`do $$ begin ${replace}; exception when others then raise; end $$`);
    await sql.unsafe(remove("c"));
    await sql.unsafe(insert("c"));
    const query = { after: null, sinceTime: null, limitRows: 9 };
    const { items } = await storage.tombstones.list(ITEMS, query);
    expect(items.map(({ key }) => key["k"])).toEqual(["b", "d", "c"]);
  });

  it("D-6.3 a truncate of people's rows raises the versions of all of them", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([PROFILES]);
    const versions = async () => {
      const [found] = await storage.documents.read({ name: "test.versions" }, (at) =>
        at.read({ versionsOf: ["ana", "ben"] }),
      );
      return found;
    };
    await database.sql`insert into profiles values ('ana', now())`;
    const before = await versions();
    await database.sql`truncate profiles`;
    const after = await versions();
    expect(after.map((version, i) => version > (before[i] ?? 0))).toEqual([true, true]);
  });

  it("D-6.3 other programs may write rows that name nobody", async (database) => {
    const storage = await database.open();
    const { columns } = ENTRY;
    const account = { ...ENTRY, columns: { ...columns, username: { type: "text" } } } as const;
    await storage.tables.prepare([makeTable(account, "platform_accounts")]);
    const { sql } = database;
    await sql`insert into platform_accounts (k) values ('a'), ('b')`;
    await sql`update platform_accounts set username = 'ana' where k = 'a'`;
    await sql`update platform_accounts set username = null`;
    await sql`delete from platform_accounts where k = 'a'`;
    expect(await sql`select k from platform_accounts`.values()).toEqual([["b"]]);
  });
});
