import { placeOfCursor, placeText } from "../../../domain/shared/list-query.ts";
import { compareDateTimes, firstMsFrom, formatMs } from "../../../domain/shared/time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  TombstonePage,
  TombstoneQuery,
  Tombstones,
} from "../../../ports/tables/table-store.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import { inParts } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { timeOf } from "./columns.ts";
import { type Layout, rowAt } from "./layout.ts";
import { watchedNow } from "./prepare.ts";

interface ListFacts {
  readonly list: string;
  readonly lastPlace: number;
  readonly completeSince: string;
  /** The place of the cursor. */
  readonly place: number;
}

export class PostgresTombstones implements Tombstones {
  readonly #database: PostgresDatabase;
  readonly #tables: { layout(table: Table): Layout };

  constructor(database: PostgresDatabase, tables: { layout(table: Table): Layout }) {
    this.#database = database;
    this.#tables = tables;
  }

  async list(table: Table, query: TombstoneQuery): Promise<TombstonePage> {
    const { after, sinceTime, limitRows } = query;
    return await this.#settled(
      "read",
      table,
      after,
      async (tx, layout, { list, place, completeSince }) => {
        const { keyColumns } = table;
        const parameters = [String(place), String(limitRows + 1)];
        const since = sinceTime === null ? "" : " and t.taken_ms >= $3::int8";
        if (sinceTime !== null) parameters.push(String(firstMsFrom(sinceTime)));
        const text = `select t.place, ${DELETED_AT}, ${layout.shown(keyColumns)} from ${layout.deleted} as t where t.place > $1::int8${since} order by t.place limit $2::int8`;
        const lines = await tx.query(text, parameters);
        const shown = lines.slice(0, limitRows);
        const last = shown.at(-1);
        return {
          items: shown.map((line) => ({
            key: rowAt(keyColumns, line, 2),
            deletedAt: timeOf(String(line[1])),
          })),
          cursor: placeText(list, last === undefined ? place : Number(last[0])),
          hasMore: lines.length > limitRows,
          earliestAvailable: completeSince,
        };
      },
    );
  }

  async end(table: Table): Promise<string> {
    return await this.#settled("read", table, null, async (_tx, _layout, { list, lastPlace }) =>
      placeText(list, lastPlace),
    );
  }

  async countAfter(table: Table, after: string | null): Promise<number> {
    return await this.#settled("read", table, after, async (tx, { deleted }, { place }) => {
      const text = `select count(*) from ${deleted} where place > $1::int8`;
      return Number(await tx.first(text, [String(place)]));
    });
  }

  async byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]> {
    const layout = this.#tables.layout(table);
    return await this.#database.read({ name: "tombstones.by_keys" }, (tx) =>
      tombstonesWith(tx, layout, layout.distinctKeys(keys)),
    );
  }

  async forgetAfter(table: Table, after: string | null): Promise<number> {
    return await this.#settled("transact", table, after, async (tx, { deleted }, { place }) =>
      remove(tx, deleted, "place >", place),
    );
  }

  async prune(table: Table, beforeTime: string): Promise<number> {
    return await this.#settled(
      "transact",
      table,
      null,
      async (tx, { deleted }, { completeSince }) => {
        if (compareDateTimes(completeSince, beforeTime) < 0) {
          const since =
            "update repsync._tables set complete_since = $2::text where name = $1::text";
          await tx.query(since, [table.name, beforeTime]);
        }
        return await remove(tx, deleted, "taken_ms <", firstMsFrom(beforeTime));
      },
    );
  }

  async #settled<T>(
    how: "read" | "transact",
    table: Table,
    after: string | null,
    body: (tx: ServerTransaction, layout: Layout, facts: ListFacts) => Promise<T>,
  ): Promise<T> {
    const layout = this.#tables.layout(table);
    await settle(this.#database, layout);
    return await this.#database[how]({ name: `tombstones.${how}` }, async (tx) =>
      body(tx, layout, await factsOf(tx, layout, after)),
    );
  }
}

async function factsOf(
  tx: ServerTransaction,
  layout: Layout,
  after: string | null,
): Promise<ListFacts> {
  const { name } = layout.table;
  const text =
    "select deletes, last_place, complete_since from repsync._tables where name = $1::text";
  const [[[list, last, since] = []], isWatched] = await Promise.all([
    tx.query(text, [name]),
    watchedNow(tx, layout),
  ]);
  if (typeof list !== "string") throw new Error(`Table "${name}" was not prepared with deletes`);
  const lastPlace = Number(last);
  const place = placeOfCursor(list, lastPlace, after);
  // Deletes before now are unknown where another table has the name, or the triggers were switched off.
  const completeSince = isWatched ? String(since) : formatMs(tx.nowMs);
  return { list, lastPlace, completeSince, place };
}

async function remove(
  tx: ServerTransaction,
  deleted: string,
  where: "place >" | "taken_ms <",
  bound: number,
): Promise<number> {
  const text = `with gone as (delete from ${deleted} where ${where} $1::int8 returning 1) select count(*) from gone`;
  return Number(await tx.first(text, [String(bound)]));
}

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

/**
 * Gives places to committed tombstones, one after the other, so that a later commit has a later place, however early the transaction
 * began. One that an open transaction is changing gets a later place.
 */
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
