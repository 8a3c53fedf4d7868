import { isAppError } from "../../../domain/shared/errors.ts";
import type {
  CommitExtras,
  RowWrite,
  WriteOptions,
  WriteOutcome,
} from "../../../ports/tables/table-store.ts";
import type { OwnTransfer } from "./begin-transfer.ts";

/** What is committed beside the rows, by what will have happened to them. Called again when a commit is. */
type ExtrasOf = (outcome: WriteOutcome) => CommitExtras;

const NOTHING: WriteOutcome = { failures: [], kept: [], changed: 0, deleted: 0 };

/**
 * Writes rows here and what goes with them in one commit under the transfer's lease. In a dry run nothing happens. Late rows
 * are noted as an own run's unless `isOwnRun` is false.
 * Throws the lease's reason when that is lost, and what `TableStore.write` throws.
 */
export async function commitRows(
  { run, table, direction, lease, memory }: OwnTransfer,
  writes: readonly RowWrite[],
  extrasOf: ExtrasOf,
  options: Pick<WriteOptions, "conflict" | "isOwnRun" | "isDivisible" | "deleted"> = {},
): Promise<WriteOutcome> {
  if (run.isDryRun) return NOTHING;
  lease.assertHeld();
  const beforeCommit = (outcome: WriteOutcome) => {
    lease.assertHeld();
    const extras = extrasOf(outcome);
    return memory?.extras(direction, extras) ?? extras;
  };
  const claim = lease.claim === null ? {} : { lease: lease.claim };
  try {
    const outcome = await run.deps.tables.write(table, writes, {
      isOwnRun: true,
      ...options,
      ...claim,
      beforeCommit,
    });
    memory?.committed();
    return outcome;
  } catch (error) {
    if (isAppError(error, "lease_lost")) lease.throwLost();
    throw error;
  }
}

/** Commits something that goes with no row; nothing happens when it is nothing. As `commitRows` otherwise. */
export async function commitExtras(transfer: OwnTransfer, extras: CommitExtras): Promise<void> {
  const { markers, rejected = [], accepted, agreed } = extras;
  const isEmpty =
    (markers?.size ?? 0) + rejected.length + (accepted?.keys.length ?? 0) === 0 && !agreed;
  if (!isEmpty) await commitRows(transfer, [], () => extras);
}
