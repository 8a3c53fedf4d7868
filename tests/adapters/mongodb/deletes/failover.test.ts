// Deletes while primaries are killed, and after an oplog has gone on without a recorder.

import { describe, expect, test } from "bun:test";
import {
  type Collection,
  type Document,
  MongoClient,
  MongoServerError,
  type Timestamp,
  type WithId,
} from "mongodb";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { ITEMS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { keepResource } from "../../../support/resources.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { startReplicaSet } from "../../../support/stores/mongo-replica-set.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { documents, listedKeys, listItems, manyKeys, openInstance } from "./support.ts";

/** A connection may break without being noticed. */
const NEVER_HANGS = { socketTimeoutMS: 2_000 };
const TEST_TIMEOUT_MS = 240_000;
const CAPPED_POSITION_LOST = 136;

describe.skipIf(!mongoAvailable)("MongoDB: deletes and failures of servers", () => {
  test(
    "D-7.6 deletes are recorded once each while primaries are killed",
    async () => {
      const set = await startReplicaSet({ members: 3 });
      keepResource(() => set.stop());
      const url = set.uri("deletes");
      const client = new MongoClient(url, { writeConcern: { w: "majority" }, ...NEVER_HANGS });
      keepResource(() => client.close());
      const instances = [await openInstance(url), await openInstance(url)];
      const items = client.db().collection("items");
      const keys = manyKeys("k", 1_500);
      await items.insertMany(documents(...keys));
      const { earliestAvailable } = await listItems(instances[0]!.storage);
      const deleting = (async () => {
        for (let n = 0; n < keys.length; n += 5) {
          const some = keys.slice(n, n + 5);
          await Promise.all(some.map((k) => untilDone(() => items.deleteOne({ k }))));
        }
      })();
      for (const left of [1_200, 600]) {
        while ((await untilDone(() => items.countDocuments())) > left);
        const primary = await set.primary();
        await primary.kill();
        await primary.restart();
      }
      await deleting;
      for (const { storage, logger } of instances) {
        const page = await untilDone(() => listItems(storage));
        expect(page.items.map(({ key }) => String(key["k"])).sort()).toEqual(keys);
        expect(page.earliestAvailable).toBe(earliestAvailable);
        expect(await storage.tombstones.end(ITEMS)).toMatch(/^[0-9a-f]{24}-1500$/);
        expect(logger.lines).toEqual([]);
      }
      const row = { k: "k00000", at: "2024-05-01T10:00:00Z", v: 1 };
      const guarded = { conflict: "newer" } as const;
      const outcome = await writeTo(instances[1]!.storage, ITEMS, asWrites([row]), guarded);
      expect(outcome.kept).toEqual([0]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-7.6 deletes that the oplog no longer has are told, and move earliestAvailable",
    async () => {
      const set = await startReplicaSet({ members: 1, oplogMb: 8 });
      keepResource(() => set.stop());
      const url = set.uri("deletes");
      const client = new MongoClient(url);
      keepResource(() => client.close());
      const items = client.db().collection("items");
      const first = await openInstance(url);
      await items.insertMany(documents("a", "b"));
      await items.deleteOne({ k: "a" });
      expect(await listedKeys(first.storage)).toEqual(["a"]);
      await first.storage.close();
      await items.deleteOne({ k: "b" });
      await overrunOplog(client);
      const time = Date.now();
      const { storage, logger } = await openInstance(url);
      const { items: listed, earliestAvailable } = await listItems(storage);
      expect(listed.map(({ key }) => key["k"])).toEqual(["a"]);
      expect(Date.parse(earliestAvailable)).toBeGreaterThanOrEqual(time);
      const message =
        "Deletes may have been missed, as the oplog no longer has them: compare the table with its remote";
      expect(logger.lines).toEqual([{ level: "warn", message, fields: { table: "items" } }]);
      await items.insertMany(documents("c"));
      await items.deleteOne({ k: "c" });
      expect(await listedKeys(storage)).toEqual(["a", "c"]);
    },
    TEST_TIMEOUT_MS,
  );
});

/** Tries until there is a primary that does it. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      // An election is under way.
    }
  }
}

/** Writes until the oplog has lost what it held at first. */
async function overrunOplog(client: MongoClient): Promise<void> {
  const oplog = client.db("local").collection<{ readonly ts: Timestamp }>("oplog.rs");
  const end = await oplog.find().sort({ $natural: -1 }).next();
  const filler = { text: "x".repeat(1024 * 1024) };
  for (;;) {
    await client
      .db()
      .collection<object>("filler")
      .insertOne({ ...filler });
    const begin = await firstOf(oplog);
    if (end && begin?.ts.greaterThan(end.ts)) return;
  }
}

/** What was the first when the read began may be lost by the time that it is read. */
async function firstOf<Entry extends Document>(
  oplog: Collection<Entry>,
): Promise<WithId<Entry> | null> {
  for (;;) {
    try {
      return await oplog.find().sort({ $natural: 1 }).next();
    } catch (error) {
      if (!(error instanceof MongoServerError) || error.code !== CAPPED_POSITION_LOST) throw error;
    }
  }
}
