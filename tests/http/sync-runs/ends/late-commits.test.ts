// Runs between stores that tell of every commit: whatever other programs commit late comes with the next run. D-12.3.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { runCli } from "../../../cli/support/run-cli.ts";
import { keepResource } from "../../../support/resources.ts";
import { onBackends, POSTGRESQL } from "../../support/backends.ts";
import { makeTempFolder } from "../../support/make-temp-folder.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

const TABLES = {
  items: {
    timestamp_column: "at",
    upsert_key: ["k"],
    columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
  },
} as const satisfies Record<string, TableEntry>;

interface End {
  readonly app: RunApp;
  /** The address of its store. */
  readonly url: string;
  /** Another program. */
  readonly sql: SQL;
}

async function startEnd(remote: RunApp | null = null): Promise<End> {
  const url = await POSTGRESQL.makeUrl();
  const more = remote === null ? {} : { SYNC_REMOTE_URL: remote.url };
  const app = await startRunApp({ tables: TABLES, env: { STORAGE_URL: url, ...more } });
  const sql = new SQL({ url, max: 2 });
  keepResource(() => sql.close());
  return { app, url, sql };
}

async function startEnds() {
  const remote = await startEnd();
  return { local: await startEnd(remote.app), remote };
}

async function keys({ app }: End): Promise<readonly unknown[]> {
  return (await app.rows("items")).map(({ k }) => k);
}

/** Begins a transaction that has written a row with the time of its begin; what it gives commits that. */
async function writeOpen({ sql }: End, k: string): Promise<() => Promise<void>> {
  const connection = await sql.reserve();
  await connection`begin`;
  await connection`insert into items (k, v, at) values (${k}, '1', now())`;
  return async () => {
    await connection`commit`;
    connection.release();
  };
}

async function write({ sql }: End, k: string): Promise<string> {
  const [row] = await sql`
    insert into items (k, v, at) values (${k}, '1', now())
    returning to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as at`;
  return row.at;
}

onBackends([POSTGRESQL], "commits that come late", () => {
  test("D-12.3 what is committed behind the markers of both ends comes with the next run, and none waits for it", async () => {
    const { local, remote } = await startEnds();
    const commits = [await writeOpen(local, "late here"), await writeOpen(remote, "late there")];
    const [here, there] = [await write(local, "here"), await write(remote, "there")];
    const run = async () => (await local.app.trigger({ table: "items" })).json;
    expect(await run()).toMatchObject({ status: "success", changed: 2 });
    const markers = Object.values(await local.app.markers()).map((at) => at.slice(0, 23));
    expect(new Set(markers)).toEqual(new Set([here, there].map((at) => at.slice(0, 23))));
    for (let i = 0; i < 2; i++) {
      expect(await run()).toMatchObject({ changed: 0, total_pushed: 0, total_pulled: 1 });
    }
    for (const commit of commits) await commit();
    expect(await run()).toMatchObject({ changed: 2 });
    for (const end of [local, remote]) {
      expect(await keys(end)).toEqual(["here", "late here", "late there", "there"]);
    }
    expect(await run()).toMatchObject({ changed: 0, total_pushed: 0 });
  });

  test("D-12.3 an update that leaves an old time alone lets no run begin there", async () => {
    const { local, remote } = await startEnds();
    const old = Array.from({ length: 300 }, (_, i) => ({
      ...{ k: `old ${1000 + i}`, v: "1", at: "2026-01-01T00:00:00Z" },
    }));
    await remote.app.push("items", { records: old });
    await write(remote, "there");
    await local.app.trigger({ table: "items" });
    await remote.sql`update items set v = '2' where k = 'old 1007'`;
    const { json } = await local.app.trigger({ table: "items" });
    expect(json).toMatchObject({ status: "success", total_pulled: 1, changed: 0 });
    const pushed = await local.app.trigger({ table: "items", direction: "push" });
    expect(pushed.json).toMatchObject({ total_pushed: 0 });
  });

  test("D-12.3 what one spoke brings to a hub behind the marker of another reaches that one, and comes back to neither", async () => {
    const hub = await startEnd();
    const [a, b] = [await startEnd(hub.app), await startEnd(hub.app)];
    const run = async (end: End) => (await end.app.trigger({ table: "items" })).json;
    const before = new Date(Date.now() - 20_000).toISOString();
    await write(hub, "hub");
    await run(b);
    await a.app.push("items", { records: [{ k: "a", v: "1", at: before }] });
    await run(a);
    expect(await run(b)).toMatchObject({ changed: 1 });
    for (const end of [a, b, hub]) expect(await keys(end)).toEqual(["a", "hub"]);
    for (const end of [a, b, a, b]) {
      expect(await run(end)).toMatchObject({ changed: 0, total_pushed: 0 });
    }
  });

  for (const how of ["move", "backup and restore"]) {
    test(`D-12.3, D-12.5 what no run has seen yet when a store goes elsewhere by ${how} comes with the next one`, async () => {
      const remote = await startEnd();
      const local = await startEnd(remote.app);
      const commit = await writeOpen(local, "late here");
      await write(local, "here");
      await local.app.trigger({ table: "items" });
      await commit();
      await local.app.stop();
      const url = await POSTGRESQL.makeUrl();
      const file = join(makeTempFolder(), "items.backup");
      const command = async (from: string, ...args: string[]) => {
        const env = { STORAGE_URL: from, SYNC_TABLES: local.app.tablesFile };
        const { code, stderr } = await runCli(args, { env });
        expect([code, stderr]).toEqual([0, ""]);
      };
      if (how === "move") await command(local.url, "move", url);
      else {
        await command(local.url, "backup", file);
        await command(url, "restore", file);
      }
      const env = { STORAGE_URL: url, SYNC_REMOTE_URL: remote.app.url };
      const moved = await startRunApp({ tables: TABLES, env });
      const { json } = await moved.trigger({ table: "items", direction: "push" });
      expect(json).toMatchObject({ status: "success" });
      expect(await keys(remote)).toEqual(["here", "late here"]);
    });
  }
});
