import { isAppError } from "../../../domain/shared/errors.ts";
import { isNoChange } from "../../../domain/sync/run/remote-memory.ts";
import {
  type CommitExtras,
  NOTHING_WRITTEN,
  type RowsToWrite,
  type WriteOutcome,
  writeRows,
} from "../shared/write-rows.ts";
import type { OwnTransfer } from "./begin-transfer.ts";

/** What is committed beside the rows, by what will have happened to them. Called again when a commit is. */
type ExtrasOf = (outcome: WriteOutcome) => CommitExtras;

/**
 * Writes rows here and what goes with them in one commit under the transfer's lease. In a dry run nothing happens. Late rows
 * are noted as an own run's unless `isOwnRun` is false.
 * Throws the lease's reason when that is lost, and what `writeRows` throws.
 */
export async function commitRows(
  { run, table, direction, lease, memory }: OwnTransfer,
  rows: RowsToWrite,
  extrasOf: ExtrasOf,
): Promise<WriteOutcome> {
  if (run.isDryRun) return NOTHING_WRITTEN;
  lease.assertHeld();
  const commit = {
    claim: lease.claim,
    owner: memory === null ? null : { table: table.name, direction, remote: memory.remote },
    forgetsExchanged: memory?.forgetsExchanged ?? false,
    extrasOf: (outcome: WriteOutcome) => {
      lease.assertHeld();
      return extrasOf(outcome);
    },
  };
  try {
    const outcome = await writeRows(run.deps, table, { isOwnRun: true, ...rows }, commit);
    memory?.committed();
    return outcome;
  } catch (error) {
    if (isAppError(error, "lease_lost")) lease.throwLost();
    throw error;
  }
}

/** Commits something that goes with no row; nothing happens when it is nothing. As `commitRows` otherwise. */
export async function commitExtras(transfer: OwnTransfer, extras: CommitExtras): Promise<void> {
  const { memory = {}, rejected = [], accepted, exchanged } = extras;
  const isEmpty = isNoChange(memory) && rejected.length + (accepted?.keys.length ?? 0) === 0;
  if (!isEmpty || exchanged !== undefined) await commitRows(transfer, { writes: [] }, () => extras);
}
