// D-6.4 What an instance leaves open when it is killed: MongoDB would keep it for a minute, longer than a call may take.
import { describe, expect } from "bun:test";
import { type ClientSession, type Db, MongoClient, UUID } from "mongodb";
import {
  type StoredCharge,
  type UsageDocument,
  usageOf,
} from "../../../../src/adapters/mongodb/accounts/account-usage.ts";
import { nameOfSession } from "../../../../src/adapters/mongodb/driver/open-sessions.ts";
import { CallCounter } from "../../../../src/adapters/mongodb/lookups/call-counter.ts";
import { MAC, PROFILES, type Scene, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import { failureOf, LEDGER, openScene, UNLIMITED, USAGES, verify } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const NO_SUCH_TRANSACTION = 251;
/** Longer than an instance counts as one that shares an account. */
const LONG_AGO_MS = 400_000;
const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const LIMITS = { callsPerMinute: 1_000_000_000, callsPerMonth: null };

/** An account that an instance has charged, beside a transaction and within one. */
async function setScene(database: TestDatabase) {
  const scene = await openScene(database);
  await scene.enrol("ana", UNLIMITED);
  const { hash } = await scene.giveKey("ana");
  const call = async (by: Scene = scene) => wordOf(await by.lookUp(hash, "x"));
  for (let i = 0; i < 2; i++) expect(await call()).toBe("profile_not_found");
  return { scene, hash, call };
}

/** What the transaction of a killed instance holds. */
type Hold = (db: Db, session: ClientSession) => Promise<unknown>;

const holdAccount: Hold = (db, session) =>
  db.collection(LEDGER).updateOne(USAGES, { $inc: { calls: 1 } }, { session });

const holdFirstKeyOf =
  (username: string): Hold =>
  (db, session) =>
    db
      .collection("repsync_subjects")
      .insertOne({ _id: username as never, id: "an id", key: "00" }, { session });

const holdNextChain: Hold = (db, session) =>
  db.collection(LEDGER).insertOne({ _id: "head/a chain" as never, chainNumber: 2 }, { session });

/** Works while an instance that charged the account so long ago and was killed then holds it; that has to end. */
async function whileHeld(
  { url }: TestDatabase,
  { sinceMs = 0, hold = holdAccount }: { readonly sinceMs?: number; readonly hold?: Hold },
  work: () => Promise<void>,
): Promise<void> {
  const client = new MongoClient(url, { writeConcern: { w: "majority" } });
  try {
    const session = client.startSession();
    const usage = client.db().collection(LEDGER);
    const instance = nameOfSession(session);
    const charge = { instance, turn: "a turn", atMs: Date.now() - sinceMs, calls: 0 };
    // As every write of an instance it makes another version of the document.
    const change = { $push: { charges: charge as never }, $set: { version: "its own" } };
    await usage.updateOne(USAGES, change);
    session.startTransaction();
    await hold(client.db(), session);
    await work();
    const failure = await failureOf(session.commitTransaction());
    expect(failure).toMatchObject({ code: NO_SUCH_TRANSACTION });
  } finally {
    await client.close();
  }
}

async function minuteCalls({ parts }: Scene): Promise<number> {
  return (await parts.usage.read("ana", LIMITS)).reading.minuteCalls;
}

describe.skipIf(!mongoAvailable)("MongoDB: transactions of killed instances", () => {
  for (const [when, sinceMs] of [
    ["a moment ago", 0],
    ["long ago", LONG_AGO_MS],
  ] as const) {
    databaseTest(`D-6.4 one that charged an account ${when} does not lock it`, async (database) => {
      const { scene, call } = await setScene(database);
      await whileHeld(database, { sinceMs }, async () => {
        expect(await call()).toBe("profile_not_found");
      });
      expect(await minuteCalls(scene)).toBe(3);
    });

    databaseTest(`D-6.4 nor for an instance that begins, when it was ${when}`, async (database) => {
      const { scene, call } = await setScene(database);
      await whileHeld(database, { sinceMs }, async () => {
        expect(await call(await openScene(database))).toBe("profile_not_found");
      });
      expect(await minuteCalls(scene)).toBe(3);
    });
  }

  databaseTest("D-5.5 an account that one holds can be erased", async (database) => {
    const { scene, call } = await setScene(database);
    await whileHeld(database, {}, async () => {
      expect(await scene.parts.membership.erase("ana")).toBe(true);
    });
    expect(await call()).toBe("api_key_invalid");
    expect(await database.db.collection(LEDGER).countDocuments(USAGES)).toBe(0);
  });

  databaseTest(
    "D-6.5 a person whose first audit key one holds can be looked up",
    async (database) => {
      const { scene, hash } = await setScene(database);
      await scene.enrol("bea");
      await whileHeld(database, { hold: holdFirstKeyOf("bea") }, async () => {
        const names = ["x", "bea"].map((username) => ({ keyHash: hash, username }));
        expect((await scene.lookUpMany(names)).map(wordOf)).toEqual([
          ...["profile_not_found", "consent_required"],
        ]);
      });
      expect(await verify(scene.parts)).toMatchObject({ problem: null, records: 4 });
    },
  );

  databaseTest(
    "D-6.5 an instance begins its chain where one was beginning another",
    async (database) => {
      const { scene, call } = await setScene(database);
      await whileHeld(database, { hold: holdNextChain }, async () => {
        expect(await call(await openScene(database))).toBe("profile_not_found");
      });
      expect(await verify(scene.parts)).toMatchObject({ problem: null, records: 3 });
    },
  );

  databaseTest("D-5.5 a person whose first audit key one holds can be erased", async (database) => {
    const { scene, call } = await setScene(database);
    await scene.enrol("bea");
    await whileHeld(database, { hold: holdFirstKeyOf("bea") }, async () => {
      expect(await scene.parts.membership.erase("bea")).toBe(true);
    });
    expect(await call()).toBe("profile_not_found");
  });

  databaseTest(
    "D-4.6, D-6.1 what else one holds is free again long before MongoDB would end it",
    async (database) => {
      const { scene } = await setScene(database);
      const { tables } = scene.parts.storage;
      await scene.push(PROFILES, { username: "bea", bio: "old" });
      const client = new MongoClient(database.url, { appName: "repsync" });
      try {
        const session = client.startSession();
        session.startTransaction();
        const counters = client.db().collection("repsync_counters");
        const number = { $inc: { last: 1 } };
        const name = "repsync_consents" as never;
        await counters.updateOne({ _id: name }, number, { upsert: true, session });
        const bio = { $set: { bio: "never kept" } };
        await client.db().collection("profiles").updateOne({ username: "bea" }, bio, { session });
        await Promise.all([
          scene.consent("ana"),
          scene.push(PROFILES, { username: "bea", bio: "new" }),
        ]);
        const failure = await failureOf(session.commitTransaction());
        expect(failure).toMatchObject({ code: NO_SUCH_TRANSACTION });
        expect(await tables.countRows(PROFILES)).toBe(2);
        expect((await scene.parts.profiles.read("bea")).profile).toMatchObject({ bio: "new" });
      } finally {
        await client.close();
      }
    },
  );

  databaseTest("D-6.4 only an instance that the document names holds it", async ({ url, db }) => {
    const client = new MongoClient(url);
    const session = client.startSession();
    const counter = new CallCounter({ db, mac: MAC, session });
    const isAlone = (...charges: readonly StoredCharge[]) => {
      const usage = { ...usageOf(null, NOW_MS), version: "1", charges };
      const limits = { callsPerMinute: 9, callsPerMonth: null };
      return counter.plan({ accountId: "ana", limits, calls: 1, nowMs: NOW_MS, usage }).isAlone;
    };
    const chargeOf = (instance: string, atMs: number) => ({ instance, turn: "", atMs, calls: 1 });
    const own = chargeOf(nameOfSession(session), 0);
    const other = chargeOf("another", NOW_MS - LONG_AGO_MS);
    expect([isAlone(), isAlone(other), isAlone(own, chargeOf("another", NOW_MS))]).toEqual([
      ...[false, false, false],
    ]);
    expect([isAlone(own), isAlone(own, other)]).toEqual([true, true]);
    await client.close();
  });

  databaseTest(
    "D-6.4, D-6.5 an instance whose session others end decides again, and counts once",
    async (database) => {
      const { scene, hash } = await setScene(database);
      const usage = await database.db.collection<UsageDocument>(LEDGER).findOne(USAGES);
      const instance = usage?.charges[0]?.instance ?? "";
      const admin = database.db.admin();
      for (let round = 0; round < 40; round++) {
        const deciding = scene.lookUpMany(Array(3).fill({ keyHash: hash, username: "x" }));
        // A little later each time, so that each step of a batch is met.
        for (let wait = 0; wait < round % 20; wait++) await admin.command({ ping: 1 });
        await admin.command({ killSessions: [{ id: new UUID(instance) }] });
        expect((await deciding).map(wordOf)).toEqual(Array(3).fill("profile_not_found"));
      }
      expect(await minuteCalls(scene)).toBe(122);
      expect(await verify(scene.parts)).toMatchObject({ problem: null, records: 122 });
    },
  );
});
