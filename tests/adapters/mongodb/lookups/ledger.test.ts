// D-6.4, D-6.5 The collection that batches of lookups write.
import { describe, expect } from "bun:test";
import type { Db, Document } from "mongodb";
import { wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import { chainOf, failureOf, LEDGER, openScene, UNLIMITED, verify } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const LIMITS = { callsPerMinute: 1_000_000_000, callsPerMonth: null };

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

/** Puts documents where earlier versions had them. */
async function asBefore(db: Db): Promise<void> {
  const all: readonly Document[] = await db.collection(LEDGER).find().toArray();
  for (const [name, prefix] of [
    ["repsync_usage", "usage/"],
    ["repsync_audit_heads", "head/"],
  ] as const) {
    const found = all.filter(({ _id }) => _id.startsWith(prefix));
    const former = found.map((one) => ({ ...one, _id: one["_id"].slice(prefix.length) }));
    expect(former.length).toBeGreaterThan(0);
    await db.collection(name).insertMany(former);
  }
  const blocks = all.filter(({ records }) => records !== undefined);
  await db.collection("repsync_audit").insertMany([...blocks, { _id: 7 as never, records: [{}] }]);
  await db.collection(LEDGER).drop();
}

describe.skipIf(!mongoAvailable)("MongoDB: the ledger", () => {
  databaseTest(
    "D-6.5 what stands in the place of the next records is never replaced",
    async (database) => {
      const { scene, hash } = await setScene(database);
      const ledger = database.db.collection<{ _id: string }>(LEDGER);
      const chainId = chainOf(await ledger.findOne({ chainNumber: 1 } as object));
      const inTheWay = { _id: `${chainId}/0000000000000004`, records: [{ a: 1 }] };
      await ledger.insertOne(inTheWay);
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({ kind: "commit_failed" });
      expect(await ledger.findOne({ _id: inTheWay._id })).toEqual(inTheWay);
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("consent_required");
      expect(await ledger.findOne({ _id: inTheWay._id })).toEqual(inTheWay);
      await ledger.deleteOne({ _id: inTheWay._id });
      expect(await verify(scene.parts)).toEqual({ problem: null, chains: 3, records: 7 });
    },
  );

  databaseTest(
    "D-6.4, D-6.5 what earlier versions kept elsewhere is moved by whoever starts first",
    async (database) => {
      const { hash } = await setScene(database);
      await asBefore(database.db);
      const [scene] = await Promise.all([1, 2, 3].map(() => openScene(database)));
      if (scene === undefined) throw new Error("There is one");
      expect((await verify(scene.parts)).problem).toMatchObject({ chainId: "/" });
      await database.db.collection(LEDGER).deleteOne({ _id: 7 as never });
      expect(await verify(scene.parts)).toEqual({ problem: null, chains: 2, records: 6 });
      await scene.lookUp(hash, "ana");
      expect((await scene.parts.usage.read("ana", LIMITS)).reading.minuteCalls).toBe(7);
      expect(await verify(scene.parts)).toEqual({ problem: null, chains: 3, records: 7 });
      const left = await database.db
        .listCollections({ name: /^repsync_(usage|audit|audit_heads)$/ })
        .toArray();
      expect(left).toEqual([]);
    },
  );
});
