// D-5.8, D-8.3 Commits that take long, and commits of which nobody knows whether they happened.
import { describe, expect } from "bun:test";
import type { Document } from "mongodb";
import { type Scene, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { failureOf, openScene, UNLIMITED, verify } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const APP_NAME = "repsync_doubtful";
const LIMITS = { callsPerMinute: 1_000_000_000, callsPerMonth: null };
/** The server does what it is asked, and says that it knows of no majority that has it. */
const UNKNOWN_AFTER = { writeConcernError: { code: 64, errmsg: "waiting for replication" } };
/** The server does not look at what it is asked before the caller has given up. */
const UNKNOWN_BEFORE = { blockConnection: true, blockTimeMS: 2_000 };

/** An instance whose commits a test can hold up, one that sees what is stored, and a person with a key. */
async function setScene(database: TestDatabase) {
  const scene = await openScene(database, `&appName=${APP_NAME}`);
  const other = await openScene(database);
  await scene.enrol("ana", UNLIMITED);
  const { hash } = await scene.giveKey("ana");
  const { id: consentId } = await scene.consent("ana");
  const lookUp = async (calls: number, withinMs = Number.POSITIVE_INFINITY) => {
    const batch = Array.from({ length: calls }, (_, i) => ({
      keyHash: hash,
      username: "ana",
      endpoint: "reputation" as const,
      requestId: `request-${i}`,
    }));
    const deadlineMs = performance.now() + withinMs;
    return (await scene.parts.lookupProcessor.decide(batch, deadlineMs, (all) => all)).value;
  };
  return { scene, other, consentId, lookUp };
}

/** Lets commits of the instance meet something while `work` is done. */
async function whileCommits(
  { db }: TestDatabase,
  fault: Document,
  mode: Document | "alwaysOn",
  work: (entered: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const admin = db.admin();
  const data = { appName: APP_NAME, failCommands: ["commitTransaction"], ...fault };
  const set = { configureFailPoint: "failCommand", mode, data };
  const { count } = await admin.command(set);
  const timesEntered = count + 1;
  const entered = () =>
    admin.command({ waitForFailPoint: "failCommand", timesEntered, maxTimeMS: 60_000 });
  try {
    await work(entered);
  } finally {
    await admin.command({ configureFailPoint: "failCommand", mode: "off" });
  }
}

async function monthCalls({ parts }: Scene): Promise<number | undefined> {
  return (await parts.usage.read("ana", LIMITS)).reading.month?.used;
}

async function minuteCalls({ parts }: Scene): Promise<number> {
  return (await parts.usage.read("ana", LIMITS)).reading.minuteCalls;
}

describe.skipIf(!mongoAvailable)("MongoDB: doubtful commits of lookups", () => {
  for (const [when, fault, kept] of [
    ["happened", UNKNOWN_AFTER, 5],
    ["did not happen", UNKNOWN_BEFORE, 2],
  ] as const) {
    databaseTest(
      `D-5.8 a batch of unknown outcome that ${when} is answered 503 and given back exactly`,
      async (database) => {
        const { scene, other, lookUp } = await setScene(database);
        await lookUp(1);
        await whileCommits(database, fault, "alwaysOn", async () => {
          const failure = await failureOf(lookUp(3, 300));
          expect(failure).toMatchObject({ kind: "store_unavailable" });
        });
        const [outcome] = await lookUp(1);
        expect(outcome?.kind === "answered" && outcome.quotas.month.used).toBe(2);
        expect([await monthCalls(other), await minuteCalls(other)]).toEqual([2, 2]);
        expect(await verify(scene.parts)).toEqual({ problem: null, chains: 1, records: kept });
      },
    );
  }

  databaseTest(
    "D-5.8 the first batch of a chain may be of unknown outcome, too",
    async (database) => {
      const { scene, other, lookUp } = await setScene(database);
      await whileCommits(database, UNKNOWN_AFTER, "alwaysOn", async () => {
        expect(await failureOf(lookUp(3, 300))).toMatchObject({ kind: "store_unavailable" });
      });
      await lookUp(2);
      expect([await monthCalls(other), await minuteCalls(other)]).toEqual([2, 2]);
      expect(await verify(scene.parts)).toEqual({ problem: null, chains: 1, records: 5 });
    },
  );

  databaseTest("D-5.8 several doubts in a row are settled as what happened", async (database) => {
    const { scene, other, lookUp } = await setScene(database);
    for (const fault of [UNKNOWN_AFTER, UNKNOWN_AFTER, UNKNOWN_BEFORE, UNKNOWN_AFTER]) {
      await whileCommits(database, fault, "alwaysOn", async () => {
        expect(await failureOf(lookUp(3, 300))).toMatchObject({ kind: "store_unavailable" });
      });
    }
    await lookUp(2);
    expect([await monthCalls(other), await minuteCalls(other)]).toEqual([2, 2]);
    const { problem, chains } = await verify(scene.parts);
    expect([problem, chains]).toEqual([null, 1]);
  });

  databaseTest(
    "D-8.3 a reply that comes late is confirmed anew: 503 after a revocation, and it counts",
    async (database) => {
      const { other, consentId, lookUp } = await setScene(database);
      const slow = { blockConnection: true, blockTimeMS: 1_500 };
      await whileCommits(database, slow, { times: 1 }, async (entered) => {
        const late = failureOf(lookUp(1));
        await entered();
        await other.parts.consents.revoke("ana", { id: consentId, nowMs: Date.now() });
        expect(await late).toMatchObject({ kind: "store_unavailable" });
      });
      expect(await monthCalls(other)).toBe(1);
      expect((await lookUp(1)).map(wordOf)).toEqual(["consent_required"]);
      expect(await monthCalls(other)).toBe(2);
    },
  );

  databaseTest("D-8.3 one whose versions are as they were is sent", async (database) => {
    const { other, lookUp } = await setScene(database);
    const slow = { blockConnection: true, blockTimeMS: 1_500 };
    await whileCommits(database, slow, { times: 1 }, async () => {
      expect((await lookUp(1)).map(wordOf)).toEqual(["allowed"]);
    });
    expect(await monthCalls(other)).toBe(1);
  });
});
