// Takes deletes back that were never sent. D-7.6.
import { SYNC_DIRECTIONS } from "../../../domain/sync/run/marker.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { requireDeletes } from "./delete-row.ts";

/**
 * Forgets the tombstones that were never sent to the remote of the last run, and lets the next pull begin at the first row, so that it
 * fetches the rows again. Resolves to the number of tombstones. No run moves the table meanwhile. Throws
 * `invalid_request` for a table without `deletes`, `sync_misconfigured` without a remote, `sync_failed` when a run holds the table for too long.
 */
export async function dropTombstones(
  deps: SyncDeps,
  table: Table,
  stop: AbortSignal,
): Promise<number> {
  requireDeletes(table);
  openRemote(deps);
  const holder = deps.ids.next();
  const leases: RunLease[] = [];
  try {
    for (const direction of SYNC_DIRECTIONS) {
      leases.push(await holdLease(deps, transferLeaseName(direction, table.name), holder, stop));
    }
    const { push } = await deps.memory.read(table.name);
    for (const lease of leases) lease.assertHeld();
    // Before they are forgotten: a pull from the start does no harm.
    await deps.memory.clear([table.name], ["pull"]);
    return await deps.tombstones.forgetAfter(table, push.deletes?.cursor ?? null);
  } finally {
    for (const lease of leases) await lease.release();
  }
}
