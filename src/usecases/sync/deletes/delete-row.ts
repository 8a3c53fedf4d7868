// Deletes one row here on request. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { isOfPeople, personOf, requireNoOwner } from "../../../domain/sync/people/owned-row.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
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
