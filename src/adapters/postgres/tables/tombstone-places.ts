// Places of tombstones: given on request, one after the other, so that a later commit has a later place, however early the transaction
// began.
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import { inParts } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { timeOf } from "./columns.ts";
import { type Layout, rowAt } from "./layout.ts";

/** To be read by `timeOf`. */
export const DELETED_AT = "t.deleted_at::text";

/** The tombstones of keys, each of which `holdsKey`. */
export async function tombstonesWith(
  tx: ServerTransaction,
  layout: Layout,
  keys: readonly Row[],
): Promise<readonly Tombstone[]> {
  const { keyColumns } = layout.table;
  const shown = `${DELETED_AT}, ${layout.shown(keyColumns)}`;
  const text = layout.byKeys(shown, layout.deleted);
  const found: Tombstone[] = [];
  for (const some of inParts(keys)) {
    for (const line of await tx.query(text, layout.keyLists(some))) {
      found.push({ key: rowAt(keyColumns, line, 1), deletedAt: timeOf(String(line[0])) });
    }
  }
  return found;
}

/** Gives places to committed tombstones. One that an open transaction is changing gets a later place. */
export async function settle(database: PostgresDatabase, layout: Layout): Promise<void> {
  if (!layout.table.deletes) return;
  const { deleted } = layout;
  const isOpen = `select exists (select from ${deleted} where place is null)`;
  const [[open] = []] = await database.ask("tombstones.open", isOpen);
  if (open !== true) return;
  await database.step("tombstones.settle", async (tx) => {
    const last = "select last_place from repsync._tables where name = $1::text for update";
    const place = (await tx.first(last, [layout.table.name])) ?? "0";
    await tx.query(
      `with given as (
        update ${deleted} as d set place = n.place
        from (
          select ctid, $1::int8 + row_number() over (order by made) as place
          from (select ctid, made from ${deleted} where place is null for update skip locked) as open
        ) as n
        where d.ctid = n.ctid returning d.place
      )
      update repsync._tables set last_place = greatest(last_place, (select max(place) from given))
      where name = $2::text`,
      [String(place), layout.table.name],
    );
  });
}
