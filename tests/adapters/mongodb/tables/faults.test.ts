// The contract while one command in ten loses its connection.

import { describe, expect } from "bun:test";
import { readingHistoryTests } from "../../../contract/tables/reading/reading-histories.ts";
import { tableExtrasTests } from "../../../contract/tables/table-store-extras.ts";
import { tableMarkerTests } from "../../../contract/tables/table-store-markers.ts";
import { tableSharingTests } from "../../../contract/tables/table-store-sharing.ts";
import { tableWriteTests } from "../../../contract/tables/table-store-writes.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest, makeDatabase, makeOlder } from "../support.ts";

const APP_NAME = "repsync_faults";
/** The driver looks for the server again after each fault; by its own setting no more than twice a second. */
const OPTIONS = `&appName=${APP_NAME}&minHeartbeatFrequencyMS=20`;
const FAULTS = {
  configureFailPoint: "failCommand",
  mode: { activationProbability: 0.1 },
  data: {
    appName: APP_NAME,
    closeConnection: true,
    failCommands: [
      ...["abortTransaction", "commitTransaction", "findAndModify", "insert", "update", "delete"],
      ...["aggregate", "find", "getMore", "create", "createIndexes", "listCollections"],
    ],
  },
};

const NO_FAULTS = { configureFailPoint: "failCommand", mode: "off" };

const HARNESS = {
  name: "MongoDB with faults",
  options: { isShared: true, randomRuns: 10 },
  async open() {
    const database = await makeDatabase();
    const admin = database.db.client.db("admin");
    // Making an instance's collections takes so many commands that one in ten would fail every try.
    const openInstance = async () => {
      await admin.command(NO_FAULTS);
      const storage = await database.open(OPTIONS);
      await admin.command(FAULTS);
      return storage;
    };
    return {
      storage: await openInstance(),
      openSecond: openInstance,
      nowMs: () => Date.now(),
      advance: (durationMs: number) => makeOlder(database, durationMs),
      async dispose() {
        await admin.command(NO_FAULTS);
        await database.dispose();
      },
    };
  },
};

const ITEMS = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });

describe.skipIf(!mongoAvailable)("MongoDB faults", () => {
  databaseTest("D-2.4 a store is opened and prepared while connections break", async (database) => {
    const admin = database.db.client.db("admin");
    await admin.command({ ...FAULTS, mode: { times: 30 } });
    try {
      const stores = await Promise.all([1, 2, 3].map(() => database.open(OPTIONS)));
      const tables = stores.map((storage) => TableUnderTest.prepare(storage, ITEMS));
      const [first, second] = await Promise.all(tables);
      await first?.write({ k: "a" });
      expect(await second?.rows()).toEqual([{ k: "a" }]);
    } finally {
      await admin.command(NO_FAULTS);
    }
  });

  readingHistoryTests(HARNESS);
  tableWriteTests(HARNESS);
  tableSharingTests(HARNESS);
  tableMarkerTests(HARNESS);
  tableExtrasTests(HARNESS);
});
