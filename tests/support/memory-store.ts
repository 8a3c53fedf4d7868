import { FakeClock } from "./fake-clock.ts";
import { MemoryDatabase, MemoryStorage } from "./memory/storage.ts";
import { withRunParts } from "./run-parts.ts";

/** A store of its own, whose instances are objects on one database. */
export function openMemoryStore() {
  const clock = new FakeClock();
  const database = new MemoryDatabase(clock);
  return {
    storage: withRunParts(new MemoryStorage(database)),
    openSecond: async () => withRunParts(new MemoryStorage(database)),
    nowMs: () => clock.nowMs(),
    advance: async (durationMs: number) => clock.advance(durationMs),
    dispose: async () => {},
  };
}
