// The reference models keep the contracts that they stand for in other tests.
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { reputationContract } from "../../contract/lookups/reputation-contract.ts";
import { openParts } from "../../contract/lookups/reputation-harness.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryDatabase, MemoryStorage } from "../../support/memory/storage.ts";

const options = { isShared: true, randomRuns: 100 };

/** A store of its own, whose instances and time are one object each. */
function open() {
  const clock = new FakeClock();
  const database = new MemoryDatabase(clock);
  const openSecond = async () => new MemoryStorage(database);
  return {
    storage: new MemoryStorage(database),
    openSecond,
    nowMs: () => clock.nowMs(),
    advance: async (durationMs: number) => clock.advance(durationMs),
    dispose: async () => {},
  };
}

/** The store keeps everything at hand and asks for no cache. */
const noCache = (): never => {
  throw new Error("A store in memory needs no cache");
};

storageContract({ name: "memory", options, open: async () => open() });
fullStorageContract({ name: "memory", options, open: async () => open() });
reputationContract({
  name: "memory",
  options,
  async open() {
    const store = open();
    return {
      storage: await openParts(store.storage, noCache),
      openSecond: async () => await openParts(await store.openSecond(), noCache),
      nowMs: store.nowMs,
      advance: store.advance,
      dispose: store.dispose,
    };
  },
});
