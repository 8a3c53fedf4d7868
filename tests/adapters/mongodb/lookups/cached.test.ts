// D-6.3 What lookups cache: used while nothing has changed, and never after a change that raised its version.
import { describe, expect } from "bun:test";
import { type Document, MongoClient } from "mongodb";
import type { LookupOutcome } from "../../../../src/domain/reputation/lookups/lookup-batch.ts";
import { ACCOUNTS } from "../../../../src/repositories/account-collections.ts";
import {
  BY_ROOT,
  openParts,
  PROFILES,
  realScene,
  type Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { remembering } from "../../../support/value-caches.ts";
import { LaterClock, LEDGER, openScene, UNLIMITED, verify } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const VERSIONS = "repsync_versions";

/** Ana's profile and a caller's key, cached by the instance of `lookUp`, and another instance. */
interface Remembered {
  readonly db: TestDatabase["db"];
  readonly second: Scene;
  readonly consentId: number;
  readonly keyId: string;
  readonly lookUp: () => Promise<LookupOutcome>;
  readonly caller: { readonly scene: Scene; readonly hash: string };
}

async function remember(database: TestDatabase): Promise<Remembered> {
  const [first, second] = [await openScene(database), await openScene(database)];
  await first.enrol("caller", UNLIMITED);
  await first.enrol("ana");
  const { id: consentId } = await first.consent("ana");
  const { id: keyId, hash } = await first.giveKey("caller");
  const lookUp = () => first.lookUp(hash, "ana");
  // The first reads ana, the second is answered from the caches.
  await lookUp();
  const before = await lookUp();
  expect(wordOf(before)).toBe("allowed");
  expect(subjectOf(await lookUp())).toBe(subjectOf(before));
  const caller = { scene: first, hash };
  return { db: database.db, second, consentId, keyId, lookUp, caller };
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
const isVerified = (outcome: LookupOutcome) => subjectOf(outcome)?.profile?.["verified"];
const consentsOf = (outcome: LookupOutcome) => subjectOf(outcome)?.consents.length;
const accountsOf = (outcome: LookupOutcome) => subjectOf(outcome)?.accounts.length;
const limitOf = (outcome: LookupOutcome) =>
  outcome.kind === "key_refused" ? null : outcome.quotas.minute.limit;

const MANY_PEOPLE = Array.from({ length: 64 }, (_, i) => ({ username: `person-${i}` }));

/** As docs/operating.md asks of other tools. */
async function raiseAll(db: TestDatabase["db"], options = {}): Promise<void> {
  await db
    .collection<{ _id: string }>(VERSIONS)
    .updateOne({ _id: "all/tool" }, { $inc: { v: 1 } }, { upsert: true, ...options });
}

const CHANGES: readonly Change[] = [
  {
    what: "a push by another instance",
    make: ({ second }) => second.push(PROFILES, { username: "ana", verified: true }),
    seen: isVerified,
    expected: true,
  },
  {
    what: "a profile that another instance changed",
    make: ({ second }) =>
      second.parts.profiles.change("ana", { displayName: "Patched" }, Date.now()),
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
    make: ({ second }) => second.setPlan("caller", { rateLimitPerMinute: 7_777 }),
    seen: limitOf,
    expected: 7_777,
  },
  {
    what: "an account that another instance suspended",
    make: ({ second }) => second.parts.administration.suspend("caller", BY_ROOT, Date.now()),
    seen: wordOf,
    expected: "account_suspended",
  },
  {
    what: "an account that another instance removed",
    make: ({ second }) =>
      second.parts.storage.documents.transact({ name: "test.remove" }, async (tx) => {
        tx.remove(ACCOUNTS, ["caller"]);
        tx.raise(["caller"]);
      }),
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
    what: "a push of more than 64 people by another instance",
    make: ({ second }) =>
      second.push(PROFILES, { username: "ana", verified: true }, ...MANY_PEOPLE),
    seen: isVerified,
    expected: true,
  },
  {
    what: "a row that another program changed, with the version of all,",
    make: async ({ db }) => {
      await db
        .collection("profiles")
        .updateOne({ username: "ana" }, { $set: { display_name: "Tool" } });
      await raiseAll(db);
    },
    seen: nameOf,
    expected: "Tool",
  },
  {
    what: "a platform account that another program added, with the version of all,",
    make: async ({ db }) => {
      const row = { username: "ana", platform_name: "Tool" };
      await db.collection("platform_accounts").insertOne(row);
      await raiseAll(db);
    },
    seen: accountsOf,
    expected: 1,
  },
];

describe.skipIf(!mongoAvailable)("MongoDB: what lookups cache", () => {
  for (const { what, make, seen, expected } of CHANGES) {
    databaseTest(`D-6.3 ${what} shows in the next lookup`, async (database) => {
      const remembered = await remember(database);
      await make(remembered);
      expect(seen(await remembered.lookUp())).toBe(expected);
    });
  }

  databaseTest("what is cached takes one read and one message of writes", async (database) => {
    const { db, lookUp } = await remember(database);
    expect(shapesOf(await operationsOf(db, lookUp))).toEqual(CACHED);
  });

  databaseTest(
    "D-6.3 a change of one person leaves the cached answers of others in place",
    async (database) => {
      const { db, second, lookUp, caller } = await remember(database);
      const lookUpBea = () => caller.scene.lookUp(caller.hash, "bea");
      await caller.scene.enrol("bea");
      await lookUpBea();
      await second.push(PROFILES, { username: "bea", display_name: "Pushed" });
      await second.consent("bea");
      await second.parts.profiles.change("bea", { bio: "new" }, Date.now());
      expect(shapesOf(await operationsOf(db, lookUp))).toEqual(CACHED);
      expect(shapesOf(await operationsOf(db, lookUpBea)).length).toBeGreaterThan(CACHED.length);
      expect(shapesOf(await operationsOf(db, lookUpBea))).toEqual(CACHED);
    },
  );

  databaseTest(
    "D-6.3 what another program changes without a version is served from the caches",
    async (database) => {
      const { db, lookUp } = await remember(database);
      const toTool = { $set: { display_name: "Tool" } };
      await db.collection("profiles").updateOne({ username: "ana" }, toTool);
      expect(nameOf(await lookUp())).toBe(null);
      await raiseAll(db);
      expect(nameOf(await lookUp())).toBe("Tool");
    },
  );

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
    await lookUpInTurns();
    const operations = await operationsOf(database.db, lookUpInTurns);
    expect(shapesOf(operations)).toEqual([...CACHED, ...CACHED].sort());
  });

  databaseTest("D-6.4, D-6.5 what is decided anew is counted and recorded once", async (base) => {
    const { second, lookUp } = await remember(base);
    for (let round = 0; round < 3; round++) {
      await second.consent("ana", "profile_lookup");
      for (let i = 0; i < 3; i++) await lookUp();
    }
    const last = await lookUp();
    expect(last.kind === "answered" && last.quotas.month.used).toBe(13);
    expect(await verify(second.parts)).toEqual({ problem: null, chains: 1, records: 13 });
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
    await lookUpInTurns();
    const counts = { ns: /repsync_lookup_log$/, "command.q._id.0": "usage" };
    const operations = await operationsOf(database.db, lookUpInTurns, counts);
    expect(operations.map(({ nMatched }) => nMatched)).toEqual([1, 1]);
  });

  databaseTest(
    "D-6.2, D-6.3 absent and hidden names are cached apart from people",
    async (base) => {
      const entries = new Map<number, (() => { readonly entries: number })[]>();
      const parts = await openParts(
        await base.open(),
        <Value extends object>(maxEntries: number) => {
          const cache = remembering<Value>();
          const counts = entries.get(maxEntries) ?? [];
          entries.set(maxEntries, [...counts, () => cache.counts()]);
          return cache;
        },
      );
      const scene = realScene(parts);
      await scene.enrol("ana");
      await scene.enrol("hidden");
      await parts.profiles.change("hidden", { public: false }, Date.now());
      const { hash } = await scene.giveKey("ana");
      for (let round = 0; round < 2; round++) {
        for (const name of ["ana", "x".repeat(201), "y".repeat(200), "z", "hidden"]) {
          await scene.lookUp(hash, name);
        }
      }
      const counted = [...entries].map(([size, caches]) => [
        size,
        caches.map((one) => one().entries),
      ]);
      // Callers and people; and absent names of at most 200 characters.
      expect(counted).toEqual([
        [50_000, [1, 1]],
        [2_000, [3]],
      ]);
    },
  );

  databaseTest(
    "D-8.5 the first question about a hidden person does what one about nobody does",
    async (database) => {
      const scene = await openScene(database);
      await scene.enrol("caller", UNLIMITED);
      await scene.enrol("hidden");
      await scene.parts.profiles.change("hidden", { public: false }, Date.now());
      await scene.consent("hidden");
      const { hash } = await scene.giveKey("caller");
      await scene.lookUp(hash, "caller");
      const shapes: (readonly string[])[] = [];
      for (const name of ["hidden", "nobody", "hidden", "nobody"]) {
        const lookUp = () => scene.lookUp(hash, name);
        shapes.push(shapesOf(await operationsOf(database.db, lookUp, NOT_LISTING)));
      }
      const [hidden, nobody, hiddenAgain, nobodyAgain] = shapes;
      expect(hidden).toEqual(nobody as string[]);
      const [, ...cached] = CACHED;
      expect([hiddenAgain, nobodyAgain]).toEqual([cached, cached]);
      const subjects = await database.db.collection("repsync_subjects").find().toArray();
      expect(subjects.map(({ username }) => username)).toEqual(["caller", "hidden"]);
    },
  );

  databaseTest("D-6.3 a key that was not there is found once it is", async (database) => {
    const scene = await openScene(database);
    await scene.enrol("caller");
    const look = async () => wordOf(await scene.lookUp("hash of new", "x"));
    for (let i = 0; i < 3; i++) expect(await look()).toBe("api_key_invalid");
    await (await openScene(database)).giveKey("caller", { id: "new", hash: "hash of new" });
    expect(await look()).toBe("profile_not_found");
  });

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
        await raiseAll(db, { session });
        for (let i = 0; i < 2; i++) expect(nameOf(await lookUp())).toBe(null);
        await session.commitTransaction();
        expect(nameOf(await lookUp())).toBe("Tool");
      } finally {
        await session.endSession();
        await client.close();
      }
    },
  );
});

/** Operations of lookups themselves: the log is listed beside them, which reads the time, too. */
const NOT_LISTING = {
  $nor: [{ ns: /audit|repsync_time$/ }, { ns: /repsync_lookup_log$/, op: { $ne: "update" } }],
};

/** What a lookup does; each of the writes of a message is an operation. */
const CACHED = ["command repsync_time", ...Array<string>(3).fill(`update ${LEDGER}`)];

/** The operations that instances have the server do meanwhile. */
async function operationsOf(db: TestDatabase["db"], work: () => Promise<unknown>, which = {}) {
  await db.collection("system.profile").drop();
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
