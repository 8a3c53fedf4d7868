// The repositories of synchronization, made once for all that uses them.
import type { DocumentStore } from "../ports/documents.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import type { Names } from "./accounts/names.ts";
import { LateRows } from "./late-rows.ts";
import { type LeaseGiver, Leases } from "./leases.ts";
import { RejectedRecords } from "./rejected-records.ts";
import { ExchangedBlocks, RemoteMemory } from "./remote-memory.ts";
import { Runs } from "./runs.ts";

export type SyncRepositories = ReturnType<typeof makeSyncRepositories>;

export function makeSyncRepositories(documents: DocumentStore, names: Names, ids: Ids) {
  return {
    /** The store under the repositories, for commits that write rows. */
    documents,
    names,
    lateRows: new LateRows(documents, ids),
    exchanged: new ExchangedBlocks(documents, ids),
    memory: new RemoteMemory(documents),
    leases: new Leases(documents) as LeaseGiver,
    runs: new Runs(documents),
    rejected: new RejectedRecords(documents),
  } as const;
}
