import { describe } from "bun:test";
import { storageContract } from "../../contract/storage-contract.ts";
import { mongoAvailable } from "../../support/shared-mongo.ts";
import { makeDatabase } from "./support.ts";

describe.skipIf(!mongoAvailable)("MongoDB", () => {
  storageContract({
    name: "MongoDB",
    options: { isShared: true, randomRuns: 25 },
    async open() {
      const database = await makeDatabase();
      return {
        storage: await database.open(),
        openSecond: () => database.open(),
        dispose: () => database.dispose(),
      };
    },
  });
});
