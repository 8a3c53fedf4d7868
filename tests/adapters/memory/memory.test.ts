// The reference models keep the contracts that they stand for in other tests.
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryDatabase, MemoryStorage } from "../../support/memory/storage.ts";
import { withRunParts } from "../../support/run-parts.ts";

const OPTIONS = { isShared: true, randomRuns: 100 };

/** A store of its own, whose instances are objects on one database. `clock` is the time of callers. */
function open(storeClock?: Clock) {
  const clock = new FakeClock();
  const database = new MemoryDatabase(storeClock ?? clock);
  return {
    storage: withRunParts(new MemoryStorage(database)),
    openSecond: async () => withRunParts(new MemoryStorage(database)),
    nowMs: () => clock.nowMs(),
    advance: async (durationMs: number) => clock.advance(durationMs),
    dispose: async () => {},
  };
}

storageContract({ name: "memory", options: OPTIONS, open: async () => open() });
fullStorageContract({ name: "memory", options: OPTIONS, open: async () => open() });
