// D-6.3 What lookups remember: used while nothing has changed, and never after a change, whoever made it.
import { describe, expect } from "bun:test";
import { type Document, MongoClient } from "mongodb";
import type { LookupOutcome } from "../../../../src/domain/reputation/lookups/lookup-batch.ts";
import {
  openParts,
  PROFILES,
  type Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import {
  LaterClock,
  LEDGER,
  openScene,
  realScene,
  remembering,
  UNLIMITED,
  usesOf,
  verify,
} from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

/** Ana's profile and a caller's key, remembered by the instance of `lookUp`, and another instance. */
interface Remembered {
  readonly db: TestDatabase["db"];
  readonly second: Scene;
  readonly consentId: number;
  readonly keyId: string;
  readonly lookUp: () => Promise<LookupOutcome>;
}

async function remember(database: TestDatabase): Promise<Remembered> {
  const [first, second] = [await openScene(database), await openScene(database)];
  await first.enrol("caller", UNLIMITED);
  await first.enrol("ana");
  const { id: consentId } = await first.consent("ana");
  const { id: keyId, hash } = await first.giveKey("caller");
  const lookUp = () => first.lookUp(hash, "ana");
  // The first sees the state, the second reads ana in it, the third is answered from memory.
  for (let i = 0; i < 2; i++) await lookUp();
  const before = await lookUp();
  expect(wordOf(before)).toBe("allowed");
  expect(subjectOf(await lookUp())).toBe(subjectOf(before));
  return { db: database.db, second, consentId, keyId, lookUp };
}

function subjectOf(outcome: LookupOutcome) {
  return outcome.kind === "answered" ? outcome.subject : null;
}

/** A change, and the field of the outcome that has to tell of it. */
interface Change {
  readonly what: string;
  readonly make: (remembered: Remembered) => Promise<unknown>;
  readonly seen: (outcome: LookupOutcome) => unknown;
  readonly expected: unknown;
}

const nameOf = (outcome: LookupOutcome) => subjectOf(outcome)?.profile?.["display_name"];
const consentsOf = (outcome: LookupOutcome) => subjectOf(outcome)?.consents.length;
const accountsOf = (outcome: LookupOutcome) => subjectOf(outcome)?.accounts.length;
const limitOf = (outcome: LookupOutcome) =>
  outcome.kind === "key_refused" ? null : outcome.quotas.minute.limit;

const CHANGES: readonly Change[] = [
  {
    what: "a push by another instance",
    make: ({ second }) => second.push(PROFILES, { username: "ana", display_name: "Pushed" }),
    seen: nameOf,
    expected: "Pushed",
  },
  {
    what: "a profile that another instance changed",
    make: ({ second }) =>
      second.parts.profiles.change("ana", { display_name: "Patched", nowMs: Date.now() }),
    seen: nameOf,
    expected: "Patched",
  },
  {
    what: "a consent that another instance granted",
    make: ({ second }) => second.consent("ana", "profile_lookup"),
    seen: consentsOf,
    expected: 2,
  },
  {
    what: "a consent that another instance revoked",
    make: ({ second, consentId }) =>
      second.parts.consents.revoke("ana", { id: consentId, nowMs: Date.now() }),
    seen: wordOf,
    expected: "consent_required",
  },
  {
    what: "an erasure by another instance",
    make: ({ second }) => second.parts.membership.erase("ana"),
    seen: wordOf,
    expected: "profile_not_found",
  },
  {
    what: "a key that another instance revoked",
    make: ({ second, keyId }) =>
      second.parts.apiKeys.revoke("caller", { id: keyId, nowMs: Date.now() }),
    seen: wordOf,
    expected: "api_key_revoked",
  },
  {
    what: "a key that another instance rotated",
    make: ({ second, keyId }) => {
      const successor = { id: "next", hash: "hash of next", prefix: "rep_live_", last4: "next" };
      const rotation = { id: keyId, successor, overlapSeconds: 0, nowMs: Date.now() };
      return second.parts.apiKeys.rotate("caller", rotation);
    },
    seen: wordOf,
    expected: "api_key_revoked",
  },
  {
    what: "a plan that another instance changed",
    make: ({ second }) =>
      second.parts.storage.accounts.update("caller", { rateLimitPerMinute: 7_777 }),
    seen: limitOf,
    expected: 7_777,
  },
  {
    what: "an account that another instance removed",
    make: ({ second }) => second.parts.storage.accounts.remove("caller"),
    seen: wordOf,
    expected: "api_key_invalid",
  },
  {
    what: "the caller's erasure by another instance",
    make: ({ second }) => second.parts.membership.erase("caller"),
    seen: wordOf,
    expected: "api_key_invalid",
  },
  {
    what: "a row that another program changed",
    make: ({ db }) =>
      db.collection("profiles").updateOne({ username: "ana" }, { $set: { display_name: "Tool" } }),
    seen: nameOf,
    expected: "Tool",
  },
  {
    what: "a platform account that another program added",
    make: ({ db }) =>
      db.collection("platform_accounts").insertOne({ username: "ana", platform_name: "Tool" }),
    seen: accountsOf,
    expected: 1,
  },
  {
    what: "a consent that another program removed",
    make: ({ db }) => db.collection("repsync_consents").deleteMany({ username: "ana" }),
    seen: wordOf,
    expected: "consent_required",
  },
];

describe.skipIf(!mongoAvailable)("MongoDB: what lookups remember", () => {
  for (const { what, make, seen, expected } of CHANGES) {
    databaseTest(`D-6.3 ${what} shows in the next lookup`, async (database) => {
      const remembered = await remember(database);
      await make(remembered);
      expect(seen(await remembered.lookUp())).toBe(expected);
    });
  }

  databaseTest("D-6.3 a caller is not read again while nothing changes", async (database) => {
    const { db, second, lookUp } = await remember(database);
    const before = await readsOfKeys(db);
    await lookUp();
    expect(await readsOfKeys(db)).toBe(before);
    await second.consent("ana", "profile_lookup");
    await lookUp();
    expect(await readsOfKeys(db)).toBeGreaterThan(before);
  });

  databaseTest("what is remembered takes one read and one message of writes", async (database) => {
    const { db, lookUp } = await remember(database);
    expect(shapesOf(await operationsOf(db, lookUp))).toEqual(REMEMBERED);
  });

  databaseTest("so it does for accounts that take turns", async (database) => {
    const scene = await openScene(database);
    const hashes: string[] = [];
    for (const name of ["ana", "ben"]) {
      await scene.enrol(name, UNLIMITED);
      hashes.push((await scene.giveKey(name)).hash);
    }
    const lookUpInTurns = async () => {
      for (const hash of hashes) await scene.lookUp(hash, "ana");
    };
    for (let i = 0; i < 3; i++) await lookUpInTurns();
    const operations = await operationsOf(database.db, lookUpInTurns);
    expect(shapesOf(operations)).toEqual([...REMEMBERED, ...REMEMBERED].sort());
  });

  databaseTest("D-6.4, D-6.5 what is decided anew is counted and recorded once", async (base) => {
    const { db, second, lookUp } = await remember(base);
    const written: number[] = [];
    for (let round = 0; round < 3; round++) {
      await second.consent("ana", "profile_lookup");
      // The first finds another state when it has written already, the others know the new one again.
      const operations = shapesOf(await operationsOf(db, lookUp));
      written.push(operations.filter((shape) => shape === `update ${LEDGER}`).length);
      for (let i = 0; i < 2; i++) await lookUp();
    }
    const last = await lookUp();
    expect(written.every((updates) => updates > 3)).toBe(true);
    expect(last.kind === "answered" && last.quotas.month.used).toBe(14);
    expect(await verify(second.parts)).toEqual({ problem: null, chains: 1, records: 14 });
  });

  databaseTest(
    "D-6.1 the server's clock decides, also when the one here runs ahead",
    async (base) => {
      const clock = new LaterClock();
      const scene = realScene(await openParts(await base.open("", clock), remembering));
      await scene.enrol("ana", UNLIMITED);
      const expiresAt = new Date(Date.now() + 60_000).toISOString();
      await scene.grant("ana", { purpose: "reputation_lookup", expiresAt });
      const { hash } = await scene.giveKey("ana");
      for (let i = 0; i < 3; i++) expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      // Not so far that what is remembered would be too old.
      clock.advance(90_000);
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
    },
  );

  databaseTest("what another instance counts is not written over in vain", async (database) => {
    const [first, second] = [await openScene(database), await openScene(database)];
    await first.enrol("ana", UNLIMITED);
    const { hash } = await first.giveKey("ana");
    const lookUpInTurns = async () => {
      for (const scene of [first, second]) await scene.lookUp(hash, "ana");
    };
    for (let i = 0; i < 5; i++) await first.lookUp(hash, "ana");
    // The second adds itself, the first finds that, and from then on both know.
    for (let i = 0; i < 2; i++) await lookUpInTurns();
    const counts = { ns: /repsync_ledger$/, "command.q._id": /^usage\// };
    const operations = await operationsOf(database.db, lookUpInTurns, counts);
    expect(operations.map(({ nMatched }) => nMatched)).toEqual([1, 1]);
  });

  databaseTest("D-6.2 names of nobody are not remembered", async (database) => {
    const counts: (() => { readonly entries: number })[] = [];
    const parts = await openParts(await database.open(), <Value>() => {
      const cache = remembering<Value>();
      counts.push(() => cache.counts());
      return cache;
    });
    const scene = realScene(parts);
    await scene.enrol("ana");
    const { hash } = await scene.giveKey("ana");
    // The first round sees the state, the second reads in it.
    for (let round = 0; round < 2; round++) {
      for (const name of ["ana", "x".repeat(10_000), "y"]) await scene.lookUp(hash, name);
    }
    expect(counts.reduce((sum, count) => sum + count().entries, 0)).toBe(2);
  });

  databaseTest("D-6.3 a key that was not there is found once it is", async (database) => {
    const scene = await openScene(database);
    await scene.enrol("caller");
    const look = async () => wordOf(await scene.lookUp("hash of new", "x"));
    for (let i = 0; i < 3; i++) expect(await look()).toBe("api_key_invalid");
    await (await openScene(database)).giveKey("caller", { id: "new", hash: "hash of new" });
    expect(await look()).toBe("profile_not_found");
  });

  databaseTest(
    "D-6.3 each change of consents and each erasure raises the version",
    async (base) => {
      const scene = await openScene(base);
      await scene.enrol("ana");
      const versions: number[] = [await peopleVersion(base)];
      const { id } = await scene.consent("ana");
      versions.push(await peopleVersion(base));
      for (let i = 0; i < 2; i++) {
        await scene.parts.consents.revoke("ana", { id, nowMs: Date.now() });
        versions.push(await peopleVersion(base));
      }
      for (let i = 0; i < 2; i++) {
        await scene.parts.membership.erase("ana");
        versions.push(await peopleVersion(base));
      }
      expect(versions).toEqual([0, 1, 2, 2, 3, 3]);
    },
  );

  databaseTest(
    "D-6.3 a transaction of another program shows in the next lookup if it raises the version",
    async (database) => {
      const client = new MongoClient(database.url);
      const session = client.startSession();
      try {
        const { lookUp } = await remember(database);
        const db = client.db();
        session.startTransaction({ writeConcern: { w: "majority" } });
        const toTool = { $set: { display_name: "Tool" } };
        await db.collection("profiles").updateOne({ username: "ana" }, toTool, { session });
        // What is counted but not committed yet is remembered from here on.
        for (let i = 0; i < 3; i++) expect(nameOf(await lookUp())).toBe(null);
        await db
          .collection<{ _id: string }>("repsync_table_versions")
          .updateOne(
            { _id: "repsync_people/tool" },
            { $inc: { version: 1 } },
            { session, upsert: true },
          );
        await session.commitTransaction();
        expect(nameOf(await lookUp())).toBe("Tool");
      } finally {
        await session.endSession();
        await client.close();
      }
    },
  );
});

/** What a lookup does; each of the writes of a message is an operation. */
const REMEMBERED = ["command profiles", ...Array<string>(3).fill(`update ${LEDGER}`)];

/** The operations that instances have the server do meanwhile. */
async function operationsOf(db: TestDatabase["db"], work: () => Promise<unknown>, which = {}) {
  await db.command({ profile: 2 });
  await work();
  await db.command({ profile: 0 });
  return await db
    .collection("system.profile")
    .find({ appName: "repsync", ...which })
    .sort({ ts: 1 })
    .toArray();
}

/** Sorted, as messages of a batch may be under way at once. */
function shapesOf(operations: readonly Document[]): readonly string[] {
  return operations.map(({ op, ns }) => `${op} ${String(ns).split(".")[1]}`).sort();
}

/** How often keys were looked for by their hashes. */
async function readsOfKeys(db: TestDatabase["db"]): Promise<number> {
  return await usesOf(db, "repsync_api_keys", "repsync_hash");
}

/** How often consents and people were changed. */
async function peopleVersion({ db }: TestDatabase): Promise<number> {
  const slots = await db
    .collection<{ _id: string }>("repsync_table_versions")
    .find({ _id: /^repsync_people\// })
    .toArray();
  return slots.reduce((sum, slot) => sum + Number((slot as { version?: unknown }).version), 0);
}
