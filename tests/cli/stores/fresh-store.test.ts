// What a command leaves in a store that no service has used yet.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { connectSql, MONGODB, POSTGRESQL } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { SYNC_KEY, startApp } from "../../http/support/sync-app.ts";
import { keepResource } from "../../support/resources.ts";
import { giveBackDatabase, takeDatabase } from "../../support/stores/mongo-databases.ts";
import { runCli } from "../support/run-cli.ts";

async function collectionsOf(url: string): Promise<readonly string[]> {
  const client = new MongoClient(url);
  keepResource(() => client.close());
  const found = await client.db().listCollections({}, { nameOnly: true }).toArray();
  return found.map(({ name }) => name).sort();
}

/** What tells a store and its time, and the secrets that all instances share. */
const FIRST = ["repsync_secrets", "repsync_store", "repsync_time", "repsync_versions"];

test.skipIf(!MONGODB.isAvailable)(
  "D-10.4 a command makes in MongoDB what it writes to, and a start the rest",
  async () => {
    const url = await takeDatabase({ isNew: true });
    keepResource(() => giveBackDatabase(url));
    const cli = (...args: readonly string[]) => runCli(args, { env: { STORAGE_URL: url } });
    const none = await cli("keys", "list", "ana");
    expect(none).toMatchObject({ code: 1, stderr: 'There is no account "ana"\n' });
    expect(await collectionsOf(url)).toEqual(FIRST);
    expect((await cli("runs")).code).toBe(0);
    expect((await cli("rejected", "list")).code).toBe(0);
    expect((await cli("audit", "heads", "--json")).code).toBe(0);
    expect(await collectionsOf(url)).toEqual(FIRST);
    const made = await runCli(["admin", "create", "ana"], {
      env: { STORAGE_URL: url },
      input: "correct horse\n",
    });
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const more = (await collectionsOf(url)).filter((name) => !FIRST.includes(name));
    expect(more).toEqual(["repsync_accounts", "repsync_subjects"]);
    expect((await cli("keys", "create", "ana", "--name", "till")).code).toBe(0);
    expect((await cli("keys", "list", "ana")).stdout).toContain("till");
    expect((await cli("status")).code).toBe(0);
    expect(await collectionsOf(url)).toContain("profiles");
  },
);

/** Commands that only read, and what they say of a store that was not used yet. */
const READING: readonly (readonly [args: string, code: number, said: string | RegExp])[] = [
  ["runs", 0, "No run yet\n"],
  ["rejected list", 0, "No record waits\n"],
  ["accounts list", 0, "No such account\n"],
  ["keys list ana", 1, 'There is no account "ana"\n'],
  ["plan show ana", 1, "There is no such account\n"],
  ["audit verify", 0, "The audit log is whole: 0 records in 0 chains\n"],
  ["status", 0, /^This deployment\n/],
  ["export profiles - --format csv", 0, /^username,display_name,/],
];

async function checkReading(env: Readonly<Record<string, string>>): Promise<void> {
  for (const [args, code, said] of READING) {
    const ended = await runCli(args.split(" "), { env });
    expect([args, ended.code]).toEqual([args, code]);
    expect(ended.stdout || ended.stderr).toMatch(said);
  }
}

test("D-12.4 commands that only read make no file of SQLite", async () => {
  const path = join(makeTempFolder(), "repsync.db");
  await checkReading({ STORAGE_URL: `sqlite:${path}` });
  expect(existsSync(path)).toBe(false);
});

test("D-12.4 commands that only read do not wait for a program that writes to a file of SQLite", async () => {
  const path = join(makeTempFolder(), "repsync.db");
  const registry = join(makeTempFolder(), "tables.json");
  const deletes = { deletes: true, columns: { name: { type: "text" }, at: { type: "datetime" } } };
  const entry = { timestamp_column: "at", stamped: true, upsert_key: ["name"], ...deletes };
  writeFileSync(registry, JSON.stringify({ tables: { notes: entry } }));
  const env = { STORAGE_URL: `sqlite:${path}`, SYNC_TABLES: registry };
  const input = "name\nfirst\n";
  const made = await runCli(["import", "notes", "-", "--format", "csv"], { env, input });
  expect(made.code).toBe(0);
  const writer = new Database(path);
  keepResource(() => writer.close());
  writer.run("BEGIN IMMEDIATE; UPDATE notes SET name = 'second'");
  // A command that waits for the writer ends with code 1.
  await checkReading(env);
  const read = await runCli(["export", "notes", "-", "--format", "csv"], { env });
  expect([read.code, read.stdout]).toEqual([0, expect.stringMatching(/^name,at\nfirst,/)]);
});

test("D-4.11, D-12.4 a dry run makes no file of SQLite", async () => {
  const remote = await startApp();
  const path = join(makeTempFolder(), "repsync.db");
  const env = {
    STORAGE_URL: `sqlite:${path}`,
    ...{ SYNC_ENABLED: "true", SYNC_REMOTE_URL: remote.url, SYNC_REMOTE_KEY: SYNC_KEY },
  };
  const { code, stdout } = await runCli(["sync", "pull", "--dry-run", "--json"], { env });
  expect([code, JSON.parse(stdout).status]).toEqual([0, "success"]);
  expect(existsSync(path)).toBe(false);
});

test.skipIf(!POSTGRESQL.isAvailable)(
  "D-12.4, D-11.4.2 commands that only read make no schema in PostgreSQL, and tell of tables that are in the way",
  async () => {
    const url = await POSTGRESQL.makeUrl();
    const sql = connectSql(url);
    await sql.unsafe("drop schema repsync cascade");
    await checkReading({ STORAGE_URL: url });
    await sql.unsafe("create table profiles (id text)");
    const refused = await runCli(["export", "profiles", "-", "--format", "csv"], {
      env: { STORAGE_URL: url },
    });
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toContain("profiles");
    const [[made] = []] = await sql.unsafe("select to_regnamespace('repsync')::text").values();
    expect(made).toBe(null);
  },
);
