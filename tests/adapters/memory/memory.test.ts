// The reference models keep the contracts that they stand for in other tests.
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { openMemoryStore } from "../../support/memory-store.ts";

const OPTIONS = { isShared: true, randomRuns: 100 };

storageContract({ name: "memory", options: OPTIONS, open: async () => openMemoryStore() });
fullStorageContract({ name: "memory", options: OPTIONS, open: async () => openMemoryStore() });
