import { describe } from "bun:test";
import { MongoClient } from "mongodb";
import { MongoDocuments } from "../../../../src/adapters/mongodb/documents/mongo-documents.ts";
import { REQUEST_CALLS } from "../../../../src/adapters/mongodb/driver/deadline.ts";
import { PrimaryWatch } from "../../../../src/adapters/mongodb/driver/primary-watch.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { documentsContract } from "../../../contract/documents/documents-contract.ts";
import type { OpenedDocuments } from "../../../contract/documents/documents-harness.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import { makeDatabase } from "../support.ts";

describe.skipIf(!mongoAvailable)("MongoDB", () => {
  documentsContract({ name: "MongoDB", open });
});

async function open(): Promise<OpenedDocuments> {
  const { db, url, dispose } = await makeDatabase();
  const clients: MongoClient[] = [];
  const openInstance = async () => {
    const client = new MongoClient(url, { writeConcern: { w: "majority" } });
    clients.push(client);
    const own = client.db();
    const clock = new SystemClock();
    return new MongoDocuments({
      client,
      db: own,
      clock,
      primaryWatch: new PrimaryWatch(client, own),
      storeClock: null,
      callLimit: REQUEST_CALLS,
    });
  };
  return {
    documents: await openInstance(),
    nowMs: () => Date.now(),
    openSecond: openInstance,
    damage: async ({ name }, key) => {
      const _id = Object.fromEntries(key.entries());
      const stored = db.collection<{ _id: object }>(`repsync_${name}`);
      await stored.updateOne({ _id }, { $set: { key: ["another"] } });
    },
    dispose: async () => {
      for (const client of clients) await client.close();
      await dispose();
    },
  };
}
