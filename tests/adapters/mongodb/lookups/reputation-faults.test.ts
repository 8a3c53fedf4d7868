// The ledger while one command in twelve loses its connection: its counts and records stay exact.
import { describe } from "bun:test";
import { openParts } from "../../../contract/lookups/reputation-harness.ts";
import { lookupSuite } from "../../../repositories/lookups/lookup-suite.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { remembering } from "../../../support/value-caches.ts";
import { makeDatabase } from "../support.ts";

const APP_NAME = "repsync_reputation_faults";
const FAULTS = {
  configureFailPoint: "failCommand",
  mode: { activationProbability: 0.08 },
  data: {
    appName: APP_NAME,
    closeConnection: true,
    failCommands: [
      ...["abortTransaction", "commitTransaction", "findAndModify", "insert", "update"],
      ...["aggregate", "find", "getMore"],
    ],
  },
};
const NO_FAULTS = { configureFailPoint: "failCommand", mode: "off" };

describe.skipIf(!mongoAvailable)("MongoDB faults", () => {
  lookupSuite({
    name: "MongoDB with faults",
    options: { isShared: true, randomRuns: 10 },
    async open() {
      const database = await makeDatabase();
      const admin = database.db.admin();
      const clock = new FakeClock();
      const open = async () => {
        await admin.command(NO_FAULTS);
        // The driver looks for the server again after each fault; by its own setting at most twice a second.
        const options = `&appName=${APP_NAME}&minHeartbeatFrequencyMS=20`;
        const storage = await database.open(options, undefined, clock);
        const parts = await openParts(storage, remembering);
        await admin.command(FAULTS);
        return parts;
      };
      return {
        storage: await open(),
        openSecond: open,
        nowMs: () => clock.nowMs(),
        advance: async (durationMs) => clock.advance(durationMs),
        async dispose() {
          await admin.command(NO_FAULTS);
          await database.dispose();
        },
      };
    },
  });
});
