import { describe } from "bun:test";
import { tombstonesContract } from "../../../contract/tables/tombstones/tombstones-contract.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { makeDatabase } from "../support.ts";
import { otherProgram } from "./support.ts";

describe.skipIf(!mongoAvailable)("MongoDB", () => {
  tombstonesContract({
    name: "MongoDB",
    options: { isShared: true, randomRuns: 10 },
    async open() {
      const database = await makeDatabase();
      const program = otherProgram(database.db);
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
