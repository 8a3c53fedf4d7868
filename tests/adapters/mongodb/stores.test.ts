import { describe } from "bun:test";
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { mongoAvailable } from "../../support/stores/shared-mongo.ts";
import { makeDatabase, makeOlder } from "./support.ts";

const HARNESS = {
  name: "MongoDB",
  options: { isShared: true, randomRuns: 25 },
  async open() {
    const database = await makeDatabase();
    return {
      storage: await database.open(),
      openSecond: () => database.open(),
      // The server is on this machine.
      nowMs: () => Date.now(),
      advance: (durationMs: number) => makeOlder(database, durationMs),
      dispose: () => database.dispose(),
    };
  },
};

describe.skipIf(!mongoAvailable)("MongoDB", () => {
  storageContract(HARNESS);
  fullStorageContract(HARNESS);
});
