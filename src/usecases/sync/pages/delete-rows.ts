// Deletes: of one row on request, how many rows they remove and may remove, and which are forgotten: old ones, and those that were
// never sent. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { DAY_MS, formatMs } from "../../../domain/shared/time.ts";
import { isOfPeople, personOf, requireNoOwner } from "../../../domain/sync/people/name-facts.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, outlives, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { SyncDirection } from "../../../domain/sync/run/run.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Scheduler } from "../../../ports/runtime/runtime.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";
import { holdLease, transferLeaseName } from "../shared/hold-lease.ts";
import { openRemote, type SyncDeps } from "../shared/sync-deps.ts";
import { removeWithin, transactRows, type WriteRowsDeps } from "../shared/write-rows.ts";

const ROWS_AT_ONCE = 1_000;
/** Once a day, at a quiet hour of most. */
const DAILY = "23 4 * * *";

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

/** Counts the rows, each once, that these tombstones would remove at a time. Throws `store_unavailable`. D-7.6. */
export async function countRemovable(
  tables: Pick<TableStore, "byKeys">,
  table: Table,
  tombstones: readonly Tombstone[],
  nowMs: number,
): Promise<number> {
  const removable = new Set<string>();
  const limit = aheadLimit(nowMs);
  for (let from = 0; from < tombstones.length; from += ROWS_AT_ONCE) {
    const some = tombstones.slice(from, from + ROWS_AT_ONCE);
    const keys = some.map(({ key }) => key);
    const rows = await tables.byKeys(table, keys, "sent");
    const times = new Map(rows.map((row) => [keyText(table, row), rowTime(table, row)]));
    for (const { key, deletedAt } of some) {
      const text = keyText(table, key);
      const time = times.get(text);
      if (time !== undefined && !outlives(time, deletedAt, limit)) removable.add(text);
    }
  }
  return removable.size;
}

/** More rows would be deleted than may be: the tombstones stay, and rows can still move. */
export class TooManyDeletes extends AppError {}

/** The rows of a table that a run may delete at one end. D-7.6. */
export class DeleteBudget {
  readonly #table: Table;
  readonly #where: "here" | "there";
  readonly #limit: number;
  #done = 0;

  constructor(table: Table, where: "here" | "there", limit: number) {
    this.#table = table;
    this.#where = where;
    this.#limit = limit;
  }

  spend(count: number): void {
    this.#done += count;
  }

  /** True when so many more deletes are not too many. */
  allows(count: number): boolean {
    return this.#done + count <= this.#limit;
  }

  /** Throws `TooManyDeletes`. */
  require(count: number): void {
    if (this.allows(count)) return;
    const total = this.#done + count;
    const done = this.#done === 0 ? "none was" : `${this.#done} were`;
    const text = `${total} rows of "${this.#table.name}" would be deleted ${this.#where}, at most ${this.#limit} may be; ${done}`;
    const hint = `If that is right, allow them with --max-deletes ${total} (max_deletes)`;
    throw new TooManyDeletes("sync_failed", text, { hint });
  }
}

type PruneTombstonesDeps = Pick<SyncDeps, "registry" | "tombstones" | "clock" | "logger">;

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
  const leaseOf = (direction: SyncDirection) =>
    holdLease(deps, transferLeaseName(direction, table.name), holder, stop);
  await using pushLease = await leaseOf("push");
  await using pullLease = await leaseOf("pull");
  const { push } = await deps.memory.read(table.name);
  for (const lease of [pushLease, pullLease]) lease.assertHeld();
  // Before tombstones are forgotten: a pull from the start does no harm.
  await deps.memory.clear([table.name], ["pull"]);
  return await deps.tombstones.forgetAfter(table, push.deletes?.cursor ?? null);
}
