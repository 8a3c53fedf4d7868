// The reference model keeps the contract that it stands for in other tests.
import { storageContract } from "../contract/storage-contract.ts";
import { MemoryStorage } from "../support/memory-storage.ts";

storageContract({
  name: "memory",
  options: { isShared: false, randomRuns: 100 },
  async open() {
    const storage = new MemoryStorage();
    return { storage, dispose: () => storage.close() };
  },
});
