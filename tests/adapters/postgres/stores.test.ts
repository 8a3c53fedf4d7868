import { describe } from "bun:test";
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { postgresAvailable } from "../../support/stores/shared-postgres.ts";
import { makeDatabase, makeOlder } from "./support.ts";

const HARNESS = {
  name: "PostgreSQL",
  options: { isShared: true, randomRuns: 25, holds: "own types" },
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
} as const;

describe.skipIf(!postgresAvailable)("PostgreSQL", () => {
  storageContract(HARNESS);
  fullStorageContract(HARNESS);
});
