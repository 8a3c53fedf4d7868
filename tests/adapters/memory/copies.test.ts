import { storeHeld } from "../../../src/domain/shared/store-format.ts";
import { copiesContract } from "../../contract/copies/copies-contract.ts";
import { dumpMemory, EmptyMemory } from "../../support/memory/copies.ts";
import { MemoryDatabase, MemoryStorage } from "../../support/memory/storage.ts";
import { FakeClock } from "../../support/time/fake-clock.ts";

const databases: MemoryDatabase[] = [];

function databaseOf(url: string): MemoryDatabase {
  const found = databases[Number(url)];
  if (found === undefined) throw new Error(`No database ${url}`);
  return found;
}

copiesContract({
  name: "memory",
  isAvailable: true,
  isLasting: false,
  makeUrl: async () => String(databases.push(new MemoryDatabase(new FakeClock())) - 1),
  open: async (url) => new MemoryStorage(databaseOf(url)),
  source: async (url) => ({
    dump: () => dumpMemory(databaseOf(url)),
    requireStopped: async () => {
      if (databaseOf(url).holders.size > 0) throw storeHeld(0);
    },
    close: async () => {},
  }),
  claim: (url) => EmptyMemory.claim(databaseOf(url)),
});
