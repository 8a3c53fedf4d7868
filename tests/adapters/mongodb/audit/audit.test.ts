// D-6.5 in the collections themselves: every change of them is found, and no reply is ahead of its record.
import { describe, expect } from "bun:test";
import type { Binary } from "mongodb";
import { verifyAudit } from "../../../../src/usecases/reputation/audit/verify-audit.ts";
import { BY_ROOT, openParts, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { MAC } from "../../../repositories/support/people.ts";
import { SEED } from "../../../support/seed.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import {
  BLOCKS,
  failureOf,
  LEDGER,
  openScene,
  remembering,
  verify,
} from "../reputation-support.ts";
import { loadUntilKilled } from "../service.ts";
import { databaseTest } from "../support.ts";

/** Of the records of a block, whose first half is what they share. */
function requestIdsIn(packed: Binary): readonly string[] {
  const [, own] = JSON.parse(new TextDecoder().decode(packed.value()));
  return own.map(([, requestId]: readonly string[]) => requestId);
}

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

  databaseTest(
    "D-6.5 every reply received before kill -9 has its record, and the log verifies",
    async (database) => {
      const random = (below: number) => Math.floor((((SEED * 7919) % 10_007) / 10_007) * below);
      for (let round = 0; round < 2; round++) {
        const received = await loadUntilKilled(database.url, 40 + random(200) + round * 200);
        // What it left open would otherwise keep its collections from being dropped for a minute.
        await database.db.admin().command({ killAllSessions: [] });
        const blocks = await database.db.collection(LEDGER).find(BLOCKS).toArray();
        const kept = new Set(blocks.flatMap(({ packed }) => requestIdsIn(packed as Binary)));
        expect(received.filter((id) => !kept.has(id))).toEqual([]);
        expect(received.length).toBeGreaterThan(0);
        const pepper = await database.db
          .collection("repsync_secrets")
          .findOne({ name: "api_key_pepper" });
        const encoder = new TextEncoder();
        const pepperKey = encoder.encode(String(pepper?.["secret"]));
        const auditKey = encoder.encode(MAC.hmacHex(pepperKey, "repsync.audit.key.v1"));
        const parts = await openParts(await database.open(), remembering);
        expect((await verifyAudit({ audit: parts.audit, mac: MAC, auditKey })).problem).toBeNull();
      }
    },
  );
});
