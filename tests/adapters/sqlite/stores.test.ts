import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { openFileStore, openMemoryStore } from "./stores-support.ts";

const MEMORY = {
  name: "SQLite in memory",
  options: { isShared: false, randomRuns: 100 },
  open: openMemoryStore,
};

const FILE = {
  name: "SQLite file",
  options: { isShared: true, randomRuns: 25 },
  open: openFileStore,
};

for (const harness of [MEMORY, FILE]) {
  storageContract(harness);
  fullStorageContract(harness);
}
