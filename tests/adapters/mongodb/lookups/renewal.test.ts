// D-6.3 People who are remembered are read again beside the lookups.
import { describe, expect } from "bun:test";
import type { Db } from "mongodb";
import type { LookupOutcome } from "../../../../src/domain/reputation/lookups/lookup-batch.ts";
import type { VersionedCache } from "../../../../src/ports/lookups/versioned-cache.ts";
import { openParts, PROFILES, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import {
  LaterClock,
  openScene,
  realScene,
  remembering,
  UNLIMITED,
  usesOf,
} from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const PEOPLE = Array.from({ length: 32 }, (_, i) => `person-${i}`);
const PERSON = "person-7";

/** Enough people for a renewal, all remembered by the instance of `lookUpAll`. */
async function rememberAll(database: TestDatabase) {
  const clock = new LaterClock();
  let kept = 0;
  const makeCache = <Value>(): VersionedCache<Value> => {
    const cache = remembering<Value>();
    const set: typeof cache.set = (...entry) => {
      kept++;
      cache.set(...entry);
    };
    return {
      get: (...of) => cache.get(...of),
      set,
      clear: () => cache.clear(),
      counts: () => cache.counts(),
    };
  };
  const scene = realScene(await openParts(await database.open("", clock), makeCache));
  await scene.enrol("caller", UNLIMITED);
  const { hash } = await scene.giveKey("caller");
  await scene.push(PROFILES, ...PEOPLE.map((username) => ({ username, display_name: "Before" })));
  const lookUpAll = async () =>
    await scene.lookUpMany(PEOPLE.map((username) => ({ keyHash: hash, username })));
  // The first sees the state, the second reads people in it.
  for (let i = 0; i < 2; i++) await lookUpAll();
  const advance = (durationMs: number) => clock.advance(durationMs);
  /** How many callers and people were remembered. */
  const keptSoFar = () => kept;
  return { lookUpAll, advance, keptSoFar, lookUp: async () => await scene.lookUp(hash, PERSON) };
}

function nameOf(outcome: LookupOutcome): unknown {
  return outcome.kind === "answered" ? outcome.subject.profile?.["display_name"] : null;
}

async function rename(db: Db, name: string): Promise<void> {
  await db.collection("profiles").updateOne({ username: PERSON }, { $set: { display_name: name } });
}

describe.skipIf(!mongoAvailable)("MongoDB: people read again beside lookups", () => {
  databaseTest(
    "D-6.3 a transaction of another program shows in half the time it may take",
    async (database) => {
      const { lookUpAll, lookUp, advance } = await rememberAll(database);
      const session = database.db.client.startSession();
      try {
        session.startTransaction({ writeConcern: { w: "majority" } });
        const change = { $set: { display_name: "After" } };
        const profiles = database.db.collection("profiles");
        await profiles.updateOne({ username: PERSON }, change, { session });
        // What is counted but not committed yet is remembered from here on.
        for (let i = 0; i < 2; i++) await lookUpAll();
        await session.commitTransaction();
      } finally {
        await session.endSession();
      }
      expect(nameOf(await lookUp())).toBe("Before");
      advance(50_000);
      await lookUpAll();
      while (nameOf(await lookUp()) === "Before");
      expect(nameOf(await lookUp())).toBe("After");
    },
  );

  databaseTest("D-6.3 what was read again is remembered for as long anew", async (database) => {
    const { lookUpAll, lookUp, advance, keptSoFar } = await rememberAll(database);
    const { db } = database;
    const kept = keptSoFar();
    expect(kept).toBe(33);
    advance(50_000);
    await lookUpAll();
    while (keptSoFar() === kept) await lookUp();
    expect(keptSoFar()).toBe(66);
    advance(99_000);
    const before = await readsOf(db);
    await lookUp();
    expect(await readsOf(db)).toBe(before);
    advance(1_000);
    await lookUp();
    expect(await readsOf(db)).toBeGreaterThan(before);
  });

  databaseTest("D-6.3 nothing that ends while people are read is answered", async (database) => {
    const { lookUpAll, lookUp, advance } = await rememberAll(database);
    const other = await openScene(database);
    for (let round = 0; round < 40; round++) {
      const { id } = await other.consent(PERSON);
      for (let i = 0; i < 2; i++) await lookUpAll();
      expect(wordOf(await lookUp())).toBe("allowed");
      advance(50_000);
      // It begins with a renewal.
      const meanwhile = lookUpAll();
      if (round % 2 === 0) await other.parts.consents.revoke(PERSON, { id, nowMs: Date.now() });
      else await database.db.collection("repsync_consents").deleteMany({ username: PERSON });
      expect(wordOf(await lookUp())).toBe("consent_required");
      await meanwhile;
      expect(wordOf(await lookUp())).toBe("consent_required");
    }
  });

  databaseTest("D-6.3 a change shows though people are read meanwhile", async (database) => {
    const { lookUpAll, lookUp, advance } = await rememberAll(database);
    for (let round = 0; round < 40; round++) {
      for (let i = 0; i < 2; i++) await lookUpAll();
      advance(50_000);
      const meanwhile = lookUpAll();
      await rename(database.db, `Name ${round}`);
      for (let i = 0; i < 3; i++) expect(nameOf(await lookUp())).toBe(`Name ${round}`);
      await meanwhile;
    }
  });
});

/** How often people were looked for by name. */
async function readsOf(db: Db): Promise<number> {
  return await usesOf(db, "profiles", "repsync_username");
}
