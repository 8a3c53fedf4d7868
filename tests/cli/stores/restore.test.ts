// A backup, and a store that is restored from it.
import { expect, setDefaultTimeout, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import { readFacts } from "../../http/stores/support/raw-store.ts";
import {
  MONGODB,
  onBackends,
  onEveryBackend,
  POSTGRESQL,
  SQLITE_FILE,
} from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { startApp } from "../../http/support/sync-app.ts";
import { runCli } from "../support/run-cli.ts";
import { expectFilled, keepWaiting, ownedDocuments } from "./support/owned-documents.ts";
import { lookUp, shownBy, type UsedDeployment, useDeployment } from "./support/used-deployment.ts";

setDefaultTimeout(180_000);

/** A backup of a stopped deployment has every document that the service owns; a restore ends sessions. */
async function comesBackAsOwned(url: string, to: string, cli: UsedDeployment["cli"]) {
  const owned = await ownedDocuments(url);
  expectFilled(owned);
  const file = join(makeTempFolder(), "stopped.backup");
  for (const [store, command] of [
    [url, "backup"],
    [to, "restore"],
  ] as const) {
    expect(await cli(store, [command, file])).toMatchObject({ code: 0, stderr: "" });
  }
  expect(await ownedDocuments(to)).toEqual({ ...owned, sessions: [] });
}

onBackends([MONGODB], "a backup", () => {
  test.each([
    [SQLITE_FILE, MONGODB],
    [MONGODB, SQLITE_FILE],
  ])("D-10.7 of $name comes back into a store of the other kind", async (of, into) => {
    const url = await of.makeUrl();
    const { app, key, restart, cli } = await useDeployment(url);
    const before = await shownBy(app);
    await app.stop();
    await keepWaiting(url);
    const other = await into.makeUrl();
    await comesBackAsOwned(url, other, cli);
    const again = await restart(other);
    expect(await shownBy(again)).toEqual(before);
    expect(await lookUp(again, key, "ana")).toEqual([200, null]);
    const { json } = await again.trigger({ table: "versions" });
    expect(json["tables"]).toMatchObject({ versions: { pushed: 0, deleted_there: 1 } });
    const verified = await cli(other, ["audit", "verify", "--json"]);
    expect(verified.json).toMatchObject({ status: "whole", problem: null });
  });
});

const ENTRY: TableEntry = {
  ...{ upsert_key: ["k"], timestamp_column: "at", deletes: true },
  columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
};

onBackends([SQLITE_FILE, POSTGRESQL], "tables that left the registry", (backend) => {
  for (const column of ["k", "v", "at"]) {
    test(`D-10.7 keep no copy from being made where an application has renamed ${column} since`, async () => {
      const url = await backend.makeUrl();
      const tables = { former: ENTRY, stays: ENTRY };
      const app = await startApp({ tables, env: { STORAGE_URL: url } });
      const records = [{ k: "a", v: "1", at: "2026-01-01T00:00:00Z" }];
      for (const name of ["former", "stays"]) await app.push(name, { records });
      await app.stop();
      const sql = new SQL(url, { max: 1 });
      await sql.unsafe(`alter table former rename column ${column} to other`);
      await sql.close();
      const folder = makeTempFolder();
      const file = join(folder, "store.backup");
      const [restored, moved] = [await backend.makeUrl(), await SQLITE_FILE.makeUrl()];
      for (const [STORAGE_URL, ...args] of [
        [url, "backup", file],
        [restored, "restore", file],
        [url, "move", moved],
      ] as const) {
        const env = { ...serviceEnv(folder, { stays: ENTRY }), STORAGE_URL };
        expect(await runCli(args, { folder, env })).toMatchObject({ code: 0, stderr: "" });
      }
      for (const STORAGE_URL of [restored, moved]) {
        const again = await startApp({ tables: { stays: ENTRY }, env: { STORAGE_URL } });
        expect(await again.records("stays")).toEqual(records);
      }
    });
  }
});

onEveryBackend("backup and restore", (backend) => {
  test("D-10.7 a store comes back with all that it held, in a deployment of its own, without sessions", async () => {
    const url = await backend.makeUrl();
    const { app, key, restart, cli } = await useDeployment(url);
    const before = await shownBy(app);
    const file = join(makeTempFolder(), "store.backup");
    // The service goes on.
    const made = await cli(url, ["backup", file, "--json"]);
    expect([made.code, made.stderr]).toEqual([0, ""]);
    expect(made.json).toMatchObject({ table_count: 5, accounts: 4, path: file });
    expect(made.json.outside_secrets).toEqual(["SYNC_API_KEY", "ADMIN_PASSWORD"]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(made.json.bytes).toBe(statSync(file).size);
    const { deployment_id } = await readFacts(url);
    const { token } = app.admin;
    await app.stop();
    await keepWaiting(url);
    await comesBackAsOwned(url, await backend.makeUrl(), cli);

    const other = await backend.makeUrl();
    // A start has made its tables and the administrator.
    await (await restart(other)).stop();
    const restored = await cli(other, ["restore", file]);
    expect([restored.code, restored.stderr]).toEqual([0, ""]);
    const lines = restored.stdout.split("\n");
    expect(lines[0]).toMatch(/^Restored \d+ rows in 5 tables and 4 accounts, each compared/);
    expect(lines[1]).toMatch(
      /^The backup was made at 20\S+Z, \d+ (?:second|minute)s? ago, by repsync /,
    );
    expect(lines[2]).toMatch(/^All sessions have ended \([1-9]\d*\); everybody has to sign in/);
    const again = await restart(other);
    const authorization = { Authorization: `Bearer ${token}` };
    expect((await again.send("/v1/me", { headers: authorization })).status).toBe(401);
    expect(await shownBy(again)).toEqual(before);
    expect((await readFacts(other))["deployment_id"]).not.toBe(deployment_id);
    expect(await lookUp(again, key, "ana")).toEqual([200, null]);
    // Runs go on where they were: nothing is new but the tombstone.
    const { json } = await again.trigger({ table: "versions" });
    expect(json["tables"]).toMatchObject({ versions: { pushed: 0, deleted_there: 1 } });
    const verified = await cli(other, ["audit", "verify", "--json"]);
    expect(verified.json).toMatchObject({ status: "whole", problem: null });
  });
});
