import { describe } from "bun:test";
import { tombstonesContract } from "../../../contract/tables/tombstones/tombstones-contract.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { makeDatabase, otherProgram } from "../support.ts";

describe.skipIf(!postgresAvailable)("PostgreSQL", () => {
  tombstonesContract({
    name: "PostgreSQL",
    options: { isShared: true, randomRuns: 10, holds: "own types" },
    async open() {
      const database = await makeDatabase();
      const program = otherProgram(database);
      const openInstance = async () => Object.assign(await database.open(), { program });
      return {
        storage: await openInstance(),
        openSecond: openInstance,
        // The server is on this machine.
        nowMs: () => Date.now(),
        advance: () => Promise.resolve(),
        dispose: () => database.dispose(),
      };
    },
  });
});
