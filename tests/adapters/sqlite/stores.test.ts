import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { openFileStore, openMemoryStore } from "./stores-support.ts";

fullStorageContract({
  name: "SQLite in memory",
  options: { isShared: false, randomRuns: 100 },
  open: openMemoryStore,
});

fullStorageContract({
  name: "SQLite file",
  options: { isShared: true, randomRuns: 25 },
  open: openFileStore,
});
