import { refuseCursor } from "../../../domain/shared/list-query.ts";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import {
  type CountQuery,
  columnsOf,
  type PageOf,
  partCursor,
  type RowColumns,
  type RowPosition,
  type RowsPage,
  type RowsQuery,
  type TableStore,
} from "../../../ports/tables/table-store.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import { isRefusal } from "../driver/errors.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { lookAt } from "./found-table.ts";
import { Layout } from "./layout.ts";
import {
  type Bounds,
  boundsOf,
  countRows,
  type Position,
  positionAt,
  readPortion,
  readRows,
  sinceOf,
} from "./page-reading.ts";
import { isWhole, prepareTables } from "./prepare.ts";
import { findRows } from "./row-statements.ts";
import { settle } from "./tombstones.ts";
import { IS_OWN_TRIGGER } from "./triggers.ts";
import { refusalOfRow } from "./write-steps.ts";

/** No line for a table that was dropped, and for one in its place without its triggers: nothing raises the version. */
const VERSION = `select (select concat_ws(' ', coalesce(sum(n), 0), to_regclass($2::text)::oid) from repsync._versions where slot = $1::int8)
where exists (select from pg_trigger where tgrelid = to_regclass($2::text) and ${IS_OWN_TRIGGER})`;

export class PostgresTables implements TableStore {
  readonly #database: PostgresDatabase;
  readonly #schema: string;
  readonly #layouts = new WeakMap<Table, Layout>();
  readonly refusal = refusalOfRow;
  #pages = 0;
  readonly #bookmarks = new PageBookmarks<Position>();

  constructor(database: PostgresDatabase, schema: string) {
    this.#database = database;
    this.#schema = schema;
  }

  layout(table: Table): Layout {
    return this.#layouts.getOrInsertComputed(table, () => new Layout(table, this.#schema));
  }

  stampsOthers(table: Table): boolean {
    return this.layout(table).isWatched;
  }

  turns(): Turns {
    return this.#database.turns();
  }

  async prepare(tables: readonly Table[], isServed = false): Promise<void> {
    const layouts = tables.map((table) => this.layout(table));
    await prepareTables(this.#database, layouts, isServed);
  }

  async disturbed(tables: readonly Table[]): Promise<readonly Table[]> {
    const layouts = tables.map((table) => this.layout(table));
    const seen = await this.#database.read({ name: "tables.disturbed" }, (tx) =>
      lookAt(tx, layouts),
    );
    return layouts.flatMap((layout) => {
      const there = seen.get(layout.name);
      return there === undefined || isWhole(layout, there) ? [] : [layout.table];
    });
  }

  async page<const Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>> {
    const reading = this.#database.read({ name: "rows.page" }, (tx) =>
      this.#page(tx, this.layout(table), query),
    );
    const page = await reading.catch((error) => {
      // Nobody was given a cursor with a place that the columns cannot hold.
      if ("cursor" in query.from && isRefusal(error.cause)) refuseCursor();
      throw error;
    });
    return page as PageOf<Query>;
  }

  async byKeys(
    table: Table,
    keys: readonly RowPosition[],
    columns: RowColumns,
  ): Promise<readonly Row[]> {
    const layout = this.layout(table);
    return await this.#database.read({ name: "rows.byKeys" }, (tx) =>
      findRows(tx, layout, layout.distinctKeys(keys), columnsOf(table, columns)),
    );
  }

  async count(table: Table, { sinceTime = null, limit }: CountQuery = {}): Promise<number> {
    const layout = this.layout(table);
    return await this.#database.read({ name: "rows.count", limit }, async (tx) =>
      this.#total(tx, layout, await this.#sequence(tx, layout, sinceOf(layout, sinceTime))),
    );
  }

  async settled(table: Table): Promise<void> {
    await settle(this.#database, this.layout(table));
  }

  async #page(tx: ServerTransaction, layout: Layout, query: RowsQuery): Promise<RowsPage> {
    const { from, limitRows, maxJsonBytes = Number.POSITIVE_INFINITY, columns = "page" } = query;
    const { order: asked = "time" } = query;
    const isByKey = "afterKey" in from || asked.endsWith("key");
    const order = layout.order(isByKey);
    const since = isByKey ? null : sinceOf(layout, query.sinceTime ?? null);
    const offsetRows = "offsetRows" in from ? from.offsetRows : 0;
    const isCounted = "offsetRows" in from || query.hasTotal === true;
    const sequence = await this.#sequence(tx, layout, since, isCounted);
    const first = { ...boundsOf(order, layout.table, from), since };
    const bounds = offsetRows > 0 ? await this.#nearest(tx, layout, first, sequence) : first;
    const reading = readRows(tx, layout, {
      order,
      bounds,
      columns: columnsOf(layout.table, columns),
      limitRows,
      size: new PageSize(maxJsonBytes),
      asksForNext: "cursor" in from,
      isReverse: asked.startsWith("-"),
    });
    const total = query.hasTotal ? this.#total(tx, layout, sequence) : null;
    const [{ rows, last, hasNext }, totalRows] = await Promise.all([reading, total]);
    if ("offsetRows" in from && last !== null) {
      this.#bookmarks.remember(sequence, { offsetRows: offsetRows + rows.length, position: last });
    }
    const counted = { position: first.position, skip: first.skip + rows.length };
    const cursor = "cursor" in from && hasNext ? partCursor(last, counted) : null;
    return { rows, totalRows, cursor };
  }

  /** All rows from a time on, in their present state. */
  async #sequence(
    tx: ServerTransaction,
    layout: Layout,
    sinceTime: string | null,
    isCounted = true,
  ): Promise<PageSequence> {
    const parameters = [String(layout.slot), layout.name];
    const version = isCounted ? await tx.first(VERSION, parameters) : undefined;
    // Where nothing raises the version of a table, each page has a state of its own.
    const isKnown = layout.isWatched && version !== undefined;
    const { timestampColumn } = layout.table;
    const known = isKnown ? `${version} ${timestampColumn}` : `page ${this.#pages++}`;
    return { tableName: layout.name, sinceTime, version: known };
  }

  /** Goes from the nearest bookmark to the row before an offset, and keeps a bookmark there for later pages. */
  async #nearest(
    tx: ServerTransaction,
    layout: Layout,
    first: Bounds,
    sequence: PageSequence,
  ): Promise<Bounds> {
    const { skip: offsetRows } = first;
    const bookmark = this.#bookmarks.find(sequence, offsetRows);
    const skip = offsetRows - (bookmark?.offsetRows ?? 0);
    const nearest = { ...first, position: bookmark?.position ?? null, skip };
    if (skip === 0) return nearest;
    const order = layout.order();
    const columns = order.map(({ column }) => column);
    const bounds = { ...nearest, skip: skip - 1 };
    const portion = { order, bounds, columns, limitRows: 1, isReverse: false };
    const [before] = await readPortion(tx, layout, portion);
    if (before === undefined) return nearest;
    const position = positionAt(order, before, [...order.keys()]);
    this.#bookmarks.remember(sequence, { offsetRows, position });
    return { ...first, position, skip: 0 };
  }

  async #total(tx: ServerTransaction, layout: Layout, sequence: PageSequence): Promise<number> {
    const known = this.#bookmarks.totalRows(sequence);
    if (known !== null) return known;
    const total = await countRows(tx, layout, sequence.sinceTime);
    this.#bookmarks.rememberTotal(sequence, total);
    return total;
  }
}
