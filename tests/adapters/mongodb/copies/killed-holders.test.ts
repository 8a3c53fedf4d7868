// Databases of services and copies that were killed: what they left counts until it runs out.
import { expect, test } from "bun:test";
import { MongoClient, ObjectId } from "mongodb";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { storeAt } from "../../../../src/app/stores.ts";
import { MONGODB } from "../../../http/support/backends.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { keepResource } from "../../../support/resources.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";

const TOOLS = { clock: new SystemClock(), logger: new MemoryLogger() };
const CLAIM = { ...TOOLS, adminUsername: null, tables: [], by: "move" } as const;
const FILLER = { _id: new ObjectId("0".repeat(24)), filler: new ObjectId() };
const SERVICE = { _id: new ObjectId() };

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a killed service or copy holds its store until its time is over, and no longer",
  async () => {
    const url = await MONGODB.makeUrl();
    const store = storeAt(url);
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const holders = client.db().collection("repsync_holders");
    for (const left of [FILLER, SERVICE]) {
      await holders.insertOne({ ...left, expiresAt: new Date(Date.now() + 60_000) });
      await expect(store.claim(CLAIM)).rejects.toThrow("holds the store");
      await holders.updateOne({ _id: left._id }, { $set: { expiresAt: new Date(0) } });
      const source = await store.openStopped(TOOLS);
      await source.requireStopped();
      await source.close();
      await (await store.claim(CLAIM)).giveUp();
    }
  },
);

test.skipIf(!MONGODB.isAvailable)(
  "D-10.7 a service that runs holds its store on, and lets it go when it ends",
  async () => {
    const url = await MONGODB.makeUrl();
    const store = storeAt(url);
    const storage = await store.open(TOOLS);
    keepResource(() => storage.close());
    const client = new MongoClient(url);
    keepResource(() => client.close());
    await storage.hold();
    const holders = client.db().collection("repsync_holders");
    await holders.updateMany({}, { $set: { expiresAt: new Date(0) } });
    await pollUntil("the service to hold it anew", async () => {
      return (await holders.countDocuments({ expiresAt: { $gt: new Date() } })) === 1;
    });
    await expect(store.claim(CLAIM)).rejects.toThrow("holds the store");
    await storage.close();
    expect(await holders.countDocuments()).toBe(0);
  },
);
