import { SystemClock } from "../../../src/adapters/system/system.ts";
import type { OtherProgram } from "../../contract/tables/tombstones/tombstone-table.ts";
import { tombstonesContract } from "../../contract/tables/tombstones/tombstones-contract.ts";
import { MemoryDatabase, MemoryStorage } from "../../support/memory/storage.ts";
import type { MemoryTables } from "../../support/memory/tables.ts";
import { withRunParts } from "../../support/run-parts.ts";

tombstonesContract({
  name: "memory",
  options: { isShared: true, randomRuns: 200 },
  async open() {
    const clock = new SystemClock();
    const database = new MemoryDatabase(clock);
    const program = otherProgram(database.tables);
    const openInstance = () =>
      Object.assign(withRunParts(new MemoryStorage(database)), { program });
    return {
      storage: openInstance(),
      openSecond: async () => openInstance(),
      nowMs: () => clock.nowMs(),
      advance: () => Promise.resolve(),
      dispose: async () => {},
    };
  },
});

function otherProgram(tables: MemoryTables): OtherProgram {
  return {
    insert: async (table, row) => tables.writeOwn(table, row),
    async update(table, key, changes) {
      const row = { ...tables.rowByKey(table, key), ...changes };
      if (table.keyColumns.some(({ name }) => Object.hasOwn(changes, name))) {
        tables.remove(table, key);
      }
      tables.writeOwn(table, row);
    },
    remove: async (table, key) => tables.remove(table, key),
    async removeAll(table) {
      for (const row of [...tables.sortedRows(table)]) tables.remove(table, row);
    },
  };
}
