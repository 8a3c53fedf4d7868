// A three-member set whose primary is killed or frozen while several instances write and read.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { brokenBatches, ITEMS, Traffic } from "../../../contract/tables/store-traffic.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { type ReplicaSet, startReplicaSet } from "../../../support/stores/mongo-replica-set.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";

const ROUNDS = 2;
const TEST_TIMEOUT_MS = 240_000;

describe.skipIf(!mongoAvailable)("MongoDB failover", () => {
  let set: ReplicaSet;

  beforeAll(async () => {
    set = await startReplicaSet({ members: 3 });
  }, TEST_TIMEOUT_MS);

  afterAll(async () => {
    await set?.stop();
  }, TEST_TIMEOUT_MS);

  const open = async (dbName: string) => {
    const options = { clock: new SystemClock(), collections: COLLECTIONS };
    const storage = await openMongoStorage({ url: set.uri(dbName), ...options });
    await storage.documents.prepare(COLLECTIONS);
    return storage;
  };

  test(
    "D-3.8 a killed primary loses no acknowledged push, tears none and fails none",
    async () => {
      const instances = await Promise.all([open("killed"), open("killed")]);
      const [first, second] = instances;
      await first.tables.prepare([ITEMS]);
      const traffic = new Traffic(instances);
      for (let round = 0; round < ROUNDS; round++) {
        await traffic.progress();
        const primary = await set.primary();
        await primary.kill();
        await traffic.progress();
        await primary.restart();
      }
      await traffic.stop();
      const rows = await new TableUnderTest(second, ITEMS).rows();
      expect(brokenBatches(rows)).toEqual([]);
      expect(new Set(rows.map((row) => row["batch"]))).toEqual(traffic.acknowledged);
      expect(new Set(rows.map((row) => row["id"])).size).toBe(rows.length);
      await Promise.all(instances.map((storage) => storage.close()));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-6.8 ping() of servers that froze gives up in its time",
    async () => {
      const storage = await open("frozen");
      try {
        await Promise.all(set.members.map((member) => member.freeze()));
        const message = "MongoDB did not answer within 200 ms";
        await expect(storage.ping(200)).rejects.toMatchObject({
          kind: "store_unavailable",
          message,
        });
      } finally {
        for (const member of set.members) member.thaw();
      }
      // They may elect a primary anew first.
      await pollUntil("primary", () => answers(storage));
      await storage.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-2.4 a store is opened, prepared and written while a member is down",
    async () => {
      const primary = await set.primary();
      const down = set.members.find((member) => member !== primary);
      await down?.kill();
      const storage = await open("degraded");
      const columns = { k: { type: "text" }, at: { type: "datetime" } } as const;
      const untimed = makeTable({ upsert_key: ["k"], columns });
      const timed = makeTable({ timestamp_column: "at", upsert_key: ["k"], columns });
      const row = { k: "a", at: "2024-01-01T00:00:00Z" };
      await (await TableUnderTest.prepare(storage, untimed)).write(row);
      expect(await (await TableUnderTest.prepare(storage, timed)).rows()).toEqual([row]);
      await down?.restart();
      await storage.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-3.8 a push outlasts a set that has lost its majority for a while",
    async () => {
      const storage = await open("minority");
      const table = await TableUnderTest.prepare(storage, ITEMS);
      await table.write({ k: "a", at: null, batch: "1" });
      const primary = await set.primary();
      const others = set.members.filter((member) => member !== primary);
      await Promise.all(others.map((member) => member.freeze()));
      const writing = table.write({ k: "b", at: null, batch: "2" });
      try {
        // The primary steps down, as it hears of no other.
        await pollUntil("step down", async () => !(await answers(storage)));
      } finally {
        for (const member of others) member.thaw();
      }
      await writing;
      expect(await table.count()).toBe(2);
      await storage.close();
    },
    TEST_TIMEOUT_MS,
  );
});

/** True when there is a primary that answers. */
function answers(storage: FullStorage): Promise<boolean> {
  return storage.ping(800).then(
    () => true,
    () => false,
  );
}
