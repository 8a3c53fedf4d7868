import { describe } from "bun:test";
import { reputationContract } from "../../contract/lookups/reputation-contract.ts";
import { mongoAvailable } from "../../support/shared-mongo.ts";
import { openReputationStore, remembering } from "./reputation-support.ts";

describe.skipIf(!mongoAvailable)("MongoDB", () => {
  reputationContract({
    name: "MongoDB, LRU cache",
    options: { isShared: true, randomRuns: 25 },
    open: () => openReputationStore(remembering),
  });
});
