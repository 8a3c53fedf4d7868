import { reputationContract } from "../../contract/lookups/reputation-contract.ts";
import { asReputation, forgetful, remembering } from "./reputation-support.ts";
import { openFileStore, openMemoryStore } from "./stores-support.ts";

reputationContract({
  name: "SQLite in memory, nothing remembered",
  options: { isShared: false, randomRuns: 100 },
  open: async () => await asReputation(await openMemoryStore(), forgetful),
});

reputationContract({
  name: "SQLite file, LRU cache",
  options: { isShared: true, randomRuns: 25 },
  open: async () => await asReputation(await openFileStore(), remembering),
});
