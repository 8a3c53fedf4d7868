// Rows that other programs delete, in the ways of MongoDB.
import { describe, expect } from "bun:test";
import { Double } from "mongodb";
import { formatMs } from "../../../../src/domain/shared/time.ts";
import { justAfter } from "../../../../src/domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../../src/domain/sync/rows/tombstone.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { ITEMS, PARTS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { keepResource } from "../../../support/resources.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { nextMillisecond } from "../../../support/time/next-millisecond.ts";
import { databaseTest } from "../support.ts";
import {
  documents,
  holdRecording,
  listedKeys,
  listItems,
  manyKeys,
  openInstance,
} from "./support.ts";

describe.skipIf(!mongoAvailable)("MongoDB: deletes by other programs", () => {
  databaseTest("D-7.6 every way to delete a row leaves its tombstone", async ({ url, db }) => {
    const { storage } = await openInstance(url);
    const items = db.collection("items");
    await items.insertMany(documents("one", "many", "found", "bulk", "in a transaction", "stays"));
    await items.deleteOne({ k: "one" });
    await items.deleteMany({ k: "many" });
    await items.findOneAndDelete({ k: "found" });
    await items.bulkWrite([{ deleteOne: { filter: { k: "bulk" } } }]);
    await db.client.withSession((session) =>
      session.withTransaction(() => items.deleteMany({ k: "in a transaction" }, { session })),
    );
    const expected = ["one", "many", "found", "bulk", "in a transaction"];
    expect(await listedKeys(storage)).toEqual(expected);
  });

  databaseTest(
    "D-7.6 a row that is deleted and put back in one transaction was replaced, and leaves nothing",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      const items = db.collection("items");
      await items.insertMany(documents("replaced", "gone", "gone later"));
      const replace = async (k: string) => {
        const [document = {}] = documents(k);
        await db.client.withSession((session) =>
          session.withTransaction(async () => {
            await items.deleteMany({ k: { $in: [k, "gone"] } }, { session });
            await items.insertOne(document, { session });
          }),
        );
      };
      await replace("replaced");
      await replace("gone later");
      await items.deleteOne({ k: "gone later" });
      expect(await listedKeys(storage)).toEqual(["gone", "gone later"]);
    },
  );

  databaseTest(
    "D-7.6 a delete leaves its tombstone though an older row came before it was recorded",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      const items = db.collection("items");
      const keys = ["alone", "in a transaction", "later"];
      await items.insertMany(documents(...keys));
      const keepHistory = (seconds: number) =>
        db.admin().command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds });
      const { was } = await keepHistory(300);
      keepResource(async () => void (await keepHistory(was)));
      await holdRecording(db, 2_000);
      await items.deleteOne({ k: "alone" });
      await db.client.withSession((session) =>
        session.withTransaction(async () => {
          await items.deleteMany({ k: { $in: ["in a transaction", "later"] } }, { session });
        }),
      );
      // As a push does that was on its way meanwhile.
      const at = "2024-05-01T09:00:00Z";
      const older = [
        { k: "alone", at, v: 2 },
        { k: "in a transaction", at, v: 2 },
      ];
      const later = { k: "later", at: formatMs(Date.now() + 60_000), v: 2 };
      await writeTo(withRunParts(storage), ITEMS, asWrites([...older, later]));
      expect(await listedKeys(storage)).toEqual(["alone", "in a transaction"]);
    },
  );

  databaseTest(
    "D-7.6 many rows that were replaced in transactions of their own are recorded in time on a slow way",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      const keys = manyKeys("k", 600);
      const rows = documents(...keys);
      const items = db.collection("items");
      await items.insertMany(documents(...keys));
      const failCommand = (mode: unknown) =>
        db.admin().command({
          ...{ configureFailPoint: "failCommand", mode },
          data: { failCommands: ["find"], blockConnection: true, blockTimeMS: 25 },
        });
      await failCommand("alwaysOn");
      keepResource(async () => void (await failCommand("off")));
      await db.client.withSession(async (session) => {
        for (const row of rows) {
          await session.withTransaction(async () => {
            await items.deleteOne({ k: row.k }, { session });
            await items.insertOne(row, { session });
          });
        }
      });
      // Throws after 10 s.
      const query = { after: null, sinceTime: null, limitRows: 9 };
      expect((await storage.tombstones.list(ITEMS, query)).items).toEqual([]);
    },
  );

  databaseTest(
    "D-7.6 a row that goes twice in one transaction leaves the greater time",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      const items = db.collection("items");
      await items.insertMany(documents("a", "b"));
      const ahead = formatMs(Math.floor(Date.now() / 1000) * 1000 + 60_000);
      await db.client.withSession((session) =>
        session.withTransaction(async () => {
          for (const [k, at] of [
            ["a", ahead],
            ["b", "2024-05-01T10:00:00Z"],
          ] as const) {
            await items.updateOne({ k }, { $set: { at: ahead.slice(0, -1) } }, { session });
            if (k === "a") await items.updateOne({ k }, { $set: { at: null } }, { session });
            await items.deleteOne({ k }, { session });
            await items.insertOne({ k, at: at.slice(0, -1) }, { session });
            await items.deleteOne({ k }, { session });
          }
        }),
      );
      const { items: listed } = await listItems(storage);
      const time = justAfter(ahead);
      expect(listed.map(({ key, deletedAt }) => [key["k"], deletedAt])).toEqual([
        ["a", time],
        ["b", time],
      ]);
    },
  );

  databaseTest("D-7.6 a delete that is taken back leaves nothing", async ({ url, db }) => {
    const { storage } = await openInstance(url);
    const items = db.collection("items");
    await items.insertMany(documents("a"));
    const session = db.client.startSession();
    session.startTransaction();
    await items.deleteMany({}, { session });
    await session.abortTransaction();
    await session.endSession();
    expect(await listedKeys(storage)).toEqual([]);
  });

  databaseTest(
    "D-7.6 every way to change a key deletes the old one, and nothing else does",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      const items = db.collection("items");
      const keys = ["set", "emptied", "pipeline", "replaced"];
      await items.insertMany(documents(...keys, "same"));
      await items.updateOne({ k: "set" }, { $set: { k: "set 2" } });
      await items.updateOne({ k: "emptied" }, { $set: { k: null } });
      await items.deleteOne({ k: null });
      await items.updateOne({ k: "pipeline" }, [{ $set: { k: "pipeline 2", v: 5 } }]);
      await items.replaceOne({ k: "replaced" }, { k: "replaced 2" });
      await items.updateOne({ k: "same" }, { $set: { v: 2, other: "new" }, $unset: { at: "" } });
      await items.updateOne({ k: "same" }, [{ $replaceWith: { k: "same", all: "x".repeat(500) } }]);
      await items.replaceOne({ k: "same" }, documents("same")[0] ?? {});
      await items.updateOne({ k: "same" }, { $set: { k: "same" } });
      expect(await listedKeys(storage)).toEqual(keys);
    },
  );

  databaseTest(
    "D-7.6 a key that is written as a number of another type stays the same key",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      await storage.tables.prepare([ITEMS, PARTS]);
      const parts = db.collection("parts");
      await parts.insertMany([1, 2].map((number) => ({ shop: "a", number: new Double(number) })));
      await parts.updateMany({}, [{ $set: { number: { $toLong: "$number" } } }]);
      await parts.replaceOne({ number: 1 }, { shop: "a", number: 1 });
      await parts.deleteOne({ number: 2 });
      const query = { after: null, sinceTime: null, limitRows: 10 };
      const { items } = await storage.tombstones.list(PARTS, query);
      expect(items.map(({ key }) => key)).toEqual([{ shop: "a", number: "2" }]);
    },
  );

  databaseTest(
    "D-7.6 more than 10,000 rows that go at once are all listed, in pages too, and forgotten",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      const keys = manyKeys("k", 10_001);
      await db.collection("items").insertMany(documents(...keys));
      const before = Date.now();
      await db.collection("items").deleteMany({});
      const after = Date.now();
      const { items } = await listItems(storage);
      expect(items.map(({ key }) => key["k"]).sort()).toEqual(keys);
      const times = items.map(({ deletedAt }) => Date.parse(deletedAt));
      expect(times.filter((ms) => ms < before || ms > after)).toEqual([]);
      const paged: Tombstone[] = [];
      for (let place: string | null = null, hasMore = true; hasMore; ) {
        const query = { after: place, sinceTime: null, limitRows: 3_000 };
        const page = await storage.tombstones.list(ITEMS, query);
        paged.push(...page.items);
        place = page.cursor;
        hasMore = page.hasMore;
      }
      expect(paged).toEqual([...items]);
      expect(await storage.tombstones.countAfter(ITEMS, null)).toBe(10_001);
      expect(await storage.tombstones.forgetAfter(ITEMS, null)).toBe(10_001);
    },
  );

  databaseTest("D-7.6 the largest rows are recorded", async ({ url, db }) => {
    const { storage } = await openInstance(url);
    const items = db.collection("items");
    const large = "x".repeat(16 * 1024 * 1024 - 200);
    await items.insertOne({ k: "deleted", large });
    await items.deleteOne({ k: "deleted" });
    await items.insertOne({ k: "renamed", large });
    await items.updateOne({ k: "renamed" }, { $set: { k: "another" } });
    expect(await listedKeys(storage)).toEqual(["deleted", "renamed"]);
  });

  databaseTest(
    "D-7.6 a document without a whole key was no row, and leaves nothing",
    async ({ url, db }) => {
      const { storage, logger } = await openInstance(url);
      await db.collection("items").insertOne({ v: 1 });
      await db.collection("items").deleteMany({});
      expect(await listedKeys(storage)).toEqual([]);
      expect(logger.lines).toEqual([]);
    },
  );

  databaseTest(
    "D-7.6 rows that go while no instance runs are recorded by the next, with the time of their delete",
    async ({ url, db }) => {
      const first = await openInstance(url);
      await db.collection("items").insertMany(documents("a", "b"));
      const { earliestAvailable } = await listItems(first.storage);
      await first.storage.close();
      await db.collection("items").deleteMany({});
      const deletedBefore = Date.now();
      await nextMillisecond();
      const second = await openInstance(url);
      const page = await listItems(second.storage);
      expect(page.items.map(({ key }) => key["k"]).sort()).toEqual(["a", "b"]);
      for (const { deletedAt } of page.items) {
        expect(Date.parse(deletedAt)).toBeLessThanOrEqual(deletedBefore);
      }
      expect(page.earliestAvailable).toBe(earliestAvailable);
      expect(second.logger.lines).toEqual([]);
    },
  );
});
