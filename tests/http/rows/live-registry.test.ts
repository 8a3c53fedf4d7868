// The registry is taken up while a service goes on serving. D-14.6, and the tables of D-14.4.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import {
  BUILT_IN_TABLES,
  type TableEntry,
} from "../../../src/domain/sync/table/registry-schema.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { dataOf, jsonBody, Person } from "../reputation/people.ts";
import { isPostgres } from "../stores/support/raw-store.ts";
import { connectSql, onEveryBackend, onOneBackend } from "../support/backends.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import type { Reply } from "../support/sync-app.ts";
import { startHeldRemote } from "../sync-runs/support/held-remote.ts";
import {
  notes,
  type RunApp,
  type RunAppOptions,
  startRunApp,
  versions,
} from "../sync-runs/support/run-apps.ts";

const NOTES: TableEntry = {
  upsert_key: ["name"],
  columns: { name: { type: "text" }, body: { type: "text" } },
};
const VERSIONS: TableEntry = {
  ...{ upsert_key: ["name"], timestamp_column: "at", deletes: true },
  columns: { name: { type: "text" }, at: { type: "datetime" } },
};
const COMMENT = "// What the shop has.\n";

/** Instances on one store, with one registry file or one each. */
interface Instances {
  readonly apps: readonly [RunApp, RunApp];
  readonly storageUrl: string;
  readonly files: readonly [string, string];
  /** Writes the file of all instances. */
  write(tables: Readonly<Record<string, TableEntry>>): void;
  look(): Promise<void>;
}

async function startInstances(
  options: RunAppOptions,
  { hasOwnFiles = false } = {},
): Promise<Instances> {
  const folder = makeTempFolder();
  const first = join(folder, "tables.json");
  const files = [first, hasOwnFiles ? join(folder, "other.json") : first] as const;
  const write = (tables: object) => {
    for (const file of files) writeFileSync(file, COMMENT + JSON.stringify({ tables }));
  };
  write({ notes: NOTES });
  const storageUrl = (await options.backend?.makeUrl()) ?? "sqlite::memory:";
  const start = (file: string) =>
    startRunApp({
      ...options,
      env: { STORAGE_URL: storageUrl, SYNC_TABLES: file, ...options.env },
    });
  const apps = [await start(files[0]), await start(files[1])] as const;
  const look = async () => void (await Promise.all(apps.map((app) => app.lookAtRegistry())));
  return { apps, storageUrl, files, write, look };
}

function put(app: RunApp, name: string, entry: unknown): Promise<Reply> {
  return app.ask(`/tables/${name}`, { ...jsonBody({ entry }), method: "PUT" });
}

async function tableNames(app: RunApp): Promise<string[]> {
  const { json } = await app.ask("/tables");
  const names = (json["tables"] as { table: string }[]).map(({ table }) => table);
  return names.filter((name) => !["profiles", "platform_accounts"].includes(name));
}

/** The keys of the tombstones that peers are told. */
async function deletedKeys(app: RunApp, table: string): Promise<Record<string, string>[]> {
  const headers = { "X-Sync-Key": "correct horse battery staple" };
  const { json } = await app.send(`/api/v1/sync/deleted/${table}`, { headers });
  return (json["items"] as { key: Record<string, string> }[]).map(({ key }) => key);
}

async function problemMetric(app: RunApp): Promise<string | undefined> {
  return /^repsync_registry_problem (\d)$/m.exec((await app.send("/metrics")).text)?.[1];
}

/** What another program does. */
async function deleteRow(storageUrl: string, table: string, name: string): Promise<void> {
  if (storageUrl.startsWith("sqlite:")) {
    const database = new Database(storageUrl.slice("sqlite:".length));
    database.run(`DELETE FROM "${table}" WHERE name = ?`, [name]);
    database.close();
    return;
  }
  if (isPostgres(storageUrl)) {
    const sql = connectSql(storageUrl);
    await sql`DELETE FROM ${sql(table)} WHERE name = ${name}`;
    return;
  }
  const client = new MongoClient(storageUrl);
  await client.db().collection(table).deleteOne({ name });
  await client.close();
}

onEveryBackend("a live registry", (backend) => {
  test("D-14.6 every instance takes the file up whole, and a table that goes is unknown", async () => {
    const { apps, write, look } = await startInstances({ backend });
    await apps[0].push("notes", { records: notes(3) });
    expect((await apps[1].pull("versions")).status).toBe(400);
    const longer = { ...NOTES, columns: { ...NOTES.columns, extra: { type: "integer" } as const } };
    write({ notes: longer, versions: VERSIONS });
    await look();
    for (const app of apps) {
      expect(await tableNames(app)).toEqual(["notes", "versions"]);
      const records = [{ name: app.url, at: "2026-01-01T00:00:00Z" }];
      expect((await app.push("versions", { records })).status).toBe(200);
      expect((await app.records("notes"))[0]).toMatchObject({ extra: null });
    }
    expect((await apps[0].pull("versions")).json["total"]).toBe(2);
    const document = await (await fetch(`${apps[0].url}/swagger/json`)).text();
    expect(document).toContain('"enum":["profiles","platform_accounts","notes","versions"]');
    write({ versions: VERSIONS });
    await look();
    for (const app of apps) {
      for (const reply of [await app.pull("notes"), await app.push("notes", { records: [] })]) {
        expect(reply.status).toBe(400);
        expect(reply.json["error"]).toContain('Unknown table "notes"');
      }
      expect((await app.send("/api/v1/sync/status")).json["tables"]).not.toContain("notes");
      expect((await app.trigger({ table: "notes" })).status).toBe(400);
    }
    write({ notes: NOTES });
    await look();
    expect(await apps[1].records("notes")).toHaveLength(3);
  });

  test("D-14.6 deletes of a table are recorded from its coming, and again", async () => {
    const { apps, storageUrl, write, look } = await startInstances({ backend });
    const deletedNames = async (app: RunApp) =>
      (await deletedKeys(app, "versions")).map(({ name }) => name);
    expect((await put(apps[0], "versions", VERSIONS)).status).toBe(201);
    await look();
    const records = ["a", "b"].map((name) => ({ name, at: "2026-01-01T00:00:00Z" }));
    await apps[1].push("versions", { records });
    await deleteRow(storageUrl, "versions", "a");
    await pollUntil("tombstone", async () => (await deletedNames(apps[1])).includes("a"));
    write({ notes: NOTES, versions: { ...VERSIONS, deletes: false } });
    await look();
    expect(await deletedNames(apps[0])).toEqual([]);
    write({ notes: NOTES, versions: VERSIONS });
    await look();
    await deleteRow(storageUrl, "versions", "b");
    await pollUntil("tombstone", async () => (await deletedNames(apps[0])).includes("b"));
  });

  test("D-8.2, D-14.6 an erasure leaves no tombstone that is listed once deletes are on again, here or elsewhere", async () => {
    const { apps, files, write, look } = await startInstances({ backend }, { hasOwnFiles: true });
    const withDeletes = (deletes: boolean) =>
      Object.fromEntries(
        Object.entries(BUILT_IN_TABLES).map(([name, entry]) => [name, { ...entry, deletes }]),
      );
    const [app, other] = apps;
    const remove = async (username: string) => {
      const deleted = [
        { key: { username, platform: "ebay" }, deleted_at: new Date().toISOString() },
      ];
      expect((await app.push("platform_accounts", { deleted })).json["deleted"]).toBe(1);
    };
    const add = async (username: string) => {
      const records = ["ebay", "etsy"].map((platform) => ({ username, platform }));
      expect((await app.push("platform_accounts", { records })).json["upserted"]).toBe(2);
    };
    const erase = async (at: RunApp, username: string) => {
      const reply = await (await Person.signIn(at, username)).send("/v1/me", { method: "DELETE" });
      expect(reply.status).toBe(200);
    };
    const listed = async () => {
      const lists = ["platform_accounts", "profiles"].map((table) => deletedKeys(app, table));
      return (await Promise.all(lists)).flat().map(({ username }) => username);
    };
    write(withDeletes(true));
    await look();
    for (const username of ["ana", "bea", "cem"]) {
      await Person.signUp(app, username);
      await add(username);
      await remove(username);
    }
    write(withDeletes(false));
    await look();
    await erase(app, "ana");
    // The other instance has not looked yet.
    writeFileSync(files[0], JSON.stringify({ tables: withDeletes(true) }));
    await app.lookAtRegistry();
    expect((await listed()).toSorted()).toEqual(["bea", "cem"]);
    await erase(other, "bea");
    expect(await listed()).toEqual(["cem"]);
  });

  for (const hasOwnFiles of [false, true]) {
    const where = hasOwnFiles ? "with a file each" : "with one file";
    test(`D-14.6 two instances ${where} that add tables at once do so one after the other`, async () => {
      const { apps, files, look } = await startInstances({ backend }, { hasOwnFiles });
      const names = Array.from({ length: 6 }, (_, i) => `table_${i}`);
      const added = await Promise.all(
        names.map((name, i) => put(apps[i % 2] ?? apps[0], name, VERSIONS)),
      );
      expect(added.map(({ status }) => status)).toEqual(names.map(() => 201));
      await look();
      for (const [i, app] of apps.entries()) {
        const own = names.filter((_, n) => !hasOwnFiles || n % 2 === i);
        expect((await tableNames(app)).sort()).toEqual(["notes", ...own]);
        expect(readFileSync(files[i] ?? "", "utf8")).toStartWith(COMMENT);
        for (const name of own) expect((await app.pull(name)).status).toBe(200);
      }
    });
  }

  test("D-14.6 a change that the store cannot follow changes nothing, until it is taken back", async () => {
    const { apps, write, look } = await startInstances({ backend });
    await apps[0].push("notes", { records: notes(1) });
    const columns = { ...NOTES.columns, body: { type: "integer" } as const };
    write({ notes: { ...NOTES, columns }, versions: VERSIONS });
    await look();
    for (const app of apps) {
      expect(await tableNames(app)).toEqual(["notes"]);
      expect((await app.ask("/overview")).json["registry_problem"]).toContain('Table "notes"');
      expect(await problemMetric(app)).toBe("1");
    }
    write({ notes: NOTES, versions: VERSIONS });
    await look();
    expect(await tableNames(apps[0])).toEqual(["notes", "versions"]);
    expect(await problemMetric(apps[0])).toBe("0");
    write({ notes: NOTES });
    await look();
    expect(await tableNames(apps[0])).toEqual(["notes"]);
  });

  test("D-14.6, D-14.2 a table that becomes stamped while it is served has times from then on", async () => {
    const { apps, write, look } = await startInstances({ backend });
    write({ versions: { ...VERSIONS, deletes: false } });
    await look();
    await apps[0].push("versions", { records: [{ name: "old" }] });
    write({ versions: { ...VERSIONS, stamped: true } });
    await look();
    await apps[1].push("versions", { records: [{ name: "new" }] });
    const [old, fresh] = await apps[0].records("versions");
    expect(old).toEqual({ name: "old", at: "1970-01-01T00:00:00Z" });
    expect(Date.parse(String(fresh?.["at"]))).toBeGreaterThan(Date.now() - 60_000);
  });

  test("D-14.6 a run goes on with the table that has gone meanwhile", async () => {
    const remote = await startRunApp({ backend, tables: { versions: VERSIONS } });
    await remote.push("versions", { records: versions(20).map(({ name, at }) => ({ name, at })) });
    const held = startHeldRemote(remote.url, "/pull/");
    const env = { SYNC_REMOTE_URL: held.url };
    const { apps, write, look } = await startInstances({ backend, env });
    write({ versions: VERSIONS });
    await look();
    const run = apps[0].trigger({ direction: "pull", table: "versions" });
    await held.reached;
    write({ notes: NOTES });
    await look();
    expect((await apps[0].pull("versions")).status).toBe(400);
    held.release();
    expect((await run).json).toMatchObject({ status: "success", total_pulled: 20 });
    write({ versions: VERSIONS });
    await look();
    expect((await apps[1].pull("versions")).json["total"]).toBe(20);
  });
});

onOneBackend("a live registry", (backend) => {
  test("D-14.6 a file that is damaged or gone changes nothing", async () => {
    const { apps, files, write, look } = await startInstances({ backend });
    const [app] = apps;
    expect((await app.ask("/overview")).json["registry_problem"]).toBeNull();
    expect(await problemMetric(app)).toBe("0");
    for (const text of ['{"tables": {"notes": ', '{"tables": {"x": {"columns": {}}}}']) {
      writeFileSync(files[0], text);
      await look();
      expect(await tableNames(app)).toEqual(["notes"]);
      expect((await app.pull("notes")).status).toBe(200);
      expect((await app.ask("/overview")).json["registry_problem"]).toMatch(/SYNC_TABLES.* line 1/);
      expect(await problemMetric(app)).toBe("1");
      const refused = await put(app, "versions", VERSIONS);
      expect(refused.status).toBe(403);
      expect(readFileSync(files[0], "utf8")).toBe(text);
    }
    write({ notes: NOTES });
    await look();
    expect(await problemMetric(app)).toBe("0");
  });

  test("D-14.4.1 the tables show their entries, and an administrator adds one, at once served", async () => {
    const { apps, files, look } = await startInstances({ backend });
    const [app, other] = apps;
    const added = await put(app, "versions", VERSIONS);
    expect(added.status).toBe(201);
    expect(added.json).toEqual({ table: "versions", entry: VERSIONS });
    const audit = dataOf(await app.admin.send("/v1/admin/audit?limit=5"))["items"];
    expect(audit).toMatchObject([{ account: "root", action: "table.added", table: "versions" }]);
    expect((await app.pull("versions")).json["total"]).toBe(0);
    const { json } = await app.ask("/tables");
    const entries = json["tables"] as { table: string; entry: object }[];
    expect(entries.find(({ table }) => table === "versions")?.entry).toEqual(VERSIONS);
    expect(entries.find(({ table }) => table === "profiles")?.entry).toHaveProperty("columns");
    const text = readFileSync(files[0], "utf8");
    expect(text).toStartWith(COMMENT);
    // Whoever has not looked yet does not add it a second time.
    expect((await put(other, "versions", NOTES)).status).toBe(409);
    for (const taken of ["notes", "profiles", "versions"]) {
      expect((await put(app, taken, NOTES)).status).toBe(409);
    }
    await look();
    expect(await tableNames(other)).toEqual(["notes", "versions"]);
    const bad = [
      ["a b", NOTES],
      ["repsync_x", NOTES],
      ["Notes", NOTES],
      ["fresh", { ...NOTES, upsert_key: ["nobody"] }],
      ["fresh", { ...NOTES, colour: "red" }],
      ["fresh", {}],
      ["fresh", "text"],
      ["fresh", null],
    ] as const;
    for (const [name, entry] of bad) {
      const { status, json: body } = await put(app, encodeURIComponent(name), entry);
      expect([name, status]).toEqual([name, name === "Notes" ? 409 : 400]);
      expect(body["error"]).toBeString();
    }
    expect(readFileSync(files[0], "utf8")).toBe(text);
  });

  test("D-14.4.1 only administrators add tables", async () => {
    const { apps, files } = await startInstances({ backend });
    const before = readFileSync(files[0], "utf8");
    const request = { ...jsonBody({ entry: VERSIONS }), method: "PUT" };
    const path = "/api/v1/sync/tables/versions";
    expect((await apps[0].send(path, request)).status).toBe(401);
    const person = await Person.signUp(apps[0], "ana");
    expect((await person.send(path, request)).status).toBe(403);
    expect(readFileSync(files[0], "utf8")).toBe(before);
  });

  test("D-14.4.1 where the file cannot be written the reply has what to paste", async () => {
    // The name of its lock would be too long.
    const path = join(makeTempFolder(), `${"t".repeat(246)}.json`);
    writeFileSync(path, JSON.stringify({ tables: {} }));
    for (const SYNC_TABLES of ["", path]) {
      const app = await startRunApp({ backend, env: { SYNC_TABLES } });
      const { status, json } = await put(app, "versions", VERSIONS);
      expect(status).toBe(403);
      expect(json["error"]).toMatch(SYNC_TABLES === "" ? /SYNC_TABLES/ : /cannot be written/);
      const pasted = String(json["text"]);
      const file = JSON.parse(SYNC_TABLES === "" ? pasted : `{"tables": {${pasted}}}`);
      expect(file).toEqual({ tables: { versions: VERSIONS } });
      expect(await tableNames(app)).toEqual([]);
    }
  });
});

describe("a table of the store's own that is in the way", () => {
  onOneBackend("a live registry", (backend) => {
    test("D-14.4.1 is a conflict, and the file stays as it was", async () => {
      const { apps, files, storageUrl } = await startInstances({ backend });
      const database = new Database(storageUrl.slice("sqlite:".length));
      database.run("CREATE TABLE versions (name BLOB, other INTEGER)");
      database.close();
      const before = readFileSync(files[0], "utf8");
      const { status, json } = await put(apps[0], "versions", VERSIONS);
      expect([status, json["error"]]).toEqual([409, expect.stringContaining('Table "versions"')]);
      expect(readFileSync(files[0], "utf8")).toBe(before);
    });
  });
});
