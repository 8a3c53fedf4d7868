// Several instances, of which one at a time records deletes.

import { describe, expect } from "bun:test";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Transaction } from "../../../../src/ports/documents.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { ITEMS, WITHOUT_DELETES } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { databaseTest, type TestDatabase } from "../support.ts";
import {
  documents,
  holdRecording,
  listedKeys,
  listItems,
  manyKeys,
  NOT_RECORDED,
  openInstance,
} from "./support.ts";

const CHILD = new URL("./child.ts", import.meta.url).pathname;
const GUARDED = { conflict: "newer" } as const;

describe.skipIf(!mongoAvailable)("MongoDB: instances that record deletes", () => {
  databaseTest(
    "D-7.6 when the process that records is killed another goes on, and no delete is missed",
    async (database) => {
      const { url, db } = database;
      const child = Bun.spawn([process.execPath, CHILD, url], {
        stdout: "pipe",
        stderr: "inherit",
      });
      const { value } = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(value).trim()).toBe("recording");
      const { storage, logger } = await openInstance(url);
      const keys = manyKeys("k", 5_000);
      await db.collection("items").insertMany(documents(...keys));
      const before = await listItems(storage);
      await db.collection("items").deleteMany({});
      // It has recorded some of them.
      const tombstones = db.collection("repsync_tombstones");
      await pollUntil("tombstones", async () => (await tombstones.countDocuments()) > 0);
      child.kill("SIGKILL");
      await child.exited;
      const { items, earliestAvailable } = await listItems(storage);
      expect(items.map(({ key }) => String(key["k"])).sort()).toEqual(keys);
      expect(earliestAvailable).toBe(before.earliestAvailable);
      expect(logger.lines).toEqual([]);
      // Each was given one place.
      expect(await storage.tombstones.end(ITEMS)).toMatch(/^[0-9a-f]{24}-5000$/);
    },
  );

  databaseTest(
    "D-7.6 an instance that is closed leaves recording to another at once",
    async ({ url, db }) => {
      const instances = [await openInstance(url), await openInstance(url), await openInstance(url)];
      const [first, , third] = instances;
      await db.collection("items").insertMany(documents("a", "b", "c"));
      const place = await third?.storage.tombstones.end(ITEMS);
      for (const [n, { storage }] of instances.slice(0, 2).entries()) {
        await db.collection("items").deleteOne({ k: "abc".charAt(n) });
        await storage.close();
      }
      await db.collection("items").deleteOne({ k: "c" });
      expect(first).toBe(instances[0]);
      expect(place).toMatch(/^[0-9a-f]{24}-0$/);
      expect(third && (await listedKeys(third.storage))).toEqual(["a", "b", "c"]);
    },
  );

  databaseTest(
    "D-7.6 a place that is read while a write goes on stands before what that lists",
    async ({ url }) => {
      const [{ storage }, other] = [await openInstance(url), await openInstance(url)];
      const deleted = [{ index: 0, key: { k: "a" }, deletedAt: "2024-05-01T10:00:00Z" }];
      const after = await storage.documents.transact({ name: "test.bury" }, async (tx) => {
        await tx.tables.write(ITEMS, [], { deleted });
        return await other.storage.tombstones.end(ITEMS);
      });
      const query = { after, sinceTime: null, limitRows: 10 };
      const { items } = await storage.tombstones.list(ITEMS, query);
      expect(items.map(({ key }) => key)).toEqual([{ k: "a" }]);
    },
  );

  databaseTest("D-7.6 calls that wait at the same time share barriers", async ({ url, db }) => {
    const { storage } = await openInstance(url);
    const raised = async () => {
      const [barrier] = await db.collection("repsync_delete_barriers").find().toArray();
      return Number(barrier?.["number"] ?? 0);
    };
    const before = await raised();
    const calls = Array.from({ length: 40 }, () => storage.tombstones.end(ITEMS));
    const places = new Set(await Promise.all(calls));
    expect(places.size).toBe(1);
    expect([...places][0]).toMatch(/^[0-9a-f]{24}-0$/);
    expect((await raised()) - before).toBeLessThanOrEqual(2);
  });

  databaseTest(
    "D-7.6 a guarded write sees what was deleted before it, on whichever instance",
    async ({ url, db }) => {
      const instances = [await openInstance(url), await openInstance(url)];
      for (let n = 0; n < 20; n++) {
        const k = `k${n}`;
        const row = { k, at: "2024-05-01T10:00:00Z", v: 1 };
        await db.collection("items").insertMany(documents(k));
        await db.collection("items").deleteOne({ k });
        const { storage } = instances[n % 2] ?? instances[0]!;
        const outcome = await writeTo(storage, ITEMS, asWrites([row]), GUARDED);
        expect([k, outcome.kept, outcome.changed]).toEqual([k, [0], 0]);
      }
      expect(await db.collection("items").countDocuments()).toBe(0);
    },
  );

  databaseTest(
    "D-7.6 a guarded write runs again where a delete of its key was committed meanwhile, beside one of a row",
    async ({ url, db }) => {
      const [one, other] = [await openInstance(url), await openInstance(url)];
      const at = "2024-05-01T10:00:00Z";
      const deleted = ["here", "coming"].map((k, index) => {
        return { index, key: { k }, deletedAt: "2024-05-01T11:00:00Z" };
      });
      await writeTo(one.storage, ITEMS, [], { deleted: deleted.slice(0, 1) });
      // Without the guard a row comes beside its tombstone, which the next delete leaves as it is.
      await writeTo(one.storage, ITEMS, asWrites([{ k: "here", at, v: 1 }]));
      const came = asWrites([{ k: "coming", at, v: 1 }]);
      const { documents: pushes } = other.storage;
      let attempts = 0;
      const push = async (tx: Transaction) => {
        await tx.read({ rowsOf: ITEMS, where: ["k", ["coming"]] });
        if (++attempts === 1) await writeTo(one.storage, ITEMS, [], { deleted });
        await tx.tables.write(ITEMS, came, GUARDED);
      };
      // Instances of one process start at the same lane: within another body the push has the next one.
      await pushes.transact({ name: "test.lane" }, () =>
        pushes.transact({ name: "test.push" }, push),
      );
      expect(await db.collection("items").countDocuments()).toBe(0);
      expect(await listedKeys(one.storage)).toEqual(["here", "coming"]);
      expect(attempts).toBe(2);
    },
  );

  databaseTest(
    "D-7.6 the recorder keeps its place while nothing is deleted: after a quiet month the oplog still has it",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      await listItems(storage);
      const place = async () => {
        const [state] = await db.collection("repsync_delete_recorder").find().toArray();
        return state?.["token"]["_data"];
      };
      const before = await place();
      await db.collection("others").insertOne({ k: "a" });
      await pollUntil("place", async () => (await place()) !== before);
    },
  );

  databaseTest(
    "D-7.6 a table that joins hides no delete of another of which none was recorded yet, brings none back, and is no problem",
    async ({ url, db }) => {
      const { storage, logger } = await openInstance(url);
      await holdRecording(db);
      await db.collection("items").insertMany(documents("a"));
      await db.collection("items").deleteOne({ k: "a" });
      await db.collection("others").insertMany(documents("gone"));
      await db.collection("others").deleteMany({});
      for (const name of ["others", "more"]) {
        await storage.tables.prepare([{ ...ITEMS, name }]);
        expect(await listedKeys(storage)).toEqual(["a"]);
      }
      await storage.tombstones.prune(ITEMS, "2099-01-01T00:00:00Z");
      await storage.tables.prepare([{ ...ITEMS, name: "last" }]);
      expect(await listedKeys(storage)).toEqual([]);
      expect(logger.lines).toEqual([]);
    },
  );

  databaseTest(
    "D-7.6 own deletes stay noted for an hour, which is longer than clocks of servers differ",
    async ({ url, db }) => {
      const notes = db.collection<{ readonly _id: string }>("repsync_own_deletes");
      const { storage } = await openInstance(url);
      const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);
      const young = { _id: "1/2", at: hoursAgo(0.9) };
      await notes.insertMany([{ _id: "1/1", at: hoursAgo(1.1) }, young]);
      await listItems(storage);
      await pollUntil("notes", async () => (await notes.countDocuments()) === 1);
      expect(await notes.find().toArray()).toEqual([young]);
    },
  );

  databaseTest(
    "D-7.6 a claim that ends later than any could keeps nobody from recording: a clock was set back",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      await holdRecording(db, 3_600_000);
      await db.collection("items").insertMany(documents("a"));
      await db.collection("items").deleteOne({ k: "a" });
      expect(await listedKeys(storage)).toEqual(["a"]);
    },
  );

  databaseTest(
    "D-7.6 what was not recorded after 10 s is store_unavailable, and nothing is written",
    async (database) => {
      const clock = new PacedClock();
      const { storage } = await openInstance(database.url, clock);
      await listItems(storage);
      const unavailable = { kind: "store_unavailable", message: NOT_RECORDED };
      const row = { k: "a", at: "2024-05-01T10:00:00Z", v: 1 };
      const query = { after: null, sinceTime: null, limitRows: 10 };
      for (const call of [
        () => storage.tombstones.list(ITEMS, query),
        () => storage.tombstones.end(ITEMS),
        () => writeTo(storage, ITEMS, asWrites([row]), GUARDED),
      ]) {
        await holdRecording(database.db);
        clock.times = 100;
        await expect(call()).rejects.toMatchObject(unavailable);
        clock.times = 1;
      }
      expect(await database.db.collection("items").countDocuments()).toBe(0);
      // A plain push does not look at deletes.
      expect((await writeTo(storage, ITEMS, asWrites([row]))).changed).toBe(1);
    },
  );

  databaseTest(
    "D-7.6 an instance with an older registry says that deletes are not recorded, and goes on when it is alone",
    async (database) => {
      const older = await openInstance(database.url);
      await database.db.collection("items").insertMany(documents("a", "b", "c"));
      await database.db.collection("items").deleteOne({ k: "a" });
      expect(await listedKeys(older.storage)).toEqual(["a"]);
      const newer = await openMongoStorage({ url: database.url, clock: new SystemClock() });
      const others = { ...ITEMS, name: "others" };
      await newer.tables.prepare([others, WITHOUT_DELETES]);
      await database.db.collection("items").deleteOne({ k: "b" });
      const message =
        'Deletes from table "items" are not recorded: another instance was started with a registry in which it has no "deletes"';
      const unavailable = { kind: "store_unavailable", message };
      await expect(older.storage.tombstones.end(ITEMS)).rejects.toMatchObject(unavailable);
      const query = { after: null, sinceTime: null, limitRows: 1 };
      const since = async () => (await newer.tombstones.list(others, query)).earliestAvailable;
      const begun = await since();
      const states = database.db.collection("repsync_delete_recorder");
      const end = async () => Number((await states.findOne())?.["expiresAt"]);
      const lastLook = (await end()) + 2_500;
      // Longer than the pause between two looks of the older one, which leaves the record alone.
      await pollUntil("renewals", async () => (await end()) > lastLook);
      expect(await since()).toBe(begun);
      await newer.close();
      const time = Date.now();
      await makeRecorderOlder(database, 60_000);
      const place = () => older.storage.tombstones.end(ITEMS).catch(() => null);
      await pollUntil("records", async () => (await place()) !== null);
      await database.db.collection("items").deleteOne({ k: "c" });
      const { items, earliestAvailable } = await listItems(older.storage);
      expect(items.map(({ key }) => key["k"])).toEqual(["a", "c"]);
      expect(Date.parse(earliestAvailable)).toBeGreaterThanOrEqual(time);
    },
  );
});

/** Goes so many times as fast as time. */
class PacedClock {
  times = 1;
  readonly #system = new SystemClock();
  #lookedAtMs = this.#system.monotonicMs();
  #ms = this.#lookedAtMs;

  monotonicMs(): number {
    const nowMs = this.#system.monotonicMs();
    this.#ms += (nowMs - this.#lookedAtMs) * this.times;
    this.#lookedAtMs = nowMs;
    return this.#ms;
  }
}

/** Lets time pass for whoever may become the recorder. */
async function makeRecorderOlder({ db }: TestDatabase, durationMs: number): Promise<void> {
  const older = [{ $set: { expiresAt: { $subtract: ["$expiresAt", durationMs] } } }];
  await db.collection("repsync_delete_recorder").updateMany({}, older);
}
