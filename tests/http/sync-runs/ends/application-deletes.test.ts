// Deletes in tables of an application, by its rules or in tables that had their names. D-7.6.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { jsonBody } from "../../reputation/people.ts";
import { onBackends, POSTGRESQL } from "../../support/backends.ts";
import { keepResource, releaseResources } from "../../support/resources.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  deletes: true,
  columns: { k: { type: "text" }, parent: { type: "text" }, at: { type: "datetime" } },
};
const OLD = "2026-01-01T00:00:00Z";
const COLUMNS = `k text collate "C" primary key, at timestamptz, parent text collate "C"`;
const ITEMS = `create table public.items (${COLUMNS} references public.items on delete cascade)`;

interface End {
  readonly app: RunApp;
  /** The application. */
  readonly sql: SQL;
}

/** A deployment with a table for each name, which the application has made where there is a text. */
async function startEnd(
  names: readonly string[],
  made: string | null,
  remote: End | null = null,
): Promise<End> {
  const url = await POSTGRESQL.makeUrl();
  const sql = new SQL({ url, max: 1 });
  keepResource(() => sql.close());
  if (made !== null) await sql.unsafe(made);
  const tables = Object.fromEntries(names.map((name) => [name, ENTRY]));
  const more = remote === null ? {} : { SYNC_REMOTE_URL: remote.app.url };
  return { app: await startRunApp({ tables, env: { STORAGE_URL: url, ...more } }), sql };
}

function row(k: string, parent: string | null = null) {
  return { k, parent, at: OLD };
}

async function rows({ app }: End): Promise<readonly string[]> {
  return (await app.rows("items")).map(({ k, parent }) => `${k} of ${parent}`);
}

/** As many runs as given, of all tables. */
async function run({ app }: End, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) expect((await app.trigger()).json["status"]).toBe("success");
}

onBackends([POSTGRESQL], "deletes in tables of an application", () => {
  for (const [by, ownRules, deletes] of [
    ["a pull", "local", "remote"],
    ["a push", "remote", "local"],
    ["the console", "local", "local"],
  ] as const) {
    test(`D-7.6.4 rows that the rules of an end delete because ${by} deletes another are deleted at the other end`, async () => {
      const remote = await startEnd(["items"], ownRules === "remote" ? ITEMS : null);
      const local = await startEnd(["items"], ownRules === "local" ? ITEMS : null, remote);
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
    test(`D-7.6.4 a row that has moved from a row ${how}, which is deleted then, stays at both ends`, async () => {
      const [groups] = names;
      const made =
        groups === "items"
          ? ITEMS
          : `create table public.groups (${COLUMNS}); create table public.items (${COLUMNS} references public.groups on delete cascade)`;
      const remote = await startEnd(names, made);
      const local = await startEnd(names, made, remote);
      await local.app.push(groups, { records: [row("a"), row("b")] });
      await local.app.push("items", { records: [row("moved", "a")] });
      await run(local);
      await local.sql`update items set parent = 'b', at = now() where k = 'moved'`;
      await local.sql.unsafe(`delete from ${groups} where k = 'a'`);
      await run(local, 2);
      for (const end of [local, remote]) {
        expect((await rows(end)).filter((row) => row.startsWith("moved"))).toEqual(["moved of b"]);
      }
    });
  }

  for (const empties of ["delete from items_before", "truncate items_before"]) {
    test(`D-7.6.4 rows of a table that took the place of another stay, whatever becomes of the other: ${empties}`, async () => {
      const remote = await startEnd(["items"], ITEMS);
      const local = await startEnd(["items"], ITEMS, remote);
      await local.app.push("items", { records: [row("a"), row("b")] });
      await run(local);
      await local.sql.unsafe(`create table public.items_next (like items including all); insert into items_next select * from items;
        alter table items rename to items_before; alter table items_next rename to items; ${empties}`);
      await run(local, 2);
      for (const end of [local, remote]) {
        expect(await rows(end)).toEqual(["a of null", "b of null"]);
      }
    });
  }
});
