// The reference models keep the contracts that they stand for in other tests.
import { describe } from "bun:test";
import { leaseStoreContract } from "../../contract/runs/lease-store-contract.ts";
import { rejectedRecordsContract } from "../../contract/runs/rejected-records-contract.ts";
import { runStoreContract } from "../../contract/runs/run-store-contract.ts";
import { storageContract } from "../../contract/storage-contract.ts";
import { rowSourceContract } from "../../contract/tables/row-source-contract.ts";
import { tableMarkerTests } from "../../contract/tables/table-store-markers.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { MemoryStorage } from "../../support/memory-storage.ts";
import {
  MemoryLeaseStore,
  MemoryRejectedRecords,
  MemoryRowSource,
  MemoryRunStore,
} from "../../support/memory-sync-stores.ts";

const options = { isShared: false, randomRuns: 100 };

storageContract({
  name: "memory",
  options,
  async open() {
    const storage = new MemoryStorage();
    return { storage, dispose: () => storage.close() };
  },
});

describe("memory: stores of sync runs", () => {
  const harness = { name: "memory", options, open };
  tableMarkerTests(harness);
  rowSourceContract(harness);
  leaseStoreContract(harness);
  runStoreContract(harness);
  rejectedRecordsContract(harness);
});

async function open() {
  const clock = new FakeClock();
  const tables = new MemoryStorage();
  const storage = {
    ...{ tables, markers: tables, close: () => tables.close() },
    rows: new MemoryRowSource(tables),
    leases: new MemoryLeaseStore(clock),
    runs: new MemoryRunStore(),
    rejected: new MemoryRejectedRecords(),
  };
  return {
    storage,
    nowMs: () => clock.nowMs(),
    advance: async (durationMs: number) => clock.advance(durationMs),
    dispose: () => tables.close(),
  };
}
