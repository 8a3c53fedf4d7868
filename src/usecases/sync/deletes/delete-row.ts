// Deletes one row here on request. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { isOfPeople, personOf, requireNoOwner } from "../../../domain/sync/people/owned-row.ts";
import { changeTime, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { requireRemoved, type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";

export type DeleteRowDeps = WriteRowsDeps & Pick<SyncDeps, "clock">;

/** Tries to delete a row that others write to meanwhile. */
const MAX_TRIES = 10;

/**
 * Deletes the row with this key, which leaves a tombstone that the next run sends. Throws `invalid_request` for a table
 * without `deletes`, `not_found`, `conflict` for a profile with an owner, and what the store throws.
 */
export async function deleteRow(deps: DeleteRowDeps, table: Table, key: Row): Promise<void> {
  requireDeletes(table);
  const name = isOfPeople(table) ? personOf(key) : null;
  if (name !== null) {
    requireNoOwner(table, (await deps.names.readFacts([name])).get(name) ?? null);
  }
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [row] = await deps.tables.byKeys(table, [key], "sent");
    if (row === undefined) {
      throw new AppError("not_found", `Table "${table.name}" has no row with this key`);
    }
    const deletedAt = changeTime(rowTime(table, row), deps.clock.nowMs());
    const deleted = [{ index: 0, key, deletedAt }];
    const written = await writeRows(deps, table, { writes: [], deleted });
    requireRemoved(written.refusedDeletes);
    if (written.deleted > 0) return;
  }
  const text = "The row is written to all the time, and was not deleted";
  throw new AppError("commit_failed", text);
}

/** Throws `invalid_request` for a table without `deletes`. */
export function requireDeletes(table: Table): void {
  if (table.deletes) return;
  const text = `Deletes of "${table.name}" are not recorded`;
  const hint = 'Set "deletes": true for it in the registry, at both ends';
  throw new AppError("invalid_request", text, { hint });
}
