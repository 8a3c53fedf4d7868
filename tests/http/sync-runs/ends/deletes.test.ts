// Rows that other programs delete in the stores of running deployments. D-7.6.
import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { MongoClient } from "mongodb";
import { SystemTimer } from "../../../../src/adapters/system/system.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { jsonBody } from "../../reputation/people.ts";
import { isPostgres } from "../../stores/support/raw-store.ts";
import { type Backend, connectSql, onEveryBackend } from "../../support/backends.ts";
import { SYNC_KEY } from "../../support/sync-app.ts";
import { startForeignServer } from "../support/foreign-server.ts";
import { startForwarder } from "../support/forwarder.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

afterEach(() => {
  aheadMs = 0;
});
setDefaultTimeout(120_000);

const ITEMS: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  deletes: true,
  columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
};
const TABLES = { items: ITEMS };
const OLD = "2026-01-01T00:00:00Z";

interface End {
  readonly app: RunApp;
  readonly url: string;
}

/** Every end's clock is ahead of its store's by so much, where the store has one of its own. */
let aheadMs = 0;

async function startEnd(backend: Backend, remote: string | null = null): Promise<End> {
  return await restart(await backend.makeUrl(), remote, TABLES);
}

async function restart(
  url: string,
  remote: string | null,
  tables: Readonly<Record<string, TableEntry>>,
): Promise<End> {
  const env = { STORAGE_URL: url, ...(remote === null ? {} : { SYNC_REMOTE_URL: remote }) };
  const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
  const time = { clock, timer: new SystemTimer() };
  return { app: await startRunApp({ tables, env, time }), url };
}

/** A deployment and its remote with the same rows, after a run. */
async function startAlike(backend: Backend, keys: readonly string[]) {
  const remote = await startEnd(backend);
  const local = await startEnd(backend, remote.app.url);
  await fill(local.app, keys);
  expect((await run(local.app)).json).toMatchObject({ status: "success" });
  return { local, remote };
}

async function fill(app: RunApp, keys: readonly string[]): Promise<void> {
  await app.push("items", { records: keys.map((k) => ({ k, v: "1", at: OLD })) });
}

async function run(app: RunApp, more: object = {}) {
  return await app.trigger({ table: "items", ...more });
}

async function keys({ app }: End): Promise<readonly unknown[]> {
  return (await app.rows("items")).map(({ k }) => k);
}

async function bringBack(app: RunApp, by: "repair" | "forced run", direction: "pull" | "push") {
  if (by === "repair") await app.ask("/compare", jsonBody({ table: "items", repair: direction }));
  else await run(app, { direction, force: true, full: true });
}

/** Runs delete nothing at either end, from where the last one ended and from the beginning. */
async function expectNoMoreDeletes(
  [local, remote]: readonly [End, End],
  left: readonly string[],
): Promise<void> {
  for (const more of [{}, { full: true }, {}]) {
    expect((await run(local.app, more)).json).toMatchObject({
      ...{ status: "success", deleted_here: 0, deleted_there: 0 },
    });
    for (const end of [local, remote]) expect(await keys(end)).toEqual([...left]);
  }
}

/** Deletes rows as another program does, with the store's own means. */
async function deleteElsewhere({ url }: End, ...deleted: readonly string[]): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const database = new Database(url.slice("sqlite:".length));
    database.run("PRAGMA busy_timeout = 5000");
    for (const k of deleted) database.run("DELETE FROM items WHERE k = ?", [k]);
    database.close();
    return;
  }
  if (isPostgres(url)) {
    const sql = connectSql(url);
    for (const k of deleted) await sql`delete from items where k = ${k}`;
    return;
  }
  const client = new MongoClient(url, { writeConcern: { w: "majority" } });
  await client
    .db()
    .collection("items")
    .deleteMany({ k: { $in: [...deleted] } });
  await client.close();
}

onEveryBackend("deletes", (backend) => {
  test("D-7.6.4 rows that another program deletes at either end are deleted at the other, and stay so", async () => {
    const { local, remote } = await startAlike(backend, ["a", "b", "c"]);
    await deleteElsewhere(local, "a");
    await deleteElsewhere(remote, "b");
    expect((await run(local.app)).json).toMatchObject({
      ...{ status: "success", deleted_here: 1, deleted_there: 1 },
      tables: { items: { deleted_here: 1, deleted_there: 1, error_count: 0 } },
    });
    await expectNoMoreDeletes([local, remote], ["c"]);
  });

  test("D-7.6.4 what one spoke deletes is deleted in the hub and at the other spoke, and an edit made later wins", async () => {
    const hub = await startEnd(backend);
    const [a, b] = [await startEnd(backend, hub.app.url), await startEnd(backend, hub.app.url)];
    await fill(a.app, ["a", "edited", "c"]);
    for (const { app } of [a, b]) await run(app);
    await deleteElsewhere(a, "a", "edited");
    const later = new Date(Date.now() + 60_000).toISOString();
    await b.app.push("items", { records: [{ k: "edited", v: "2", at: later }] });
    for (const { app } of [a, b, a, b]) await run(app);
    for (const end of [a, hub, b]) {
      expect((await end.app.rows("items")).map(({ k, v }) => `${k} ${v}`)).toEqual([
        "c 1",
        "edited 2",
      ]);
    }
  });

  test("D-7.6.4 more rows than the limit are not deleted; the body of the trigger allows them", async () => {
    const { local, remote } = await startAlike(backend, ["a", "b", "c"]);
    await deleteElsewhere(remote, "a", "b");
    const refused = await run(local.app, { max_deletes: 1 });
    expect(refused.status).toBe(500);
    expect(refused.json["error"]).toContain('2 rows of "items" would be deleted here');
    const stream = { table: "items", direction: "pull", max_deletes: 1, full: true };
    const types = (await local.app.stream(stream)).map(({ type }) => type);
    expect(types).toEqual(["start", "batch", "error", "finished"]);
    expect(await keys(local)).toEqual(["a", "b", "c"]);
    expect((await run(local.app, { max_deletes: 2 })).json).toMatchObject({ deleted_here: 2 });
    expect(await keys(local)).toEqual(["c"]);
  });

  test("D-7.6.4 no row is deleted for a question whose header a gateway drops", async () => {
    const gateway = startForwarder();
    const remote = await startEnd(backend);
    gateway.target = remote.app.url;
    const local = await startEnd(backend, gateway.url);
    await fill(local.app, ["a", "b", "c"]);
    expect((await run(local.app)).json).toMatchObject({ status: "success" });
    await deleteElsewhere(local, "a", "b");
    gateway.drops = ["X-Sync-Dry-Run"];
    for (const more of [{ dry_run: true }, { max_deletes: 1 }]) {
      const refused = await run(local.app, more);
      expect([refused.status, refused.json["error"]]).toEqual([
        500,
        expect.stringContaining("X-Sync-Dry-Run"),
      ]);
    }
    expect(await keys(remote)).toEqual(["a", "b", "c"]);
    gateway.drops = [];
    const counted = await run(local.app, { dry_run: true });
    expect(counted.json).toMatchObject({ status: "success", deleted_there: 2 });
    expect(await keys(remote)).toEqual(["a", "b", "c"]);
  });

  test("D-7.6.4 runs right after the first start go on where the clock is behind the store's", async () => {
    aheadMs = -45_000;
    const { local, remote } = await startAlike(backend, ["a", "b", "c"]);
    await deleteElsewhere(local, "a");
    await deleteElsewhere(remote, "b");
    expect((await run(local.app)).json).toMatchObject({
      ...{ status: "success", deleted_here: 1, deleted_there: 1 },
    });
    for (const end of [local, remote]) expect(await keys(end)).toEqual(["c"]);
  });

  const clocks = [
    ["ahead of the store's", 45_000],
    ["behind the store's", -45_000],
  ] as const;
  test.each(clocks)(
    "D-7.6.4 an end whose deletes were off for a while ends the table, until a repair sets it right; its clock is %s",
    async (_, ms) => {
      aheadMs = ms;
      const { local, remote } = await startAlike(backend, ["a", "b"]);
      await local.app.stop();
      const { deletes: _deletes, ...without } = ITEMS;
      const off = await restart(local.url, remote.app.url, { items: without });
      await deleteElsewhere(off, "a");
      await off.app.stop();
      const { app, url } = await restart(local.url, remote.app.url, TABLES);
      for (const direction of ["push", "pull", "both"]) {
        const refused = await run(app, { direction, full: true });
        expect(refused.status).toBe(500);
        expect(refused.json["error"]).toContain("compare the table and repair it by push or pull");
      }
      expect(await keys({ app, url })).toEqual(["b"]);
      const repair = { table: "items", repair: "pull" };
      expect((await app.ask("/compare", jsonBody(repair))).json).toMatchObject({ repaired: 1 });
      expect((await run(app)).json).toMatchObject({ status: "success" });
      for (const end of [{ app, url }, remote]) expect(await keys(end)).toEqual(["a", "b"]);
      await deleteElsewhere({ app, url }, "b");
      expect((await run(app)).json).toMatchObject({ status: "success", deleted_there: 1 });
      for (const end of [{ app, url }, remote]) expect(await keys(end)).toEqual(["a"]);
    },
  );

  const returns = [
    ["repair", "pull"],
    ["repair", "push"],
    ["forced run", "pull"],
    ["forced run", "push"],
  ] as const;
  test.each(returns)(
    "D-7.6.9 a deleted row that a %s by %s brings back stays, whatever runs meet it again",
    async (by, direction) => {
      const { local, remote } = await startAlike(backend, ["a", "b"]);
      const loser = direction === "pull" ? local : remote;
      await deleteElsewhere(loser, "a");
      await bringBack(local.app, by, direction);
      expect(await keys(loser)).toEqual(["a", "b"]);
      await expectNoMoreDeletes([local, remote], ["a", "b"]);
      await deleteElsewhere(loser, "a");
      await run(local.app);
      for (const end of [local, remote]) expect(await keys(end)).toEqual(["b"]);
    },
  );

  test.each(["repair", "forced run"] as const)(
    "D-7.6.9 rows that a program put back here with their old times stay once a %s has pushed them",
    async (by) => {
      const { local, remote } = await startAlike(backend, ["a", "b"]);
      await deleteElsewhere(local, "a");
      await run(local.app);
      await fill(local.app, ["a"]);
      await bringBack(local.app, by, "push");
      await expectNoMoreDeletes([local, remote], ["a", "b"]);
    },
  );

  test("D-7.6.4 a server of another kind is told nothing of deletes, and its rows stay", async () => {
    const table = { key: ["k"], columns: ["k", "v", "at"], timestamp: "at" };
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: { items: table }, random: () => 0.5 },
    });
    const local = await startEnd(backend, server.url);
    await fill(local.app, ["a", "b"]);
    await run(local.app);
    await deleteElsewhere(local, "a");
    expect((await run(local.app)).json).toMatchObject({ status: "success", deleted_there: 0 });
    expect(server.rows("items").length).toBe(2);
  });
});
