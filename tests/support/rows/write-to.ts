import type { Table } from "../../../src/domain/sync/table/table.ts";
import type { DocumentStore } from "../../../src/ports/documents.ts";
import type { TableStore } from "../../../src/ports/tables/table-store.ts";
import type { RowWrite } from "../../../src/ports/tables/table-writes.ts";
import type { LateRows } from "../../../src/repositories/late-rows.ts";
import type { LeaseClaim } from "../../../src/repositories/leases.ts";
import {
  type CommitExtras,
  type RowsToWrite,
  type WriteOutcome,
  writeRows,
} from "../../../src/usecases/sync/shared/write-rows.ts";
import { writingParts } from "../run-parts.ts";

export interface WriteToOptions extends Omit<RowsToWrite, "writes"> {
  /** The commit is one under it. */
  readonly lease?: LeaseClaim;
  /** As `RunCommit.extrasOf`. */
  readonly beforeCommit?: (outcome: WriteOutcome) => CommitExtras;
}

/** What a write did; `erased` is absent for none. */
export type WrittenTo = Omit<WriteOutcome, "erased"> & Partial<Pick<WriteOutcome, "erased">>;

/** Of records that change nothing. */
export const NOTHING: WrittenTo = { failures: [], kept: [], changed: 0, deleted: 0 };

export const GUARD: WriteToOptions = { conflict: "newer" };

/** How rows of people arrive, and what writes them so. */
export const ARRIVALS = [
  ["a push", {}],
  ["a guarded push", GUARD],
  ["a run", { ...GUARD, isOwnRun: true }],
] as const;

/** The remote of all commits that remember anything. */
export const REMOTE = { id: "remote", address: "https://remote.example" };
const NO_COLUMNS = { columns: { moved: [], leftOut: [] }, known: [] } as const;

/** Commits what a run keeps, without rows, under a table that is prepared. */
export async function commitAlone(
  storage: { readonly tables: TableStore; readonly documents: DocumentStore },
  table: Table,
  extras: CommitExtras,
): Promise<void> {
  await writeTo(storage, table, [], { beforeCommit: () => extras });
}

/** Writes rows to a store that is opened, as the service does. */
export async function writeTo(
  storage: {
    readonly tables: TableStore;
    readonly documents: DocumentStore;
    readonly lateRows?: LateRows;
  },
  table: Table,
  writes: readonly RowWrite[],
  options: WriteToOptions = {},
): Promise<WrittenTo> {
  const { lease = null, beforeCommit, ...rows } = options;
  const isOfRun = lease !== null || beforeCommit !== undefined;
  const run = {
    claim: lease,
    owner: { table: table.name, direction: "pull", remote: REMOTE, ...NO_COLUMNS } as const,
    extrasOf: beforeCommit ?? (() => ({})),
  };
  const parts = writingParts(storage);
  const outcome = await writeRows(parts, table, { ...rows, writes }, isOfRun ? run : null);
  const { erased, ...others } = outcome;
  return erased.length === 0 ? others : outcome;
}
