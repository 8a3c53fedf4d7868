// The reference models keep the contracts that they stand for in other tests.

import { SystemClock } from "../../../src/adapters/system/system.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { reputationContract } from "../../contract/lookups/reputation-contract.ts";
import { openParts } from "../../contract/lookups/reputation-harness.ts";
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

/** The same with its reputation half. */
async function openReputation(storeClock?: Clock) {
  const { storage, openSecond, nowMs, advance, dispose } = open(storeClock);
  return {
    storage: await openParts(storage, noCache),
    openSecond: async () => await openParts(await openSecond(), noCache),
    nowMs,
    advance,
    dispose,
  };
}

/** The store has everything at hand, and asks for no cache. */
function noCache(): never {
  throw new Error("A store in memory needs no cache");
}

storageContract({ name: "memory", options: OPTIONS, open: async () => open() });
fullStorageContract({ name: "memory", options: OPTIONS, open: async () => open() });
reputationContract({ name: "memory", options: OPTIONS, open: () => openReputation() });
reputationContract({
  name: "memory with a clock of its own",
  options: { isShared: true, randomRuns: 100, clock: "own" },
  open: () => openReputation(new SystemClock()),
});
