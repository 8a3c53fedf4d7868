// D-6.5 in the collections themselves: every change of them is found, and no reply is ahead of its record.
import { describe, expect } from "bun:test";
import { BY_ROOT, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { failureOf, LEDGER, openScene, verify } from "../reputation-support.ts";
import { databaseTest } from "../support.ts";

describe.skipIf(!mongoAvailable)("MongoDB: the audit log verifies", () => {
  databaseTest(
    "D-6.5, D-5.8 a lookup whose record cannot be written is not answered, and does not count",
    async (database) => {
      const scene = await openScene(database);
      const { parts } = scene;
      await scene.enrol("ana");
      await scene.consent("ana");
      const { hash } = await scene.giveKey("ana");
      for (let i = 0; i < 7; i++) await scene.lookUp(hash, "ana");
      const { db } = database;
      await db.command({ collMod: LEDGER, validator: { kind: { $ne: "block" } } });
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({
        kind: "store_unavailable",
      });
      const limits = { callsPerMinute: 30, callsPerMonth: null };
      expect((await parts.usage.read("ana", limits)).reading.minuteCalls).toBe(7);
      await db.command({ collMod: LEDGER, validator: {} });
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      expect(await verify(parts)).toMatchObject({ problem: null, records: 8 });
    },
  );

  databaseTest(
    "D-6.5, D-5.5 erase() leaves no key behind for a person who is looked up at the same moment",
    async (database) => {
      const scene = await openScene(database);
      const other = await openScene(database);
      await scene.enrol("caller", { plan: "business" });
      const { hash } = await scene.giveKey("caller");
      for (let round = 0; round < 20; round++) {
        await scene.enrol("ana");
        const [outcome] = await Promise.all([
          other.lookUp(hash, "ana"),
          scene.parts.membership.erase("ana"),
        ]);
        expect(["consent_required", "profile_not_found"]).toContain(wordOf(outcome));
        const kept = await database.db
          .collection("repsync_subjects")
          .countDocuments({ username: "ana" });
        expect(kept).toBe(0);
        await scene.parts.administration.release("ana", BY_ROOT);
      }
      expect((await verify(scene.parts)).problem).toBeNull();
    },
  );
});
