// The repositories of synchronization, made once for all that uses them.
import type { DocumentStore } from "../ports/documents.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import type { Names } from "./accounts/names.ts";
import { ExchangedBlocks } from "./exchanged-blocks.ts";
import { LateRows } from "./late-rows.ts";
import { type LeaseGiver, Leases } from "./leases.ts";
import { RejectedRecords } from "./rejected-records.ts";
import { RemoteMemory } from "./remote-memory.ts";
import { Runs } from "./runs.ts";

export class SyncRepositories {
  /** The store under the repositories, for commits that write rows. */
  readonly documents: DocumentStore;
  readonly names: Names;
  readonly lateRows: LateRows;
  readonly exchanged: ExchangedBlocks;
  readonly memory: RemoteMemory;
  readonly leases: LeaseGiver;
  readonly runs: Runs;
  readonly rejected: RejectedRecords;

  constructor(documents: DocumentStore, names: Names, ids: Ids) {
    this.documents = documents;
    this.names = names;
    this.lateRows = new LateRows(documents, ids);
    this.exchanged = new ExchangedBlocks(documents, ids);
    this.memory = new RemoteMemory(documents);
    this.leases = new Leases(documents);
    this.runs = new Runs(documents);
    this.rejected = new RejectedRecords(documents);
  }
}
