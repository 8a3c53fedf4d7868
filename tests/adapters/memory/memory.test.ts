// The reference models keep the contracts that they stand for in other tests; so does one that records no deletes.
import { AppError } from "../../../src/domain/shared/errors.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { NoTombstones } from "../../../src/ports/tables/table-store.ts";
import { documentTablesContract } from "../../contract/documents/documents-contract.ts";
import { fullStorageContract } from "../../contract/full-storage-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { openMemoryTables } from "../../support/stores/document-table-stores.ts";
import { openMemoryStore } from "../../support/stores/memory-store.ts";

const OPTIONS = { isShared: true, randomRuns: 100 };

storageContract({ name: "memory", options: OPTIONS, open: async () => openMemoryStore() });
fullStorageContract({ name: "memory", options: OPTIONS, open: async () => openMemoryStore() });

/** Refuses tables with `deletes` from now on, as a store that cannot see what other programs delete. */
function withoutDeletes<Storage extends Pick<FullStorage, "tables">>(storage: Storage): Storage {
  const prepare = storage.tables.prepare.bind(storage.tables);
  storage.tables.prepare = async (tables: readonly Table[]) => {
    const refused = tables.filter(({ deletes }) => deletes).map(({ name }) => `Table "${name}"`);
    if (refused.length > 0) {
      const text = `${refused.join(", ")}: this store records no deletes: remove "deletes" from the registry`;
      throw new AppError("schema_conflict", text);
    }
    return await prepare(tables);
  };
  return Object.assign(storage, { tombstones: new NoTombstones() });
}

storageContract({
  name: "memory without deletes",
  options: { ...OPTIONS, hasDeletes: false },
  open: async () => {
    const store = openMemoryStore();
    return { ...store, storage: withoutDeletes(store.storage) };
  },
});
documentTablesContract({
  name: "memory without deletes",
  hasDeletes: false,
  open: async () => {
    const store = await openMemoryTables();
    return { ...store, storage: withoutDeletes(store.storage) };
  },
});
