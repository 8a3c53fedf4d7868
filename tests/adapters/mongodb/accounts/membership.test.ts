// D-8.2 on the collections themselves: what an erasure leaves of somebody.
import { describe, expect } from "bun:test";
import { openParts } from "../../../contract/lookups/reputation-harness.ts";
import { liveAndErase, NAME } from "../../../repositories/support/live-and-erase.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { forgetful, realScene } from "../reputation-support.ts";
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
});
