import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { MEMORY } from "../../../src/repositories/run-collections.ts";
import { withStore } from "../../support/stores/with-store.ts";
import { onEveryBackend } from "../support/backends.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { startApp } from "../support/sync-app.ts";
import { TABLE_NAMES, TABLES } from "../support/tables.ts";

const STATUS = "/api/v1/sync/status";

onEveryBackend("status()", (backend) => {
  test("S-2.5, S-1.3 status() counts the rows of every table of the registry", async () => {
    const app = await startApp({ backend });
    await app.push("notes", { records: [{ name: "a" }, { name: "b" }, { name: "a" }] });
    await app.push("events", { records: [{ code: 1 }] });
    const { status, headers, json } = await app.send(STATUS);
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    const none = Object.fromEntries(TABLE_NAMES.map((name) => [name, 0]));
    expect(json).toEqual({
      sync_enabled: true,
      tables: TABLE_NAMES,
      table_counts: { ...none, notes: 2, events: 1 },
      last_sync: {},
      server_time: json["server_time"],
      features: { gzip: true, sha256: true, incremental: true },
    });
  });

  test("D-7.2, S-4.3, S-2.5 status() names its extensions, and shows nothing of the tables when sync is disabled", async () => {
    const { notes } = TABLES;
    const env = { SYNC_ENABLED: "false" };
    const { send } = await startApp({ backend, tables: { notes }, env });
    const { status, headers, json } = await send(STATUS);
    expect(status).toBe(200);
    expect(headers.get("x-sync-extensions")).toBe("conflict-newer, schema, digest, deletes");
    expect(json).toEqual({
      sync_enabled: false,
      tables: [],
      table_counts: {},
      last_sync: {},
      server_time: json["server_time"],
      features: { gzip: true, sha256: true, incremental: true },
    });
  });
});

describe("status()", () => {
  test("S-2.5 status() has its fields in the document's order", async () => {
    const { send } = await startApp({ tables: {} });
    expect((await send(STATUS)).text).toMatch(
      /^\{"sync_enabled":true,"tables":\["profiles","platform_accounts"\],"table_counts":\{"profiles":0,"platform_accounts":0\},"last_sync":\{\},"server_time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z","features":\{"gzip":true,"sha256":true,"incremental":true\}\}$/,
    );
  });

  test("S-2.5 status() tells the current time in UTC", async () => {
    const { send } = await startApp();
    const before = Date.now();
    const serverTime = Date.parse(String((await send(STATUS)).json["server_time"]));
    expect(serverTime).toBeGreaterThanOrEqual(before);
    expect(serverTime).toBeLessThanOrEqual(Date.now());
  });

  test("S-2.5 status() shows the markers of registry tables that are not empty", async () => {
    const file = join(makeTempFolder(), "repsync.db");
    const env = { STORAGE_URL: `sqlite:${file}` };
    const app = await startApp({ env });
    await withStore(`sqlite:${file}`, ({ documents }) =>
      documents.transact({ name: "test.memory" }, async (tx) => {
        await tx.read();
        const at = "2026-03-01T10:00:00.123456Z";
        tx.put(MEMORY, { table: "notes", direction: "pull", marker: at });
        tx.put(MEMORY, { table: "notes", direction: "push", marker: "2026-03-02" });
        tx.put(MEMORY, { table: "events", direction: "push", marker: "" });
        tx.put(MEMORY, { table: "no_such_table", direction: "push", marker: "2026-03-03" });
      }),
    );
    expect((await app.send(STATUS)).json["last_sync"]).toEqual({
      sync_last_push_notes: "2026-03-02",
      sync_last_pull_notes: "2026-03-01T10:00:00.123456Z",
    });
    await app.stop();
    const disabled = await startApp({ env: { ...env, SYNC_ENABLED: "false" } });
    expect((await disabled.send(STATUS)).json["last_sync"]).toEqual({});
  });
});

describe("health()", () => {
  test("R-2.5, D-5.1, D-6.8 health() answers 200 with its own fields and success beside them", async () => {
    const { send } = await startApp({ env: { SYNC_ENABLED: "false" } });
    const before = Date.now();
    const { status, headers, text, json } = await send("/v1/health");
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(text).toBe(
      `{"success":true,"status":"ok","db":"ok","php":"bun ${Bun.version}","timestamp":"${json["timestamp"]}"}`,
    );
    expect(Date.parse(String(json["timestamp"]))).toBeGreaterThanOrEqual(before);
    expect(headers.get("cache-control")).toBeNull();
  });
});
