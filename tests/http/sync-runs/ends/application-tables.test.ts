// Tables of an application that change, or that its triggers change, while they are synchronized. D-3.3, D-4.5.
import { expect, test } from "bun:test";
import type { SQL } from "bun";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { connectSql, onBackends, POSTGRESQL } from "../../support/backends.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

const ENTRY: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["k"] },
  columns: { k: { type: "text" }, price: { type: "numeric" }, at: { type: "datetime" } },
};
const MADE = `create table public.items (k text collate "C" primary key, price numeric, at timestamptz);
  create function public.stamp() returns trigger language plpgsql as $$ begin new.at = clock_timestamp(); return new; end $$;`;
const BY_REPSYNC = "select 1";
const OLD = "2026-01-01T00:00:00Z";

interface End {
  readonly app: RunApp;
  /** The application. */
  readonly sql: SQL;
}

async function startEnd(made: string, remote: End | null = null): Promise<End> {
  const url = await POSTGRESQL.makeUrl();
  const sql = connectSql(url);
  await sql.unsafe(made);
  const more = remote === null ? {} : { SYNC_REMOTE_URL: remote.app.url };
  const env = { STORAGE_URL: url, ...more };
  return { app: await startRunApp({ tables: { items: ENTRY }, env }), sql };
}

onBackends([POSTGRESQL], "tables of an application that change", () => {
  for (const [events, comes, name] of [
    ["update", "before", "a_stamp"],
    ["insert or update", "before", "Änderung"],
    ["insert or update", "while it serves", "touch_repsync_rows"],
  ] as const) {
    test(`D-4.5, D-12.4 rows keep the time that a run brings where a trigger "${name}" sets the time before each ${events}: one that came ${comes}`, async () => {
      const trigger = `create trigger "${name}" before ${events} on items for each row execute function stamp()`;
      const remote = await startEnd(comes === "before" ? `${MADE} ${trigger}` : MADE);
      const local = await startEnd(comes === "before" ? `${MADE} ${trigger}` : MADE, remote);
      for (const { app, sql } of comes === "before" ? [] : [local, remote]) {
        await sql.unsafe(trigger);
        await app.lookAtRegistry();
      }
      await local.sql`insert into items values ('a', 1, ${OLD}), ('b', 1, ${OLD})`;
      await local.app.trigger();
      await remote.sql`update items set price = 2 where k = 'a'`;
      const rows = await remote.app.rows("items");
      expect(rows).not.toContainEqual({ k: "a", price: "2", at: OLD });
      expect((await local.app.trigger()).json).toMatchObject({
        tables: { items: { changed: 1 } },
      });
      for (const { app } of [local, remote]) expect(await app.rows("items")).toEqual(rows);
      expect((await local.app.trigger()).json).toMatchObject({
        ...{ status: "success", tables: { items: { changed: 0 } } },
      });
    });
  }

  test("D-11.4.2 a migration may change and drop the time of a table whose times are kept", async () => {
    const { sql } = await startEnd(
      `${MADE} create trigger a_stamp before insert or update on items for each row execute function stamp()`,
    );
    const kept = await sql`select tgname from pg_trigger where tgname like '%repsync_time'`;
    expect(kept).toHaveLength(2);
    await sql`alter table items alter at type timestamptz(3)`;
    await sql`alter table items drop column at`;
  });

  test("D-4.6 a row to which a trigger gives another key is a failed record", async () => {
    const remote = await startEnd(`${MADE}
      create function public.lower() returns trigger language plpgsql as $$ begin new.k = lower(new.k); return new; end $$;
      create trigger a_lower before insert or update on items for each row execute function public.lower()`);
    const local = await startEnd(MADE, remote);
    await local.sql`insert into items values ('A', 1, ${OLD}), ('b', 1, ${OLD})`;
    for (const run of ["first", "second"]) {
      const { json } = await local.app.trigger();
      expect([run, json["status"], json["error_count"]]).toEqual([run, "partial", 1]);
    }
    const b = { k: "b", price: "1", at: OLD };
    expect(await remote.app.rows("items")).toEqual([b]);
    expect(await local.app.rows("items")).toEqual([{ ...b, k: "A" }, b]);
  });

  test("D-12.3, D-12.4 a run of a table that got a child ends with an error, as late rows of that would be missed", async () => {
    const remote = await startEnd(MADE);
    const local = await startEnd(MADE, remote);
    await local.app.push("items", { records: [{ k: "a", price: "1", at: OLD }] });
    expect((await local.app.trigger()).json).toMatchObject({ status: "success" });
    await local.sql`create table child () inherits (items)`;
    for (const direction of ["push", "pull"]) {
      const failed = await local.app.trigger({ direction });
      expect([direction, failed.status, failed.json["error"]]).toEqual([
        ...[direction, 500, expect.stringContaining("it shares rows with other tables")],
      ]);
    }
    await local.sql`drop table child`;
    expect((await local.app.trigger()).json).toMatchObject({ status: "success" });
  });

  test("D-3.3, D-12.4 nothing is rounded where a column gets a narrower type while a service runs", async () => {
    const remote = await startEnd(MADE);
    const local = await startEnd(MADE, remote);
    await local.sql`alter table items alter price type numeric(10, 2)`;
    const row = { k: "a", price: "7.12345", at: OLD };
    await remote.app.push("items", { records: [row] });
    const failed = await local.app.trigger({ direction: "pull" });
    expect([failed.status, failed.json["error"]]).toEqual([
      ...[500, expect.stringContaining('column "price" is numeric(10,2) in the database')],
    ]);
    const pushed = await local.app.push("items", { records: [row] });
    expect([pushed.status, pushed.text]).toEqual([500, expect.stringContaining("numeric(10,2)")]);
    await local.sql`alter table items alter price type numeric`;
    expect((await local.app.trigger()).json).toMatchObject({ status: "success" });
    for (const { app } of [local, remote]) expect(await app.rows("items")).toEqual([row]);
  });

  for (const [made, change, undo, problem] of [
    [
      ...[MADE, "alter table items set unlogged", "alter table items set logged"],
      "a crash of the server empties it, as it is unlogged",
    ],
    [
      ...[BY_REPSYNC, "create rule none as on insert to items do instead nothing"],
      ...["drop rule none on items", "rules rewrite what is written"],
    ],
    [
      BY_REPSYNC,
      "alter table items drop price, add price numeric generated always as (1) stored",
      "alter table items alter price drop expression",
      'column "price" is generated by the database, so nobody can write it',
    ],
    [
      ...[BY_REPSYNC, 'alter table items alter k type text collate "und-x-icu"'],
      'alter table items alter k type text collate "C"',
      'column "k" has the collation und-x-icu in the database',
    ],
  ] as const) {
    test(`D-12.4 a table is not used while a start would refuse it: ${change}`, async () => {
      const remote = await startEnd(made);
      const local = await startEnd(made, remote);
      await local.app.push("items", { records: [{ k: "a", price: "1", at: OLD }] });
      await local.sql.unsafe(change);
      expect((await local.app.trigger()).json["error"]).toContain(problem);
      expect(await remote.app.rows("items")).toEqual([]);
      await local.app.lookAtRegistry();
      for (const reply of [await local.app.pull("items"), await local.app.trigger()]) {
        const { status, json } = reply;
        expect([status, json["error"]]).toEqual([400, expect.stringContaining(problem)]);
      }
      await local.sql.unsafe(undo);
      await local.app.lookAtRegistry();
      expect((await local.app.trigger()).json).toMatchObject({ status: "success" });
      expect(await remote.app.rows("items")).toEqual([{ k: "a", price: "1", at: OLD }]);
    });
  }
});
