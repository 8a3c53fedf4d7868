// D-8.2 on the collections themselves: what an erasure leaves of somebody.
import { describe, expect } from "bun:test";
import { PROFILES } from "../../../contract/documents/document-table-conflicts.ts";
import { records } from "../../../contract/documents/tables-harness.ts";
import { openParts, realScene } from "../../../contract/lookups/reputation-harness.ts";
import { liveAndErase, NAME } from "../../../repositories/support/live-and-erase.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { forgetful } from "../../../support/value-caches.ts";
import { databaseTest } from "../support.ts";

describe.skipIf(!mongoAvailable)("MongoDB: erased people", () => {
  databaseTest(
    "D-8.2 no collection holds the name of somebody who was erased, also once it is released",
    async ({ open, db }) => {
      const parts = await openParts(await open(), forgetful);
      await liveAndErase(await realScene(parts), parts);
      const collections = await db.collections();
      expect(collections.length).toBeGreaterThan(20);
      const holding: string[] = [];
      for (const collection of collections) {
        const documents = await collection.find().toArray();
        if (JSON.stringify(documents).includes(NAME)) holding.push(collection.collectionName);
      }
      expect(holding).toEqual([]);
    },
  );

  // A body that was sent back by each push that committed before it met its end where the pushes never rested.
  databaseTest(
    "D-8.2 a push of many people waits for an erasure that has begun",
    async ({ open }) => {
      const { documents, tables } = await open();
      await tables.prepare([PROFILES]);
      const rows = Array.from({ length: 100 }, (_, n) => ({ username: `person ${n}`, n }));
      const meeting = Promise.withResolvers<void>();
      let tries = 0;
      const push = async () => {
        await documents.transact({ name: "test.push" }, async (tx) => {
          if (++tries > 1) meeting.resolve();
          await tx.tables.write(PROFILES, records(rows));
        });
        meeting.resolve();
      };
      let [erasures, pushed] = [0, Promise.resolve()];
      await documents.transact({ name: "test.erase" }, async (tx) => {
        await tx.tables.excludePushes();
        if (++erasures === 1) pushed = push();
        await meeting.promise;
        tx.raise(["ana"]);
        await tx.tables.change(PROFILES, "username", "ana", null);
      });
      await pushed;
      expect(erasures).toBe(1);
      expect(tries).toBeGreaterThan(1);
    },
  );
});
