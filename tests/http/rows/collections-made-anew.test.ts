// Collections of MongoDB that a migration of an application takes away, makes anew or changes while a service goes on serving. D-14.6.
import { expect, test } from "bun:test";
import { type Db, MongoClient } from "mongodb";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { keepResource } from "../../support/resources.ts";
import { jsonBody } from "../reputation/people.ts";
import { MONGODB, onBackends, SQLITE_FILE } from "../support/backends.ts";
import { type RunApp, startRunApp } from "../sync-runs/support/run-apps.ts";

const ITEMS: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    v: { type: "text" },
    at: { type: "datetime" },
  },
};
const { id: _, ...unnumbered } = ITEMS.columns;
const DELETED: TableEntry = { ...ITEMS, columns: unnumbered, deletes: true };
const OLD = "2026-01-01T00:00:00";

interface Ends {
  readonly local: RunApp;
  readonly remote: RunApp;
  /** The database here as the application sees it. */
  readonly db: Db;
  readonly url: string;
}

/** Two ends with the rows a, b and c. */
async function startEnds(entry: TableEntry): Promise<Ends> {
  const tables = { items: entry };
  const remote = await startRunApp({ tables, env: { STORAGE_URL: await SQLITE_FILE.makeUrl() } });
  const url = await MONGODB.makeUrl();
  const env = { STORAGE_URL: url, SYNC_REMOTE_URL: remote.url };
  const local = await startRunApp({ tables, env });
  const client = new MongoClient(url, { writeConcern: { w: "majority" } });
  keepResource(() => client.close());
  const records = ["a", "b", "c"].map((k) => ({ k, v: "1", at: `${OLD}Z` }));
  await local.push("items", { records });
  expect((await local.trigger()).json["status"]).toBe("success");
  return { local, remote, db: client.db(), url };
}

async function expectRows(ends: readonly RunApp[], ...expected: readonly string[]): Promise<void> {
  for (const end of ends) {
    expect((await end.rows("items")).map(({ k, v }) => `${k} ${v}`)).toEqual([...expected]);
  }
}

function later(): string {
  return new Date().toISOString().slice(0, -1);
}

onBackends([MONGODB], "a collection that a migration changes", () => {
  test("D-14.6 while it is renamed away, nothing is moved, and none is made; one that takes its name is prepared", async () => {
    const { local, remote, db } = await startEnds(ITEMS);
    await db.collection("items").rename("items_old");
    expect((await local.ask("/overview")).status).toBe(200);
    await remote.push("items", { records: [{ k: "d", v: "1", at: `${later()}Z` }] });
    const { json } = await local.trigger();
    expect(json["error"]).toContain("NamespaceNotFound; try again in a few seconds");
    expect((await local.push("items", { records: [{ k: "e", at: null }] })).status).toBe(500);
    const repair = jsonBody({ table: "items", repair: "push", delete: true });
    expect((await local.ask("/compare", repair)).status).toBe(500);
    await local.lookAtRegistry();
    expect(await db.listCollections({ name: "items" }).toArray()).toEqual([]);
    const copied = [{ $match: { k: { $ne: "c" } } }, { $out: "items_new" }];
    await db.collection("items_old").aggregate(copied).toArray();
    await db.collection("items_new").updateOne({ k: "a" }, { $set: { v: "2", at: later() } });
    await db.collection("items_new").insertOne({ id: 50, k: "f", v: "1", at: later() });
    await db.collection("items_new").rename("items");
    await local.lookAtRegistry();
    await local.push("items", { records: [{ k: "e", v: "1", at: `${later()}Z` }] });
    expect((await db.collection("items").findOne({ k: "e" }))?.["id"]).toBe(51);
    expect((await local.trigger({ full: true })).json["status"]).toBe("success");
    await expectRows([local, remote], "a 2", "b 1", "c 1", "d 1", "e 1", "f 1");
  });

  test("D-14.6 an index that a migration puts in the place of repsync's serves, under another name", async () => {
    const { local, db } = await startEnds(ITEMS);
    await db.collection("items").dropIndex("repsync_k");
    await db.collection("items").createIndex({ k: 1 }, { unique: true });
    await local.lookAtRegistry();
    expect((await local.push("items", { records: [{ k: "d", at: null }] })).status).toBe(200);
  });

  for (const [what, change, reason] of [
    [
      "a view",
      (db: Db) => db.createCollection("items", { viewOn: "items_old", pipeline: [] }),
      "CommandNotSupportedOnView",
    ],
    ["a collection with keys of another type", insertNumbers, "an index of repsync is missing"],
  ] as const) {
    test(`D-14.6 ${what} in its place is not taken, also by a start`, async () => {
      const { local, remote, db, url } = await startEnds(ITEMS);
      await db.collection("items").rename("items_old");
      await change(db);
      expect((await local.trigger()).json["error"]).toContain(
        `MongoDB refused the request: ${reason}`,
      );
      await local.lookAtRegistry();
      expect((await local.trigger()).json["error"]).toContain('Table "items"');
      await expectRows([remote], "a 1", "b 1", "c 1");
      await local.stop();
      const again = startRunApp({ tables: { items: ITEMS }, env: { STORAGE_URL: url } });
      await expect(again).rejects.toThrow('Table "items"');
    });
  }

  test("D-14.6 a view in its place keeps no other table with deletes from being prepared", async () => {
    const { local, db } = await startEnds(DELETED);
    await db.renameCollection("items", "items_old");
    await db.createCollection("items", { viewOn: "items_old", pipeline: [] });
    await local.lookAtRegistry();
    const added = { ...jsonBody({ entry: DELETED }), method: "PUT" };
    expect((await local.ask("/tables/more", added)).status).toBe(201);
    await db.collection("more").drop();
    await db.collection("more").insertOne({ k: "a", at: null });
    await local.lookAtRegistry();
    expect((await local.push("more", { records: [{ k: "b" }] })).json["upserted"]).toBe(1);
    expect((await local.ask("/overview")).json["registry_problem"]).toStartWith(
      'Table "items": its name belongs to a view',
    );
  });

  for (const [what, options] of [
    ["capped", { capped: true, size: 100_000 }],
    ["that tells no letter case", { collation: { locale: "en", strength: 2 } }],
  ] as const) {
    test(`D-14.6 a collection ${what} in its place is not used, with the same indexes`, async () => {
      const { local, db } = await startEnds(ITEMS);
      const [, ...indexes] = await db.collection("items").indexes();
      const documents = await db.collection("items").find().toArray();
      await db.collection("items").drop();
      const made = await db.createCollection("items", options);
      const simple = indexes.map((index) => ({ ...index, collation: { locale: "simple" } }));
      await made.createIndexes(simple);
      await made.insertMany(documents);
      await local.lookAtRegistry();
      const pushed = await local.push("items", {
        records: [{ k: "A", v: "2", at: `${later()}Z` }],
      });
      expect(await made.distinct("v")).toEqual(["1"]);
      expect([pushed.status, pushed.json["error"]]).toEqual([
        ...[400, expect.stringContaining('Table "items"')],
      ]);
    });
  }

  test("D-7.6 a key column that is renamed, and renamed back, deletes nothing at either end", async () => {
    const { local, remote, db } = await startEnds(DELETED);
    await db.collection("items").dropIndexes();
    await db.collection("items").updateMany({}, { $rename: { k: "key" } });
    await db.collection("items").updateMany({}, { $rename: { key: "k" } });
    await local.lookAtRegistry();
    expect((await local.trigger()).json["error"]).toContain("compare the table and repair it");
    await expectRows([local, remote], "a 1", "b 1", "c 1");
    await local.ask("/compare", jsonBody({ table: "items", repair: "push" }));
    await db.collection("items").deleteOne({ k: "c" });
    expect((await local.trigger()).json["status"]).toBe("success");
    await expectRows([local, remote], "a 1", "b 1");
  });
});

async function insertNumbers(db: Db): Promise<void> {
  await db.collection("items").insertMany([1, 2].map((k) => ({ k, v: "1", at: later() })));
}
