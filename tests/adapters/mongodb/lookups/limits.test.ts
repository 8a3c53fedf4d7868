// D-6.4 over instances: exact counts on one database, by the server's time.
import { describe, expect } from "bun:test";
import type { Account } from "../../../../src/domain/reputation/accounts/account.ts";
import { type Scene, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { countWords, openScene } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

/** Makes calls on three instances at once, singly and in batches, and counts the outcomes. */
async function countOutcomes(
  database: TestDatabase,
  plan: Partial<Account>,
  callsPerInstance: number,
): Promise<Record<string, number>> {
  const scenes: Scene[] = [];
  for (let i = 0; i < 3; i++) scenes.push(await openScene(database));
  const [first] = scenes as [Scene];
  await first.enrol("ana", plan);
  const { hash } = await first.giveKey("ana");
  const words = await Promise.all(scenes.map((scene) => callAll(scene, hash, callsPerInstance)));
  const counts = countWords(words.flat());
  const limits = { callsPerMinute: 1_000, callsPerMonth: null };
  const { reading } = await first.parts.usage.read("ana", limits);
  expect(reading.minuteCalls).toBe(counts["profile_not_found"] ?? 0);
  expect(reading.month?.used).toBe(counts["profile_not_found"] ?? 0);
  return counts;
}

async function callAll(scene: Scene, hash: string, calls: number): Promise<string[]> {
  const words: Promise<string[]>[] = [];
  for (let left = calls, size = 1; left > 0; left -= size, size = Math.min(left, size + 3)) {
    const batch = Array(size).fill({ keyHash: hash, username: "x" });
    words.push(scene.lookUpMany(batch).then((outcomes) => outcomes.map(wordOf)));
  }
  return (await Promise.all(words)).flat();
}

describe.skipIf(!mongoAvailable)("MongoDB: limits over instances", () => {
  databaseTest("D-6.4 of 300 calls by three instances exactly the limit succeed", async (db) => {
    const plan = { plan: "enterprise", rateLimitPerMinute: 101 } as const;
    expect(await countOutcomes(db, plan, 100)).toEqual({
      profile_not_found: 101,
      rate_limited: 199,
    });
  });

  databaseTest(
    "D-6.4 of a month's calls by three instances exactly the quota succeed",
    async (db) => {
      const plan = { plan: "enterprise", callsPerMonth: 57 } as const;
      expect(await countOutcomes(db, plan, 40)).toEqual({
        profile_not_found: 57,
        quota_exceeded: 63,
      });
    },
  );

  databaseTest(
    "R-8, D-6.4 a caller with 30 calls of 30 on three instances is not refused",
    async (db) => {
      expect(await countOutcomes(db, {}, 10)).toEqual({ profile_not_found: 30 });
    },
  );
});
