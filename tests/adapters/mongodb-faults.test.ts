// The contract while one command in ten loses its connection.
import { describe } from "bun:test";
import { accountStoreContract } from "../contract/account-store-contract.ts";
import { leaseStoreContract } from "../contract/lease-store-contract.ts";
import { rejectedRecordsContract } from "../contract/rejected-records-contract.ts";
import { rowHistoryTests } from "../contract/row-source-histories.ts";
import { secretStoreContract } from "../contract/secret-store-contract.ts";
import { sessionStoreContract } from "../contract/session-store-contract.ts";
import { signInGuardContract } from "../contract/sign-in-guard-contract.ts";
import { tableHistoryTests } from "../contract/table-store-histories.ts";
import { tableMarkerTests } from "../contract/table-store-markers.ts";
import { tableSharingTests } from "../contract/table-store-sharing.ts";
import { tableWriteTests } from "../contract/table-store-writes.ts";
import { mongoAvailable } from "../support/shared-mongo.ts";
import { makeDatabase, makeOlder } from "./mongodb-support.ts";

const APP_NAME = "repsync_faults";
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

const HARNESS = {
  name: "MongoDB with faults",
  options: { isShared: true, randomRuns: 10 },
  async open() {
    const database = await makeDatabase();
    const admin = database.db.client.db("admin");
    const openInstance = () => database.open(`&appName=${APP_NAME}`);
    await admin.command(FAULTS);
    return {
      storage: await openInstance(),
      openSecond: openInstance,
      nowMs: () => Date.now(),
      advance: (durationMs: number) => makeOlder(database, durationMs),
      async dispose() {
        await admin.command({ configureFailPoint: "failCommand", mode: "off" });
        await database.dispose();
      },
    };
  },
};

describe.skipIf(!mongoAvailable)("MongoDB faults", () => {
  tableHistoryTests(HARNESS);
  tableWriteTests(HARNESS);
  tableSharingTests(HARNESS);
  tableMarkerTests(HARNESS);
  rowHistoryTests(HARNESS);
  leaseStoreContract(HARNESS);
  rejectedRecordsContract(HARNESS);
  accountStoreContract(HARNESS);
  sessionStoreContract(HARNESS);
  signInGuardContract(HARNESS);
  secretStoreContract(HARNESS);
});
