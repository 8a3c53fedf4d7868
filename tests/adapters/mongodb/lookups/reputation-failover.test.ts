// Rights, counts and records of lookups while the primary of a three-member set is replaced or killed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import {
  CHANGED_DURING_LOOKUP,
  type LookupOutcome,
} from "../../../../src/domain/reputation/lookups/lookup-batch.ts";
import { isAppError } from "../../../../src/domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../../../../src/domain/shared/limits.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import {
  openParts,
  realScene,
  type Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { type ReplicaSet, startReplicaSet } from "../../../support/stores/mongo-replica-set.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { remembering } from "../../../support/value-caches.ts";
import { failureOf, UNLIMITED, verify } from "../reputation-support.ts";

const TEST_TIMEOUT_MS = 240_000;
const KILLS = 2;
/** Far longer than any election takes. */
const LONGEST_REFUSAL_MS = 60_000;
/** Longer than an election takes, most of the time. */
const HELD_MS = 8_000;
const LIMITS = { callsPerMinute: 1_000_000_000, callsPerMonth: null };

/** Lets the members give up on one that stands still after a second, instead of ten. */
async function noticeSoon(set: ReplicaSet): Promise<void> {
  const client = new MongoClient(set.uri("admin"));
  const { config } = await client.db().command({ replSetGetConfig: 1 });
  const settings = { ...config.settings, heartbeatTimeoutSecs: 1, catchUpTimeoutMillis: 500 };
  const replSetReconfig = { ...config, version: config.version + 1, settings };
  await client.db().command({ replSetReconfig });
  await client.close();
}

/** Three lookups that are allowed, by a consent of "ana", a public profile of "bea", and a key. */
async function grantRights(scene: Scene) {
  await scene.enrol("ana", UNLIMITED);
  await scene.enrol("bea");
  const kept = await scene.giveKey("ana");
  const revoked = await scene.giveKey("ana");
  const { id: consentId } = await scene.consent("ana");
  await scene.consent("bea");
  const calls = [
    { keyHash: kept.hash, username: "ana" },
    { keyHash: kept.hash, username: "bea" },
    { keyHash: revoked.hash, username: "bea" },
  ];
  return { calls, keyId: revoked.id, consentId };
}

/** Looks up until an instance answers from its caches. */
async function rememberAll(scene: Scene, calls: Parameters<Scene["lookUpMany"]>[0]): Promise<void> {
  for (let round = 0; round < 2; round++) {
    expect((await scene.lookUpMany(calls)).map(wordOf)).toEqual(Array(3).fill("allowed"));
  }
}

/** Asks until it is answered: what an election held up for longer than a request may take is asked for again. */
async function insist<T>(ask: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + LONGEST_REFUSAL_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isAppError(error, "store_unavailable") || performance.now() > endMs) throw error;
    }
  }
}

describe.skipIf(!mongoAvailable)("MongoDB failover of lookups", () => {
  let set: ReplicaSet;

  beforeAll(async () => {
    set = await startReplicaSet({ members: 3 });
    await noticeSoon(set);
  }, TEST_TIMEOUT_MS);

  afterAll(async () => {
    await set?.stop();
  }, TEST_TIMEOUT_MS);

  const open = async (url: string): Promise<Scene> => {
    const storage = await openMongoStorage({
      url,
      clock: new SystemClock(),
      collections: COLLECTIONS,
    });
    await storage.documents.prepare(COLLECTIONS);
    return realScene(await openParts(withRunParts(storage), remembering));
  };
  const close = async (...scenes: readonly Scene[]) => {
    await Promise.all(scenes.map(({ parts }) => parts.storage.close()));
  };

  /** Rights that end after the primary lost and won its place, while a lookup had found them and was held; null if it was no more. */
  const lookUpAcrossElection = async (database: string): Promise<readonly string[] | null> => {
    const primary = await set.primary();
    const admin = (port: number) =>
      new MongoClient(`mongodb://127.0.0.1:${port}/admin?directConnection=true`);
    const others = set.members.filter(({ port }) => port !== primary.port);
    const tools = others.map(({ port }) => admin(port));
    const tool = admin(primary.port);
    // An instance that does not hear of the election, and whose writes take their time.
    const url = `${set.uri(database)}&appName=slow&serverMonitoringMode=poll`;
    const reader = await open(`${url}&heartbeatFrequencyMS=600000`);
    const writer = await open(set.uri(database));
    try {
      const { calls, keyId, consentId } = await grantRights(reader);
      await rememberAll(reader, calls);
      for (const other of tools) await other.db().command({ replSetFreeze: 60 });
      const data = { appName: "slow", failCommands: ["update"], blockConnection: true };
      const { count } = await tool.db().command({
        configureFailPoint: "failCommand",
        mode: { times: 1 },
        data: { ...data, blockTimeMS: HELD_MS },
      });
      const askedMs = performance.now();
      const asked = reader.lookUpMany(calls);
      const entered = { timesEntered: count + 1, maxTimeMS: 60_000 };
      await tool.db().command({ waitForFailPoint: "failCommand", ...entered });
      await tool.db().command({ replSetStepDown: 1, force: true });
      expect((await set.primary()).port).toBe(primary.port);
      const { consents, apiKeys, profiles } = writer.parts;
      const nowMs = Date.now();
      await consents.revoke("ana", { id: consentId, nowMs });
      await profiles.change("bea", { public: false }, nowMs);
      await apiKeys.revoke("ana", { id: keyId, nowMs });
      const wasHeld = performance.now() - askedMs < HELD_MS;
      const words = (await asked).map(wordOf);
      return wasHeld ? words : null;
    } finally {
      for (const other of tools) await other.db().command({ replSetFreeze: 0 });
      await Promise.all([tool, ...tools].map((client) => client.close()));
      await close(reader, writer);
    }
  };

  test(
    "D-6.3 what was found before an election is not answered after it, though the same member won it",
    async () => {
      let words: readonly string[] | null = null;
      for (let i = 0; words === null; i++) words = await lookUpAcrossElection(`again_${i}`);
      expect(words).toEqual(["consent_required", "profile_not_found", "api_key_revoked"]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-6.3 a primary that has lost its place answers from nothing that the next one has ended",
    async () => {
      const primary = await set.primary();
      const direct = `mongodb://127.0.0.1:${primary.port}/rights?directConnection=true`;
      const tool = new MongoClient(direct);
      const setFailPoint = (mode: "alwaysOn" | "off") =>
        tool.db("admin").command({ configureFailPoint: "blockHeartbeatStepdown", mode });
      // An instance that never learns of another primary, on a member that does not step down.
      const reader = await open(direct);
      await setFailPoint("alwaysOn");
      try {
        const { calls, keyId, consentId } = await grantRights(reader);
        await rememberAll(reader, calls);
        await primary.freeze();
        const writer = await open(set.uri("rights"));
        const { consents, apiKeys, profiles } = writer.parts;
        const nowMs = Date.now();
        await consents.revoke("ana", { id: consentId, nowMs });
        await profiles.change("bea", { public: false }, nowMs);
        await apiKeys.revoke("ana", { id: keyId, nowMs });
        primary.thaw();
        let isAnswered = false;
        const asked = reader.lookUpMany(calls).finally(() => {
          isAnswered = true;
        });
        const failure = failureOf(asked);
        for (let n = 0; n < 50; n++) await reader.parts.storage.ping(5_000);
        expect(isAnswered).toBe(false);
        expect((await writer.lookUpMany(calls)).map(wordOf)).toEqual([
          "consent_required",
          "profile_not_found",
          "api_key_revoked",
        ]);
        await close(reader, writer);
        expect(await failure).toMatchObject({ kind: "store_unavailable" });
      } finally {
        primary.thaw();
        await setFailPoint("off");
        await tool.close();
        await close(reader);
      }
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-6.3, D-6.4, D-6.5 killed primaries bring back no right, lose no count and no record",
    async () => {
      const scenes = await Promise.all([1, 2, 3].map(() => open(set.uri("kills"))));
      const [here, there, caller] = scenes as unknown as [Scene, Scene, Scene];
      await here.enrol("ana", UNLIMITED);
      const { hash } = await here.giveKey("ana");
      let answered = 0;
      let refused = 0;
      let rounds = 0;
      let onRound = () => {};
      let isEnding = false;
      /** Counts what an election held up: as in the service it is refused then. D-8.3. */
      const tryOnce = async (scene: Scene) => {
        const call = { keyHash: hash, username: "ana", endpoint: "reputation" as const };
        const requestId = `lookup-${answered + refused}`;
        const deadlineMs = performance.now() + REQUEST_DEADLINE_MS;
        try {
          const processor = scene.parts.lookupProcessor;
          const decided = processor.decide([{ ...call, requestId }], deadlineMs, (all) => all);
          const [outcome] = (await decided).value;
          answered++;
          return wordOf(outcome as LookupOutcome);
        } catch (error) {
          if (isAppError(error) && error.message === CHANGED_DURING_LOOKUP) answered++;
          else refused++;
          throw error;
        }
      };
      const lookUp = (scene: Scene) => insist(() => tryOnce(scene));
      const calling = (async () => {
        while (!isEnding) await lookUp(caller);
      })();
      const revoking = (async () => {
        for (; !isEnding; rounds++) {
          const [writer, reader] = rounds % 2 === 0 ? [here, there] : [there, here];
          const { id } = await insist(() => writer.consent("ana"));
          expect(await lookUp(reader)).toBe("allowed");
          await insist(() => writer.parts.consents.revoke("ana", { id, nowMs: Date.now() }));
          expect(await lookUp(reader)).toBe("consent_required");
          onRound();
        }
      })();
      const moreRounds = async () => {
        const goal = rounds + 2;
        const reached = new Promise<void>((resolve) => {
          onRound = () => {
            if (rounds >= goal) resolve();
          };
        });
        await Promise.race([reached, revoking, calling]);
      };
      for (let kill = 0; kill < KILLS; kill++) {
        await moreRounds();
        const primary = await set.primary();
        await primary.kill();
        await moreRounds();
        await primary.restart();
      }
      isEnding = true;
      await Promise.all([calling, revoking]);
      // What was refused with its commit in doubt is given back by the next lookup of the same instance.
      for (const scene of [here, there, caller]) await lookUp(scene);
      const { reading } = await here.parts.usage.read("ana", LIMITS);
      expect(reading.month?.used).toBe(answered);
      const { problem, records } = await verify(here.parts);
      expect(problem).toBeNull();
      expect(records).toBeGreaterThanOrEqual(answered);
      expect(records).toBeLessThanOrEqual(answered + refused);
      await close(...scenes);
    },
    TEST_TIMEOUT_MS,
  );
});
