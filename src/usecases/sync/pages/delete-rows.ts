// Deletes here on request, and which deletes are forgotten: old ones, and those that were never sent. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { DAY_MS, formatMs } from "../../../domain/shared/time.ts";
import { isOfPeople, personOf, requireNoOwner } from "../../../domain/sync/people/name-facts.ts";
import { SYNC_DIRECTIONS } from "../../../domain/sync/run/run.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Scheduler } from "../../../ports/runtime/runtime.ts";
import { holdLease, type RunLease, transferLeaseName } from "../shared/hold-lease.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { removeWithin, transactRows, type WriteRowsDeps } from "../shared/write-rows.ts";

/**
 * Deletes the row with this key, which leaves a tombstone that the next run sends. Throws `invalid_request` for a table
 * without `deletes`, `not_found`, `conflict` for a profile with an owner, and what the store throws.
 */
export async function deleteRow(deps: WriteRowsDeps, table: Table, key: Row): Promise<void> {
  requireDeletes(table);
  const name = isOfPeople(table) ? personOf(key) : null;
  await transactRows(deps, table, { name: "rows.delete", looksAtDeletes: true }, async (tx) => {
    const [[row]] = await tx.read({ rowsOf: table, keys: [key] });
    if (row === undefined) {
      throw new AppError("not_found", `Table "${table.name}" has no row with this key`);
    }
    if (name !== null) {
      requireNoOwner(table, (await deps.names.readFactsWithin(tx, [name])).get(name) ?? null);
    }
    await removeWithin(deps, tx, table, row);
  });
}

/** Throws `invalid_request` for a table without `deletes`. */
export function requireDeletes(table: Table): void {
  if (table.deletes) return;
  const text = `Deletes of "${table.name}" are not recorded`;
  const hint = 'Set "deletes": true for it in the registry, at both ends';
  throw new AppError("invalid_request", text, { hint });
}

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

/** A peer that has not read a forgotten tombstone is told to compare. Logs failures. */
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
