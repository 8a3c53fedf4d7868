// The check that all tests of stores on MongoDB make of what is asked of it.
import { describe, expect, test } from "bun:test";
import { type Document, MongoClient } from "mongodb";
import { hostsOf, mongosArguments } from "../../support/stores/mongos-cluster.ts";
import { shardProblem, takeShardProblems } from "../../support/stores/shard-keys.ts";
import { mongoAvailable } from "../../support/stores/shared-mongo.ts";
import { makeDatabase } from "./support.ts";

const TRANSACTION = { autocommit: false };
const index = { key: { shop: 1, sku: 1 }, unique: true };
shardProblem("createIndexes", { createIndexes: "items", indexes: [index] }, "checked");

describe("shard keys", () => {
  const update = (q: Document) => ({ ...TRANSACTION, updates: [{ q }] });
  const remove = (q: Document) => ({ ...TRANSACTION, deletes: [{ q }] });
  const hint = "repsync_updated_at-shop-sku";

  test.each<[string, string, Document, string | null]>([
    ["update", "items", update({ shop: "a", sku: 1 }), null],
    ["update", "items", update({ sku: 1 }), "update of items by (sku), without shop"],
    ["delete", "items", remove({ $or: [{ shop: "a", sku: { $in: [1] } }] }), null],
    [
      ...(["delete", "items", remove({ $or: [{ shop: "a" }, { sku: 1 }] })] as const),
      "delete of items by ($or), without shop",
    ],
    ["find", "items", { filter: { updated_at: { $gte: "2026" } }, hint }, null],
    [
      "find",
      "items",
      { ...TRANSACTION, filter: { sku: 1 } },
      "find of items by (sku), without shop",
    ],
    ["update", "items", { updates: [{ q: {}, multi: true }] }, null],
    ["update", "repsync_consents", update({ _id: { 0: "ana", 1: 7 } }), null],
    [
      ...(["update", "repsync_consents", update({ username: "ana" })] as const),
      "update of repsync_consents by (username), without _id",
    ],
    ["find", "repsync_lookup_log", { filter: { _id: { 0: "head", 1: "a" } } }, null],
    ["find", "repsync_lookup_log", { filter: { $and: [{ _id: { $gt: { 0: "head" } } }] } }, null],
    [
      ...(["find", "repsync_lookup_log", { filter: { chainNumber: 1 } }] as const),
      "find of repsync_lookup_log by (chainNumber), without _id",
    ],
    [
      ...(["delete", "repsync_lookup_log", remove({})] as const),
      "delete of repsync_lookup_log by (), without _id",
    ],
    ["update", "repsync_accounts", update({ emailKey: "a@example.com" }), null],
  ])("D-1.3.2 %s of %s: %o", (name, collection, command, problem) => {
    expect(shardProblem(name, { [name]: collection, ...command }, "checked")).toBe(problem);
  });

  test.skipIf(!mongoAvailable)("D-1.3.2 the commands of opened stores are looked at", async () => {
    const database = await makeDatabase();
    const client = new MongoClient(database.url, { monitorCommands: true });
    try {
      await client.db().collection("repsync_consents").deleteMany({ purpose: "reputation_lookup" });
      expect(takeShardProblems(client.db().databaseName)).toEqual([
        "delete of repsync_consents by (purpose), without _id",
      ]);
    } finally {
      await client.close();
      await database.dispose();
    }
  });
});

test("D-1.3.2 a mongos is told its config servers, and where to listen", () => {
  const members = [{ port: 1 }, { port: 2 }] as unknown as Parameters<typeof hostsOf>[0]["members"];
  const configHosts = hostsOf({ members });
  const args = mongosArguments({ port: 3, configHosts, logFile: "/logs/mongos.log" });
  expect(args.join(" ")).toBe(
    "--configdb config/127.0.0.1:1,127.0.0.1:2 --bind_ip 127.0.0.1 --port 3 --logpath /logs/mongos.log --logappend --nounixsocket --setParameter enableTestCommands=1",
  );
});
