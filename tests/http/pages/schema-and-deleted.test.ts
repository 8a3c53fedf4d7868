// What another deployment asks of a table beside its rows, on real stores: how it is registered, and its deletes. D-7.3, D-7.6.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { keepResource } from "../../support/resources.ts";
import { MONGODB, onEveryBackend, SQLITE_FILE } from "../support/backends.ts";
import { SYNC_KEY, startApp } from "../support/sync-app.ts";

const ITEMS: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  update_columns: "__all__",
  deletes: true,
  columns: {
    k: { type: "text" },
    at: { type: "datetime" },
    secret: { type: "text", serialize: false },
  },
};
const AT = "2024-05-01T10:00:00Z";
const GONE = "2024-05-01T11:00:00Z";
const headers = { "X-Sync-Key": SYNC_KEY };
const ROUTES = ["/api/v1/sync/schema/items", "/api/v1/sync/deleted/items"];

onEveryBackend("schema and deletes of a table", (backend) => {
  const start = () => startApp({ backend, tables: { items: ITEMS } });

  test("D-7.3.1, D-14.8 schema tells how the table is registered, without what is not serialized, and what came late", async () => {
    const app = await start();
    const before = await app.send("/api/v1/sync/schema/items", { headers });
    expect([before.status, before.json]).toEqual([
      200,
      {
        ...{ table: "items", timestamp_column: "at", upsert_key: ["k"] },
        update_columns: "__all__",
        columns: {
          k: { type: "text", nullable: true, max_length: null },
          at: { type: "datetime", nullable: true, max_length: null },
        },
        ...{ deletes: true, stamped: false, conflict: "overwrite" },
        lag_seconds: backend.tellsCommits ? 0 : 60,
        ...{ direction: null, remote_id: null },
        ...{ late: { mark: expect.any(String), from: null } },
      },
    ]);
    const { mark } = before.json["late"] as { mark: string };
    await app.push("items", { records: [{ k: "a", at: AT }] });
    const after = await app.send(`/api/v1/sync/schema/items?late_after=${mark}`, { headers });
    expect(after.json["late"]).toMatchObject({ from: AT });
    const unknown = await app.send("/api/v1/sync/schema/items?late_after=never", { headers });
    expect(unknown.json["late"]).toMatchObject({ from: "" });
  });

  test("D-7.6.3 deleted lists what was deleted, and goes on from its cursor", async () => {
    const app = await start();
    await app.push("items", { records: ["a", "b", "c"].map((k) => ({ k, at: AT })) });
    const deleted = ["a", "b"].map((k) => ({ key: { k }, deleted_at: GONE }));
    expect((await app.push("items", { deleted })).json).toMatchObject({ deleted: 2 });
    const first = await app.send("/api/v1/sync/deleted/items?limit=1", { headers });
    expect(first.json).toMatchObject({ table: "items", items: [deleted[0]] });
    const rest = await app.send(
      `/api/v1/sync/deleted/items?cursor=${encodeURIComponent(String(first.json["next_cursor"]))}`,
      { headers },
    );
    expect(rest.json).toMatchObject({ items: [deleted[1]], next_cursor: null });
    const bad = await app.send("/api/v1/sync/deleted/items?cursor=never", { headers });
    expect([bad.status, Object.keys(bad.json)]).toEqual([400, ["error"]]);
  });

  test("D-3.11 both answer 405 with Allow to other methods, 400 for an unknown table, and HEAD as GET", async () => {
    const app = await start();
    for (const path of ROUTES) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        const reply = await app.send(path, { method, headers });
        expect([reply.status, reply.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
        expect(Object.keys(reply.json)).toEqual(["error"]);
      }
      const unknown = await app.send(path.replace("items", "nothing"), { headers });
      expect([unknown.status, Object.keys(unknown.json)]).toEqual([400, ["error"]]);
      const head = await app.send(path, { method: "HEAD", headers });
      expect([head.status, head.text]).toEqual([200, ""]);
    }
  });
});

describe("schema and deletes of a table while the store fails", () => {
  test("D-3.12 both answer 503 on SQLite, without path or SQL", async () => {
    const url = await SQLITE_FILE.makeUrl();
    const app = await startApp({ env: { STORAGE_URL: url }, tables: { items: ITEMS } });
    const database = new Database(url.slice("sqlite:".length));
    for (const name of ["repsync_late_rows", "repsync_deletes"]) database.run(`DROP TABLE ${name}`);
    database.close();
    for (const path of ROUTES) {
      const reply = await app.send(path, { headers });
      expect([reply.status, reply.headers.get("retry-after"), reply.text]).toEqual([
        ...[503, "1"],
        '{"error":"The database is unavailable: a table is not as it was prepared; ask again in a moment"}',
      ]);
    }
  });

  test.skipIf(!MONGODB.isAvailable)("D-3.12 both answer 503 when MongoDB refuses", async () => {
    const url = await MONGODB.makeUrl();
    const appName = "repsync_refused";
    const env = { STORAGE_URL: `${url}&appName=${appName}` };
    const app = await startApp({ env, tables: { items: ITEMS } });
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const failCommands = ["find", "aggregate", "findAndModify", "insert", "update", "delete"];
    const failPoint = (mode: string) =>
      client.db("admin").command({
        ...{ configureFailPoint: "failCommand", mode },
        ...(mode === "off" ? {} : { data: { appName, failCommands, errorCode: 13 } }),
      });
    await failPoint("alwaysOn");
    try {
      for (const path of ROUTES) {
        const reply = await app.send(path, { headers });
        expect([reply.status, reply.headers.get("retry-after"), reply.text]).toEqual([
          ...[503, "1"],
          '{"error":"MongoDB refused the request: Unauthorized; ask again in a moment"}',
        ]);
      }
    } finally {
      await failPoint("off");
    }
  });
});
