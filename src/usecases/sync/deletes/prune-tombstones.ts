// Forgets tombstones: old ones, and those that were never sent. D-7.6.
import { DAY_MS, formatMs } from "../../../domain/shared/time.ts";
import { SYNC_DIRECTIONS } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { Scheduler } from "../../../ports/runtime/runtime.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { requireDeletes } from "./delete-row.ts";

type PruneTombstonesDeps = Pick<SyncDeps, "registry" | "tombstones" | "clock" | "logger">;

/** Once a day, at a quiet hour of most. */
const DAILY = "23 4 * * *";
/** Prunes once a day, on every instance: one finds nothing left of what another has removed. */
export function startPruning(
  deps: PruneTombstonesDeps & { readonly scheduler: Scheduler },
  keepDays: number,
): { stop(): void } {
  return deps.scheduler.start(DAILY, () => pruneTombstones(deps, keepDays));
}

/**
 * Forgets tombstones older than so many days, in all tables with `deletes`: a peer that has not read them is told to compare.
 * Logs failures.
 */
async function pruneTombstones(deps: PruneTombstonesDeps, keepDays: number): Promise<void> {
  const before = formatMs(deps.clock.nowMs() - keepDays * DAY_MS);
  for (const table of [...deps.registry.values()]) {
    if (!table.deletes) continue;
    try {
      const count = await deps.tombstones.prune(table, before);
      if (count > 0) deps.logger.info("Tombstones pruned", { table: table.name, count });
    } catch (error) {
      deps.logger.error("Tombstones could not be pruned", error, { table: table.name });
    }
  }
}

/**
 * Forgets the tombstones that were never sent to the remote of the last run; the next pull begins at the first row, to fetch
 * their rows again. Resolves to the number of tombstones. No run moves the table meanwhile. Throws `invalid_request` for a table
 * without `deletes`, `sync_misconfigured` without a remote, `sync_failed` when a run holds the table for too long.
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
    // Before tombstones are forgotten: a pull from the start does no harm.
    await deps.memory.clear([table.name], ["pull"]);
    return await deps.tombstones.forgetAfter(table, push.deletes?.cursor ?? null);
  } finally {
    for (const lease of leases) await lease.release();
  }
}
