import { MemoryDatabase, MemoryStorage } from "../memory/storage.ts";
import { withRunParts } from "../run-parts.ts";
import { FakeClock } from "../time/fake-clock.ts";

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
