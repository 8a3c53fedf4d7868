import { describe, expect } from "bun:test";
import { type Document, MongoClient, type Timestamp } from "mongodb";
import { DeleteStream } from "../../../../src/adapters/mongodb/deletes/delete-stream.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { ITEMS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest } from "../support.ts";

const PIECES = 100;

describe.skipIf(!mongoAvailable)("MongoDB: the stream of deletes", () => {
  databaseTest(
    "D-7.6 a stream that goes on for weeks lets go of what it gave",
    async (database) => {
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      const client = new MongoClient(database.url);
      const db = client.db();
      const items = db.collection("items");
      const { operationTime }: Document = await db.command({ ping: 1 });
      const startAtOperationTime = operationTime as Timestamp;
      const deps = { client, db, clock: new SystemClock() };
      const stream = new DeleteStream(deps, [ITEMS], { startAtOperationTime });
      const given: WeakRef<object>[] = [];
      while (given.length < PIECES) {
        await items.insertOne({ k: "a" });
        await items.deleteOne({ k: "a" });
        const { events } = await stream.next();
        if (events.length > 0) given.push(new WeakRef(events));
      }
      // A weak reference is held until the turn in which it was made has ended.
      await db.command({ ping: 1 });
      Bun.gc(true);
      const held = given.filter((events) => events.deref() !== undefined);
      expect(held.length).toBeLessThan(PIECES / 2);
      stream.close();
      await client.close();
    },
  );
});
