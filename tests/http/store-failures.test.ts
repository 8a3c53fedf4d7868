// What callers see when the store fails for real: a database file that another program replaced, broke or guards.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { MongoClient } from "mongodb";
import { keepResource } from "../support/resources.ts";
import { startReplicaSet } from "../support/stores/mongo-replica-set.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import { MONGODB, onBackends, POSTGRESQL } from "./support/backends.ts";
import { makeTempFolder } from "./support/make-temp-folder.ts";
import { type SyncApp, startApp } from "./support/sync-app.ts";

interface FileApp extends SyncApp {
  /** The database file. */
  readonly file: string;
  /** Runs SQL on it as another program would. */
  runElsewhere(sql: string): void;
}

async function startOnFile(more: Readonly<Record<string, string>> = {}): Promise<FileApp> {
  const file = join(makeTempFolder(), "repsync.db");
  const app = await startApp({ env: { STORAGE_URL: `sqlite:${file}`, ...more } });
  const runElsewhere = (sql: string) => {
    const database = new Database(file);
    database.run(sql);
    database.close();
  };
  return { ...app, file, runElsewhere };
}

const RECORDS = { records: [{ name: "a" }, { name: "b" }] };

describe("a push that cannot be committed", () => {
  async function expectCommitFailure(app: FileApp, reason: RegExp): Promise<void> {
    for (const reply of [
      await app.push("notes", RECORDS),
      await app.pushGzip("notes", JSON.stringify(RECORDS)),
    ]) {
      expect(reply.status).toBe(500);
      const error = String(reply.json["error"]);
      expect(reply.text).toBe(`{"table":"notes","upserted":0,"error":"${error}"}`);
      expect(error).toMatch(reason);
      expect(error).not.toMatch(/secret|SQL|\/|\.db/);
      expect(error.length).toBeLessThanOrEqual(200);
    }
  }

  test("S-4.2.11, S-7 push() answers 500 {table, upserted: 0, error} when the commit is rolled back", async () => {
    const app = await startOnFile();
    app.runElsewhere(
      "CREATE TRIGGER guard AFTER INSERT ON notes WHEN NEW.name = 'b' BEGIN SELECT RAISE(ROLLBACK, 'secret reason'); END",
    );
    await expectCommitFailure(app, /^The database wrote nothing: /);
    expect((await app.pull("notes")).json["total"]).toBe(0);
    app.runElsewhere("DROP TRIGGER guard");
    expect((await app.push("notes", RECORDS)).json["upserted"]).toBe(2);
  });

  test("S-4.2.11 push() answers 500 when the database file was replaced", async () => {
    const app = await startOnFile();
    await app.push("notes", { records: [{ name: "before" }] });
    renameSync(app.file, `${app.file}.old`);
    writeFileSync(app.file, "");
    await expectCommitFailure(app, /^The database file was replaced$/);
  });

  test("S-4.2.11, D-6.8, D-3.12 push() answers 500 and health() 503 when the database file is gone", async () => {
    const app = await startOnFile();
    rmSync(app.file);
    await expectCommitFailure(app, /^The database file is gone$/);
    const health = await app.send("/v1/health");
    expect(health.status).toBe(503);
    expect(health.json).toMatchObject({ success: false, status: "degraded", db: "unavailable" });
    expect(health.headers.get("cache-control")).toBeNull();
  });

  test("S-4.2.11, S-4.1, D-3.10 a table that another program dropped fails alone", async () => {
    const app = await startOnFile();
    await app.push("events", { records: [{ code: 1 }] });
    const counted = await app.send("/api/v1/sync/status");
    expect(counted.json["table_counts"]).toMatchObject({ notes: 0 });
    app.runElsewhere("DROP TABLE notes");
    await expectCommitFailure(app, /: a table is not as it was prepared$/);
    const pulled = await app.pull("notes");
    expect([pulled.status, pulled.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(pulled.text).toBe(
      '{"error":"The database is unavailable: a table is not as it was prepared; ask again in a moment"}',
    );
    const status = await app.send("/api/v1/sync/status");
    expect(status.status).toBe(200);
    expect(status.json["table_counts"]).toMatchObject({ notes: -1, events: 1, listings: 0 });
    expect((await app.pull("events")).json["total"]).toBe(1);
  });

  test("S-4.2.10 push() counts a record that the database itself refuses", async () => {
    const app = await startOnFile();
    app.runElsewhere(
      "CREATE TRIGGER guard BEFORE INSERT ON notes WHEN NEW.name = 'a' BEGIN SELECT RAISE(ABORT, 'this name is taken'); END",
    );
    expect((await app.push("notes", RECORDS)).text).toBe(
      '{"table":"notes","received":2,"upserted":1,"integrity":"no_checksum","errors":["name=a: this name is taken"],"error_count":1}',
    );
  });
});

describe("a store that does not answer", () => {
  test("S-4.3, D-3.12 status() answers 503 when the markers cannot be read", async () => {
    const app = await startOnFile();
    app.runElsewhere("DROP TABLE repsync_memory");
    const reply = await app.send("/api/v1/sync/status");
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(Object.keys(reply.json)).toEqual(["error"]);
  });

  test("S-4.3, D-3.12 status() of a disabled sync needs no store", async () => {
    const app = await startOnFile({ SYNC_ENABLED: "false" });
    app.runElsewhere("DROP TABLE repsync_memory");
    const { status, json } = await app.send("/api/v1/sync/status");
    expect([status, json["tables"], json["last_sync"]]).toEqual([200, [], {}]);
  });
});

onBackends([POSTGRESQL], "a server that fails while rows are written", (backend) => {
  test.each([
    ["disk_full", "PostgreSQL has no room left"],
    ["data_corrupted", "PostgreSQL refuses a statement (XX001)"],
  ])(
    "S-4.2.11 push() answers 500 at once, as trying again mends nothing: %s",
    async (name, error) => {
      const url = await backend.makeUrl();
      const app = await startApp({ env: { STORAGE_URL: url } });
      const sql = new SQL({ url, max: 1 });
      // What a sequence gave stays given, so it counts the tries.
      await sql.unsafe(`create sequence tries;
      create function fill() returns trigger language plpgsql as $$ begin
        perform nextval('tries'); raise exception 'secret' using errcode = '${name}'; end $$;
      create trigger fill before insert on notes for each statement execute function fill()`);
      const { status, json } = await app.push("notes", RECORDS);
      expect([status, json]).toEqual([500, { table: "notes", upserted: 0, error }]);
      const [counted] = await sql.unsafe("select last_value from tries");
      expect(counted).toEqual({ last_value: "1" });
      await sql.close();
    },
  );
});

onBackends([MONGODB], "a store that is down", () => {
  test("D-6.8, D-3.12 health() answers 503 within a second when MongoDB is down, and status() of a disabled sync 200", async () => {
    const set = await startReplicaSet({ members: 1 });
    keepResource(() => set.stop());
    const app = await startApp({ env: { STORAGE_URL: set.uri("health"), SYNC_ENABLED: "false" } });
    expect((await app.send("/v1/health")).status).toBe(200);
    await (await set.primary()).kill();
    const durationsMs: number[] = [];
    for (let i = 0; i < 3; i++) {
      const startedAtMs = performance.now();
      const { status, json } = await app.send("/v1/health");
      durationsMs.push(performance.now() - startedAtMs);
      expect([status, json["status"], json["db"]]).toEqual([503, "degraded", "unavailable"]);
    }
    // A machine that is busy with other tests may hold one of them up.
    expect(Math.min(...durationsMs)).toBeLessThan(1_000);
    const { status, json } = await app.send("/api/v1/sync/status");
    expect([status, json["tables"], json["last_sync"]]).toEqual([200, [], {}]);
  });

  test("D-6.8 health() answers 200 again when the user of MongoDB is there again", async () => {
    const set = await startReplicaSet({ members: 1, hasUsers: true });
    keepResource(() => set.stop());
    const admin = new MongoClient(set.uri("admin").replace("//", "//root:root@"));
    keepResource(() => admin.close());
    const users = admin.db("health");
    const user = { createUser: "shop", pwd: "of-a-test", roles: ["readWrite", "dbAdmin"] };
    await users.command(user);
    const address = set.uri("health").replace("//", "//shop:of-a-test@");
    const app = await startApp({ env: { STORAGE_URL: address } });
    const isStatus = async (status: number) => (await app.send("/v1/health")).status === status;
    expect(await isStatus(200)).toBe(true);
    await users.command({ dropUser: "shop" });
    await pollUntil("the service without its user", () => isStatus(503));
    await users.command(user);
    await pollUntil("the service with its user", () => isStatus(200));
  });
});
