// A table that another program has locked in PostgreSQL, as VACUUM FULL and many an ALTER TABLE do, or dropped.
import { expect, setDefaultTimeout, test } from "bun:test";
import { REQUEST_DEADLINE_MS } from "../../../src/domain/shared/limits.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { fileOf, resultOf } from "../rows/support/import-replies.ts";
import { connectSql, onBackends, POSTGRESQL } from "../support/backends.ts";
import { startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";
import { notes, SYNC, startRunApp } from "../sync-runs/support/run-apps.ts";

setDefaultTimeout(120_000);

/** Far below the 15 s for which a run waits for a status. D-4.6. */
const SOON_MS = 9_000;

onBackends([POSTGRESQL], "a locked table", (backend) => {
  test("D-3.10, D-4.6 a table that another program has locked is -1 in the status, and hurts no run of another table", async () => {
    const url = await backend.makeUrl();
    const { notes: NOTES, versions, events } = TABLES;
    const tables = { notes: NOTES, versions, events };
    const remote = await startRunApp({ tables, env: { STORAGE_URL: url } });
    const sql = connectSql(url);
    await remote.push("notes", { records: notes(2) });
    await sql`begin`;
    await sql`lock table versions, events in access exclusive mode`;
    const beganMs = performance.now();
    const { status, json } = await remote.send(`${SYNC}/status`);
    expect([status, json["table_counts"]]).toMatchObject([
      200,
      { notes: 2, versions: -1, events: -1 },
    ]);
    expect(performance.now() - beganMs).toBeLessThan(SOON_MS);
    const local = await startRunApp({ tables, env: { SYNC_REMOTE_URL: remote.url } });
    const run = await local.trigger({ direction: "pull", table: "notes" });
    expect([run.status, run.json]).toMatchObject([200, { status: "success", total_pulled: 2 }]);
    await sql`rollback`;
  });

  test("D-3.10 a table that another program dropped is -1 in the status, and one in its place is counted anew", async () => {
    const url = await backend.makeUrl();
    const app = await startRunApp({ env: { STORAGE_URL: url } });
    const sql = connectSql(url);
    await app.push("notes", { records: notes(2) });
    const counted = async () => (await app.send(`${SYNC}/status`)).json["table_counts"];
    expect(await counted()).toMatchObject({ notes: 2 });
    await sql`create table public.another (like public.notes including all)`;
    await sql`drop table public.notes`;
    expect(await counted()).toMatchObject({ notes: -1, profiles: 0 });
    await sql`alter table public.another rename to notes`;
    expect(await counted()).toMatchObject({ notes: 0 });
    await sql`insert into public.notes (name) values ('ana')`;
    expect(await counted()).toMatchObject({ notes: 1 });
    expect((await app.pull("notes")).json).toMatchObject({ count: 1, total: 1, has_more: false });
  });

  test("D-14.4.2 an import, and its dry run, wait for a locked table for longer than a request may", async () => {
    const url = await backend.makeUrl();
    const app = await startRunApp({ env: { STORAGE_URL: url } });
    const sql = connectSql(url);
    await sql`begin`;
    await sql`lock table notes in access exclusive mode`;
    const asked = ["", "?dry_run=true"].map((query) =>
      app.ask(`/import/notes${query}`, fileOf("name\nana\n")),
    );
    await sql`select pg_sleep(${REQUEST_DEADLINE_MS / 1_000 + 1})`;
    await sql`rollback`;
    const results = (await Promise.all(asked)).map(resultOf);
    expect(results).toMatchObject([
      { type: "done", dry_run: false, new: 1 },
      { type: "done", dry_run: true },
    ]);
  });

  test("S-4.3 strangers who ask for the status many times at once wait for a locked table with one connection", async () => {
    const url = await backend.makeUrl();
    const app = await startApp({ env: { STORAGE_URL: url } });
    const sql = connectSql(url);
    // What a transaction reads of other connections it does not read anew.
    const watch = connectSql(url);
    const waiting = async (): Promise<number> => {
      const [found] = await watch`select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return found.n;
    };
    await sql`begin`;
    await sql`lock table notes in access exclusive mode`;
    // More than an instance has connections.
    const asked = Array.from({ length: 50 }, () => app.send(`${SYNC}/status`));
    await pollUntil("a count that waits", async () => (await waiting()) > 0);
    expect((await app.send("/v1/health")).status).toBe(200);
    expect((await app.send("/v1/signup")).status).toBe(200);
    // None while the count is between two tries.
    expect(await waiting()).toBeLessThanOrEqual(1);
    await sql`rollback`;
    const replies = await Promise.all(asked);
    expect(replies.filter(({ status }) => status !== 200)).toEqual([]);
  });
});
