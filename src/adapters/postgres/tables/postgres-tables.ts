import { refuseCursor } from "../../../domain/shared/list-query.ts";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import {
  type CountQuery,
  columnsOf,
  type PageOf,
  type PageStart,
  type PartPlace,
  partCursor,
  type RowColumns,
  type RowPosition,
  type RowsPage,
  type RowsQuery,
  readPartCursor,
  START,
  type TableStore,
} from "../../../ports/tables/table-store.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import { isRefusal } from "../driver/errors.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { Layout, type OrderColumn, rowAt } from "./layout.ts";
import {
  comparison,
  type Position,
  positionAt,
  positionOf,
  readPosition,
  sinceOf,
} from "./positions.ts";
import { prepareTables, watchedNow } from "./prepare.ts";
import { findRows } from "./rows-by-value.ts";
import { settle } from "./tombstone-places.ts";
import { refusalOfRow } from "./write-steps.ts";

/** Most rows of a portion, and the bytes that it should have. */
const MOST_PORTION = 2_000;
const PORTION_BYTES = 4 * 1024 * 1024;

/** No line for a table that was dropped, and for one in its place without its triggers: nothing raises the version. */
const VERSION = `select (select concat_ws(' ', coalesce(sum(n), 0), to_regclass($2::text)::oid) from repsync._versions where slot = $1::int8)
where exists (select from pg_trigger where tgrelid = to_regclass($2::text) and tgname like 'repsync\\_%')`;

/** Where a page begins, and where it ends at the latest. */
interface Bounds extends PartPlace<Position> {
  readonly through: Position | null;
  readonly since: string | null;
}

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

  async prepare(tables: readonly Table[]): Promise<void> {
    await prepareTables(
      this.#database,
      tables.map((table) => this.layout(table)),
    );
  }

  async isDisturbed(tables: readonly Table[]): Promise<boolean> {
    const watched = await this.#database.read({ name: "tables.watched" }, (tx) =>
      Promise.all(tables.map((table) => watchedNow(tx, this.layout(table)))),
    );
    return watched.includes(false) && !watched.includes(null);
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
    const known = isKnown ? String(version) : `page ${this.#pages++}`;
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

interface Portion {
  readonly order: readonly OrderColumn[];
  readonly bounds: Bounds;
  readonly columns: readonly Column[];
  readonly limitRows: number;
  readonly isReverse: boolean;
}

interface Reading extends Portion {
  readonly size: PageSize;
  /** Reads one row more, which tells whether a next page exists. */
  readonly asksForNext: boolean;
}

interface ReadRows {
  readonly rows: Row[];
  readonly last: Position | null;
  readonly hasNext: boolean;
}

/** Reads in portions, each from the last row of the one before. */
async function readRows(
  tx: ServerTransaction,
  layout: Layout,
  { size, asksForNext, ...reading }: Reading,
): Promise<ReadRows> {
  const { order, columns, limitRows } = reading;
  const rows: Row[] = [];
  const selected = [...new Set([...columns, ...order.map(({ column }) => column)])];
  const places = order.map(({ column }) => selected.indexOf(column));
  let last: Position | null = null;
  let { bounds } = reading;
  const wanted = limitRows + Number(asksForNext);
  for (;;) {
    const limit = Math.min(layout.portionRows, wanted - rows.length);
    const portion = { ...reading, columns: selected, limitRows: limit, bounds };
    const lines = await readPortion(tx, layout, portion);
    let bytes = 0;
    let taken = 0;
    for (const line of lines) {
      const row = rowAt(columns, line);
      if (rows.length === limitRows || !size.takes(row)) break;
      rows.push(row);
      taken++;
      for (const cell of line) if (typeof cell === "string") bytes += cell.length;
    }
    const lastLine = lines[taken - 1];
    if (lastLine !== undefined) {
      last = positionAt(order, lastLine, places);
      const fitting = Math.floor(PORTION_BYTES / (bytes / taken + 1));
      layout.portionRows = Math.max(1, Math.min(fitting, MOST_PORTION));
    }
    if (taken < lines.length) return { rows, last, hasNext: true };
    if (lines.length < limit || rows.length === wanted) return { rows, last, hasNext: false };
    bounds = { ...bounds, position: last, skip: 0 };
  }
}

async function readPortion(
  tx: ServerTransaction,
  layout: Layout,
  { order, bounds, columns, limitRows, isReverse }: Portion,
) {
  const { position: after, through, since, skip } = bounds;
  const parameters = since === null ? [] : [since];
  const conditions = since === null ? [] : [isSince(order)];
  const bounding = [
    [after, isReverse ? "<" : ">"],
    [through, "<="],
  ] as const;
  for (const [position, sign] of bounding) {
    if (position === null) continue;
    conditions.push(comparison(order, sign, position, parameters.length + 1));
    parameters.push(...position);
  }
  const where = conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  const by = order.map(({ text }) => `${text}${isReverse ? " desc" : ""}`).join(", ");
  parameters.push(String(limitRows), String(skip));
  const [limits, skips] = [parameters.length - 1, parameters.length];
  const text = `select ${layout.shown(columns)} from ${layout.name} as t${where} order by ${by} limit $${limits}::int8 offset $${skips}::int8`;
  return await tx.query(text, parameters);
}

async function countRows(
  tx: ServerTransaction,
  layout: Layout,
  since: string | null,
): Promise<number> {
  const where = since === null ? "" : ` where ${isSince(layout.order())}`;
  const text = `select count(*) from ${layout.name} as t${where}`;
  return Number(await tx.first(text, since === null ? [] : [since]));
}

/** Selects rows at or after the time of the first parameter. */
function isSince([time]: readonly OrderColumn[]): string {
  return `${time?.text} >= $1::text::${time?.type}`;
}

function boundsOf(
  order: readonly OrderColumn[],
  table: Table,
  from: PageStart,
): Omit<Bounds, "since"> {
  const at = (row: Row | null) => (row === null ? null : positionOf(order, table, row));
  const first = { ...START, through: null };
  if ("offsetRows" in from) return { ...first, skip: from.offsetRows };
  if ("after" in from) return { ...first, position: at(from.after) };
  if ("cursor" in from) {
    if (from.cursor === null) return first;
    return { ...first, ...readPartCursor(from.cursor, (json) => readPosition(order, json)) };
  }
  return { ...first, position: at(from.afterKey), through: at(from.throughKey) };
}
