// What keeps deletes from being recorded is found, told in the log, and moves the time since when the list is complete.
import { describe, expect } from "bun:test";
import type { CollectionInfo, Db } from "mongodb";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import { ITEMS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { pollUntil } from "../../../support/time/poll-until.ts";
import { databaseTest, type TestDatabase } from "../support.ts";
import {
  documents,
  holdRecording,
  type Instance,
  listedKeys,
  listItems,
  openInstance,
} from "./support.ts";

/** `isNoticed` tells whether the record has begun anew since. */
type Interruption = (database: TestDatabase, isNoticed: () => Promise<boolean>) => Promise<unknown>;

const INTERRUPTIONS: readonly [name: string, reason: string, interrupt: Interruption][] = [
  [
    "a delete while pre-images are off",
    "its collection kept no pre-images for a while",
    ({ db }, isNoticed) =>
      withoutPreImages(db, isNoticed, (k) => db.collection("items").deleteOne({ k })),
  ],
  [
    "a change of a key while pre-images are off",
    "its collection kept no pre-images for a while",
    ({ db }, isNoticed) =>
      withoutPreImages(db, isNoticed, (k) =>
        db.collection("items").updateOne({ k }, { $set: { k: `${k}, changed` } }),
      ),
  ],
  [
    "a collection that is dropped",
    "its collection was dropped or renamed",
    ({ db }) => db.collection("items").drop(),
  ],
  [
    "a collection that is renamed",
    "its collection was dropped or renamed",
    ({ db }) => db.collection("items").rename("others"),
  ],
  [
    "a collection that takes the name",
    "its collection was dropped or renamed",
    async ({ db }) => {
      await db.collection("others").insertOne({ k: "b", at: null });
      await db.collection("others").rename("items", { dropTarget: true });
    },
  ],
  ...(
    [
      ["is removed", { $unset: { k: "" } }],
      ["is renamed", { $rename: { k: "former" } }],
    ] as const
  ).map(([how, update]): (typeof INTERRUPTIONS)[number] => [
    `a key column that ${how}`,
    "rows lost a column of their key",
    ({ db }) => db.collection("items").updateOne({ k: "a" }, update),
  ]),
  [
    "a row with two forms that make an event too large",
    "a row was replaced that is too large for an event",
    ({ db }) => replaceLargeRow(db),
  ],
];

async function replaceLargeRow(db: Db): Promise<void> {
  const large = "x".repeat(9 * 1024 * 1024);
  await db.collection("items").insertOne({ k: "large", large });
  await db.collection("items").replaceOne({ k: "large" }, { k: "other", large });
}

/** Changes a row while there are none: the recorder turns them on again at once, on a busy machine before the row has changed. */
async function withoutPreImages(
  db: Db,
  isNoticed: () => Promise<boolean>,
  change: (k: string) => Promise<unknown>,
): Promise<void> {
  let n = 0;
  do {
    n++;
    await db.collection("items").insertMany(documents(`row ${n}`));
    await db.command({ collMod: "items", changeStreamPreAndPostImages: { enabled: false } });
    await change(`row ${n}`);
  } while ((await keepsPreImages(db)) && !(await isNoticed()));
}

/** By the clock that the record goes by: on a busy machine the server's runs some 100 ms behind the machine's. */
async function serverTimeMs({ db }: TestDatabase): Promise<number> {
  const stages = [{ $limit: 1 }, { $project: { now: "$$NOW" } }];
  const [found] = await db.collection("items").aggregate(stages).toArray();
  return new Date(found?.["now"]).getTime();
}

describe.skipIf(!mongoAvailable)("MongoDB: interruptions of the record of deletes", () => {
  for (const [name, reason, interrupt] of INTERRUPTIONS) {
    databaseTest(
      `D-7.6 ${name} moves earliestAvailable, and deletes are recorded again`,
      async (database) => {
        const instance = await openInstance(database.url);
        await database.db.collection("items").insertMany(documents("a", "b"));
        await listItems(instance.storage);
        const timeMs = await serverTimeMs(database);
        const completeSinceMs = async () =>
          Date.parse((await listItems(instance.storage)).earliestAvailable);
        await interrupt(database, async () => (await completeSinceMs()) >= timeMs);
        const { earliestAvailable } = await listItems(instance.storage);
        expect(Date.parse(earliestAvailable)).toBeGreaterThanOrEqual(timeMs);
        await expectWarnings(instance, reason);
        await recordsAgain(database, instance.storage);
        expect((await listItems(instance.storage)).earliestAvailable).toBe(earliestAvailable);
      },
    );
  }

  databaseTest(
    "D-7.6 what waits for the record is answered where that begins anew meanwhile",
    async ({ url, db }) => {
      const { storage } = await openInstance(url);
      await listItems(storage);
      await holdRecording(db, 3_000);
      await replaceLargeRow(db);
      const query = { after: null, sinceTime: null, limitRows: 10 };
      expect((await storage.tombstones.list(ITEMS, query)).items).toEqual([]);
    },
  );

  databaseTest(
    "D-7.6 a database that is dropped is recorded again from its first table on",
    async (database) => {
      const instance = await openInstance(database.url);
      const { db } = database;
      await db.collection("items").insertMany(documents("a"));
      await listItems(instance.storage);
      const time = Date.now();
      await db.dropDatabase();
      // The recorder makes what it needs anew, once it has noticed.
      const recorder = db.collection("repsync_delete_recorder");
      await pollUntil("recorder", async () => (await recorder.countDocuments()) > 0);
      const { earliestAvailable, items } = await listItems(instance.storage);
      expect(items).toEqual([]);
      expect(Date.parse(earliestAvailable)).toBeGreaterThanOrEqual(time);
    },
  );
});

describe.skipIf(!mongoAvailable)("MongoDB: a server that refuses the stream", () => {
  databaseTest(
    "D-7.6 a problem is told once, and again when it comes again",
    async ({ url, db }) => {
      const appName = "refused_stream";
      const { storage, logger } = await openInstance(`${url}&appName=${appName}`);
      const data = { appName, failCommands: ["aggregate", "getMore"], errorCode: 13 };
      for (const n of [1, 2]) {
        await listItems(storage);
        await db.admin().command({ configureFailPoint: "failCommand", mode: { times: 4 }, data });
        await pollUntil(`message ${n}`, () => Promise.resolve(logger.lines.length === n));
      }
      await listItems(storage);
      const message = "Deletes cannot be recorded; guarded pushes and runs fail meanwhile";
      const told = { level: "error", message };
      expect(logger.lines).toMatchObject([told, told]);
    },
  );
});

async function expectWarnings({ logger }: Instance, reason: string): Promise<void> {
  // It is told after the commit in which it is kept.
  await pollUntil("warning", async () => logger.lines.length > 0);
  const message = `Deletes may have been missed, as ${reason}: compare the table with its remote`;
  expect(logger.lines).toEqual([{ level: "warn", message, fields: { table: "items" } }]);
}

async function recordsAgain({ db }: TestDatabase, storage: FullStorage): Promise<void> {
  await db.collection("items").insertMany(documents("again"));
  // A collection that was just made is told to keep pre-images.
  await pollUntil("pre-images", () => keepsPreImages(db));
  // It has no indexes until a start.
  await storage.tables.prepare([ITEMS]);
  await db.collection("items").deleteOne({ k: "again" });
  expect(await listedKeys(storage)).toContain("again");
}

async function keepsPreImages(db: Db): Promise<boolean> {
  const [items] = await db.listCollections({ name: "items" }).toArray();
  return (items as CollectionInfo).options?.["changeStreamPreAndPostImages"]?.enabled === true;
}
