// D-6.4, D-6.5 The collection that batches of lookups write.
import { describe, expect } from "bun:test";
import { wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import { chainOf, failureOf, LEDGER, openScene, UNLIMITED, verify } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

/** Two chains, of three calls each by one account. */
async function setScene(database: TestDatabase) {
  const scene = await openScene(database);
  await scene.enrol("ana", UNLIMITED);
  const { hash } = await scene.giveKey("ana");
  for (const instance of [scene, await openScene(database)]) {
    for (let i = 0; i < 3; i++) await instance.lookUp(hash, "ana");
  }
  return { scene, hash };
}

describe.skipIf(!mongoAvailable)("MongoDB: the lookup log", () => {
  databaseTest(
    "D-6.5 what stands in the place of the next records is never replaced",
    async (database) => {
      const { scene, hash } = await setScene(database);
      const log = database.db.collection<{ _id: string }>(LEDGER);
      const chainId = chainOf(await log.findOne({ chainNumber: 1 } as object));
      const inTheWay = { _id: `${chainId}/0000000000000004`, records: [{ a: 1 }] };
      await log.insertOne(inTheWay);
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({ kind: "commit_failed" });
      expect(await log.findOne({ _id: inTheWay._id })).toEqual(inTheWay);
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("consent_required");
      expect(await log.findOne({ _id: inTheWay._id })).toEqual(inTheWay);
      await log.deleteOne({ _id: inTheWay._id });
      expect(await verify(scene.parts)).toEqual({ problem: null, chains: 3, records: 7 });
    },
  );
});
