// Deletes in tables of an application, by its rules or in tables that had their names. D-7.6.
import { expect, test } from "bun:test";
import type { SQL } from "bun";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { jsonBody } from "../../reputation/people.ts";
import {
  type Backend,
  connectSql,
  onBackends,
  POSTGRESQL,
  SQLITE_FILE,
} from "../../support/backends.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  deletes: true,
  columns: {
    k: { type: "text" },
    parent: { type: "text" },
    at: { type: "datetime" },
    j: { type: "json" },
  },
};
const OLD = "2026-01-01T00:00:00Z";

/** Makes a table of the application, without the rows whose parent is deleted. */
type MakeTable = (name: string, parents: string) => string;

/** The registry does not have the column `changed`. */
const MAKE_TABLES = new Map<Backend, MakeTable>([
  [
    POSTGRESQL,
    (name, parents) => `create table public.${name} (k text collate "C" primary key,
      at timestamptz, j json, changed timestamptz,
      parent text collate "C" references public.${parents} on delete cascade);
      create or replace function public.change() returns trigger language plpgsql as $$ begin
        new.changed = clock_timestamp();
        return new;
      end $$;
      create trigger change before update on public.${name} for each row execute function public.change()`,
  ],
  [
    SQLITE_FILE,
    // A rule of SQLite does not set itself off unless the connection says so, and foreign keys do nothing there.
    (name, parents) => `create table ${name} (k text primary key, at text, parent text, j text);
      create trigger rule_${name} after delete on ${parents} begin
        delete from ${name} where k in (with recursive gone (k) as (select old.k
          union select child.k from ${name} as child join gone on child.parent = gone.k) select k from gone);
      end`,
  ],
]);

interface End {
  readonly app: RunApp;
  /** The application. */
  readonly sql: SQL;
}

function row(k: string, parent: string | null = null) {
  return { k, parent, at: OLD, j: "\0" };
}

async function rows({ app }: End): Promise<readonly string[]> {
  return (await app.rows("items")).map(({ k, parent }) => `${k} of ${parent}`);
}

/** As many runs as given, of all tables. */
async function run({ app }: End, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) expect((await app.trigger()).json["status"]).toBe("success");
}

for (const [backend, makeTable] of MAKE_TABLES) {
  const items = makeTable("items", "items");

  /** A deployment with a table for each name, which the application has made where there is a text. */
  async function startEnd(
    names: readonly string[],
    made: string | null,
    remote: End | null = null,
    stamped = false,
  ): Promise<End> {
    const url = await backend.makeUrl();
    const sql = connectSql(url);
    if (made !== null) await sql.unsafe(made);
    const tables = Object.fromEntries(names.map((name) => [name, { ...ENTRY, stamped }]));
    const more = remote === null ? {} : { SYNC_REMOTE_URL: remote.app.url };
    return { app: await startRunApp({ tables, env: { STORAGE_URL: url, ...more } }), sql };
  }

  onBackends([backend], "deletes in tables of an application", () => {
    for (const [by, ownRules, deletes] of [
      ["a pull", "local", "remote"],
      ["a push", "remote", "local"],
      ["the console", "local", "local"],
    ] as const) {
      test(`D-7.6.4 rows that the rules of an end delete because ${by} deletes another are deleted at the other end`, async () => {
        const remote = await startEnd(["items"], ownRules === "remote" ? items : null);
        const local = await startEnd(["items"], ownRules === "local" ? items : null, remote);
        const ends = { local, remote };
        const records = [row("a"), row("b", "a"), row("c", "b"), row("d")];
        await ends[ownRules].app.push("items", { records });
        await run(local);
        const expected = row("a");
        if (ownRules !== deletes) await ends[deletes].sql`delete from items where k = 'a'`;
        else await local.app.ask("/rows/items/delete", jsonBody({ key: { k: "a" }, expected }));
        await run(local, 2);
        for (const end of [local, remote]) expect(await rows(end)).toEqual(["d of null"]);
      });
    }

    for (const [how, names] of [
      ["of its own table", ["items"]],
      ["of another table", ["groups", "items"]],
    ] as const) {
      for (const rule of backend === POSTGRESQL ? ["cascade", "set null"] : ["cascade"]) {
        test(`D-7.6.4, D-14.2.3 a row that has moved from a row ${how}, which is deleted then, stays as it is at both ends: ${rule}`, async () => {
          const [groups] = names;
          const own = makeTable("items", groups).replace("delete cascade", `delete ${rule}`);
          const made = groups === "items" ? own : `${makeTable("groups", "groups")}; ${own}`;
          const stamped = rule === "set null";
          const remote = await startEnd(names, made, null, stamped);
          const local = await startEnd(names, made, remote, stamped);
          await local.app.push(groups, { records: [row("a"), row("b")] });
          await local.app.push("items", { records: [row("moved", "a")] });
          await run(local);
          const at = new Date();
          await local.sql`update items set parent = 'b', at = ${at.toISOString()} where k = 'moved'`;
          await local.sql.unsafe(`delete from ${groups} where k = 'a'`);
          await run(local, 2);
          for (const end of [local, remote]) {
            expect((await rows(end)).filter((row) => row.startsWith("moved"))).toEqual([
              "moved of b",
            ]);
          }
        });
      }
    }

    test("D-7.6.4 rows that a rule of one end deletes as they arrive or change are deleted at the other end", async () => {
      const remote = await startEnd(["items"], null);
      const local = await startEnd(["items"], items, remote);
      const gone = "begin delete from items where k = new.k";
      await local.sql.unsafe(
        backend === POSTGRESQL
          ? `create function public.refuse() returns trigger language plpgsql as $$ ${gone}; return null; end $$;
            create trigger refuse after insert or update on items for each row when (new.parent = new.k) execute function public.refuse()`
          : `create trigger refuse after insert on items when new.parent = new.k ${gone}; end;
            create trigger change after update on items when new.parent = new.k ${gone}; end`,
      );
      await remote.app.push("items", { records: [row("a"), row("b"), row("c", "c")] });
      await run(local, 2);
      for (const end of [local, remote])
        expect(await rows(end)).toEqual(["a of null", "b of null"]);
      await local.sql`update items set parent = k, at = ${new Date().toISOString()} where k = 'b'`;
      await run(local, 2);
      for (const end of [local, remote]) expect(await rows(end)).toEqual(["a of null"]);
    });

    for (const empties of backend === POSTGRESQL ? ["delete from", "truncate"] : ["delete from"]) {
      test(`D-7.6.4 of a table that took the place of another nothing is deleted, and a repair sets it right once the tables were looked at anew: ${empties}`, async () => {
        const remote = await startEnd(["items"], null);
        const local = await startEnd(["items"], items, remote);
        await local.app.push("items", { records: [row("a"), row("b"), row("c")] });
        await run(local);
        await local.sql.unsafe(`${makeTable("items_next", "items_next")}; insert into items_next select * from items;
        alter table items rename to items_before; alter table items_next rename to items;
        ${empties} items_before; delete from items where k = 'c'`);
        for (const isWatched of [false, true]) {
          if (isWatched) await local.app.lookAtRegistry();
          const refused = await local.app.trigger();
          expect(refused.json["error"]).toContain(
            "compare the table and repair it by push or pull",
          );
          expect(await rows(local)).toEqual(["a of null", "b of null"]);
          expect(await rows(remote)).toEqual(["a of null", "b of null", "c of null"]);
        }
        const repair = { table: "items", repair: "push", delete: true };
        expect((await local.app.ask("/compare", jsonBody(repair))).json).toMatchObject({
          repaired: 1,
        });
        await local.sql`delete from items where k = 'b'`;
        await run(local, 2);
        for (const end of [local, remote]) expect(await rows(end)).toEqual(["a of null"]);
      });
    }

    if (backend === SQLITE_FILE) return;

    test("D-7.6.4, D-14.2.3 what the rule of one end empties is empty at the other end", async () => {
      const made = items.replace("cascade", "set null");
      const remote = await startEnd(["items"], made, null, true);
      const local = await startEnd(["items"], null, remote, true);
      const later = { ...row("later"), at: "2026-02-01T00:00:00Z" };
      await local.app.push("items", { records: [row("a"), row("b", "a"), later] });
      await run(local);
      await local.sql`delete from items where k = 'a'`;
      await run(local, 2);
      for (const end of [local, remote]) {
        expect(await rows(end)).toEqual(["b of null", "later of null"]);
      }
    });

    for (const [how, change] of [
      [
        "whose triggers were switched off meanwhile",
        "alter table items disable trigger all; delete from items; alter table items enable trigger all",
      ],
      [
        "that became a part of another",
        `create table public.whole (like public.items including defaults, primary key (k)) partition by list (k);
        alter table whole attach partition items default; delete from whole`,
      ],
    ] as const) {
      test(`D-7.6.4 a run of a table ${how} ends with an error and deletes nothing`, async () => {
        const remote = await startEnd(["items"], null);
        const local = await startEnd(["items"], items.replace(/references .* cascade/, ""), remote);
        await local.app.push("items", { records: [row("a"), row("b")] });
        await run(local);
        await local.sql.unsafe(change);
        const refused = await local.app.trigger();
        expect(refused.json["error"]).toContain("compare the table and repair it by push or pull");
        expect(await rows(remote)).toEqual(["a of null", "b of null"]);
      });
    }
  });
}
