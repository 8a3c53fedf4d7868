// Reads pages with their totals from one snapshot, and rows by key. Totals and positions are reused while the table is unchanged.
import type { ClientSession, Document } from "mongodb";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import {
  type CountQuery,
  columnsOf,
  type KeyRange,
  type PageOf,
  type PartPlace,
  partCursor,
  type RowColumns,
  type RowsPage,
  type RowsQuery,
  readPartCursor,
  START,
} from "../../../ports/tables/table-store.ts";
import { beginTurns, Deadline } from "../driver/deadline.ts";
import { readCommitted, readSnapshot } from "../driver/operations.ts";
import type { VersionedDeps } from "../driver/versions.ts";
import {
  hasDates,
  isWhole,
  keyed,
  placedBehind,
  readKeyRange,
  readOrdered,
} from "./ordered-documents.ts";
import {
  countFilter,
  isBefore,
  partOf,
  positionJson,
  RowPlaces,
  readIndexValues,
} from "./positions.ts";
import { RowReader, readPosition } from "./row-reader.ts";
import { findStored, keyOfRow } from "./stored-rows.ts";
import { hintOf } from "./table-indexes.ts";
import { type IndexKeys, layoutOf, type TableLayout } from "./table-layout.ts";
import { assertThere, type TableState, TableStates } from "./table-states.ts";

interface Reading {
  readonly layout: TableLayout;
  readonly tx: ClientSession;
  readonly sinceTime: string | null;
  /** The state of the snapshot; null where it was not asked for. */
  readonly state: TableState | null;
  /** The rows as of that state. */
  readonly sequence: PageSequence | null;
  /** True when timestamps are also BSON dates. */
  readonly isMixed: boolean;
}

interface Start extends PartPlace<Document> {
  readonly index: IndexKeys;
  readonly isByKey: boolean;
  readonly isReverse: boolean;
  /** True when no row is left. */
  readonly isOver: boolean;
  /** True when the document before the page is read first. Its place is remembered, so that the next such page need not skip all rows. */
  readonly hasBefore: boolean;
}

interface Found {
  readonly rows: Row[];
  readonly last: Uint8Array | null;
  /** True when the read left out documents. */
  readonly isCut: boolean;
}

export class TableReader {
  readonly #deps: VersionedDeps;
  readonly #states: TableStates;
  readonly #bookmarks = new PageBookmarks<Document>();
  readonly #places = new RowPlaces();

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
    this.#states = new TableStates(deps);
  }

  async page<Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>> {
    const { from } = query;
    const layout = layoutOf(table);
    if ("afterKey" in from) return (await this.#readRange(layout, from, query)) as PageOf<Query>;
    const start = this.#startOf(layout, query);
    const page = await this.#read(layout, query, isOfState(query), (reading) =>
      this.#readPage(reading, start, query),
    );
    return page as PageOf<Query>;
  }

  async byKeys(table: Table, keys: readonly Row[], columns: RowColumns): Promise<Row[]> {
    const all = keys.map((key) => keyOfRow(table, key));
    const wanted = all.filter(({ filter }) => isWhole(filter));
    const query = { keys: wanted, columns: columnsOf(table, columns) };
    return await readSnapshot(this.#deps, async (tx) => {
      const found = await findStored(this.#deps, table, query, tx);
      if (found.size < keys.length) await assertThere(this.#deps.db, table.name);
      return Array.from(found.values(), ({ row }) => row);
    });
  }

  async count(table: Table, query: CountQuery = {}): Promise<number> {
    const { hasKey = false } = query;
    return await this.#read(layoutOf(table), query, !hasKey, (reading) => this.#total(reading));
  }

  async #readRange(
    layout: TableLayout,
    { afterKey, throughKey }: KeyRange,
    query: RowsQuery,
  ): Promise<RowsPage> {
    const after = afterKey && this.#places.keyOf(layout, afterKey);
    const through = throughKey && this.#places.keyOf(layout, throughKey);
    const range = { after, through, limit: query.limitRows };
    const { rows } = await readSnapshot(this.#deps, (tx) =>
      this.#find(layout.table, readKeyRange(this.#deps.db, layout, range, tx), query),
    );
    return { rows, totalRows: null, cursor: null };
  }

  /** Where a page begins that is not at an offset. */
  #startOf(layout: TableLayout, query: RowsQuery): Start {
    const { from, order = "time", sinceTime = null } = query;
    const isByKey = order.endsWith("key");
    const isReverse = order.startsWith("-");
    const index = isByKey ? layout.keyIndex : layout.orderIndex;
    const isAtCursor = "cursor" in from && from.cursor !== null;
    const isBehindRow = "after" in from && from.after !== null;
    const place = isAtCursor
      ? readPartCursor(from.cursor, (json) => readIndexValues(json, Object.keys(index)))
      : isBehindRow
        ? { position: this.#places.placeOf(layout, from.after), skip: 0 }
        : START;
    const isOutside = !isByKey && isBefore(place.position, layout, sinceTime);
    const start = isOutside && !isReverse ? START : place;
    const isOver = isOutside && isReverse;
    return { ...start, index, isByKey, isReverse, isOver, hasBefore: false };
  }

  async #readPage(reading: Reading, start: Start, query: RowsQuery): Promise<RowsPage> {
    const { layout, state, sequence } = reading;
    const { from, limitRows, hasTotal = false } = query;
    const offsetRows = "offsetRows" in from ? from.offsetRows : null;
    const knownRows = hasTotal ? this.#knownTotal(reading) : null;
    const total = async () => (hasTotal ? await this.#total(reading) : null);
    const isBehind = offsetRows !== null && knownRows !== null && offsetRows >= knownRows;
    if (isBehind || start.isOver) return { rows: [], totalRows: await total(), cursor: null };
    const first = offsetRows === null ? start : this.#nearest(reading, start, offsetRows);
    const placeIn = (document: Uint8Array) => {
      const place = readPosition(document, layout);
      return place && partOf(place, start.index);
    };
    const remember = (rowsBefore: number, document: Uint8Array) => {
      const position = sequence && placeIn(document);
      if (sequence === null || position === null) return;
      this.#bookmarks.remember(sequence, { offsetRows: rowsBefore, position });
    };
    const documents = this.#documentsOf(reading, first, query);
    const rememberBefore = (document: Uint8Array) => remember(offsetRows ?? 0, document);
    const onBefore = first.hasBefore ? rememberBefore : null;
    const { clock } = this.#deps;
    const beganMs = clock.monotonicMs();
    const [{ rows, last, isCut }, totalRows] = await Promise.all([
      this.#find(layout.table, documents, query, onBefore),
      total(),
    ]);
    const isCostly =
      hasTotal && (knownRows === null || first.skip + Number(first.hasBefore) > limitRows);
    if (isCostly && state !== null) state.costMs += clock.monotonicMs() - beganMs;
    if (offsetRows !== null && last !== null) remember(offsetRows + rows.length, last);
    if (!("cursor" in from && isCut)) return { rows, totalRows, cursor: null };
    const counted = { position: positionJson(first.position), skip: first.skip + rows.length };
    const behind = positionJson(last && placeIn(last));
    return { rows, totalRows, cursor: partCursor(behind, counted) };
  }

  #documentsOf(reading: Reading, start: Start, { from, order = "time", limitRows }: RowsQuery) {
    const { layout, sinceTime, isMixed, tx } = reading;
    const { index, isByKey, isReverse, position, skip, hasBefore } = start;
    const hasKey = "after" in from || order !== "time" ? keyed(layout) : [];
    const query = {
      layout,
      index,
      isReverse,
      hasDates: isMixed && !isByKey,
      sinceTime: isByKey ? null : sinceTime,
      from: position,
      skip,
      conditions: "offsetRows" in from ? [] : [...hasKey, ...placedBehind(index, position)],
      // One more row tells whether a next page exists.
      limit: limitRows + Number("cursor" in from || hasBefore),
    };
    return readOrdered(this.#deps.db, query, tx);
  }

  /** Begins at the nearest bookmark before an offset, with the bookmark's own row, which is before the page. */
  #nearest({ sequence }: Reading, start: Start, offsetRows: number): Start {
    const bookmark = sequence === null ? null : this.#bookmarks.find(sequence, offsetRows);
    const skip = bookmark === null ? offsetRows : offsetRows - bookmark.offsetRows + 1;
    const hasBefore = skip > 1;
    const position = bookmark?.position ?? null;
    return { ...start, position, skip: skip - Number(hasBefore), hasBefore };
  }

  /** Reads the rows of a page, the first document for `onBefore` alone. Only needed batches of a large page are fetched. */
  async #find(
    table: Table,
    documents: AsyncIterable<readonly Uint8Array[]>,
    query: RowsQuery,
    onBefore: ((document: Uint8Array) => void) | null = null,
  ): Promise<Found> {
    const { from, limitRows, maxJsonBytes, columns = "page" } = query;
    const isPlaced = "after" in from || "afterKey" in from;
    const reader = readerOf(table, columns);
    const size = maxJsonBytes === undefined ? null : new PageSize(maxJsonBytes);
    const turns = beginTurns(this.#deps.clock);
    const rows: Row[] = [];
    let last: Uint8Array | null = null;
    let before = onBefore;
    for await (const batch of documents) {
      for (const document of batch) {
        if (turns.isOver) await turns.next();
        if (before !== null) {
          before(document);
          before = null;
          continue;
        }
        const row = isPlaced ? this.#places.read(reader, document) : reader.read(document);
        const isFull = rows.length === limitRows || size?.takes(row) === false;
        if (isFull) return { rows, last, isCut: true };
        rows.push(row);
        last = document;
      }
    }
    // Reads of the state of a table ask for it themselves.
    if (rows.length < limitRows && !isOfState(query)) await assertThere(this.#deps.db, table.name);
    return { rows, last, isCut: false };
  }

  /** Works in a snapshot, with `isOfState` of a known state. */
  async #read<T>(
    layout: TableLayout,
    { sinceTime = null, limit = this.#deps.callLimit }: CountQuery,
    isOfState: boolean,
    work: (reading: Reading) => Promise<T>,
  ): Promise<T> {
    const { name } = layout.table;
    const deadline = new Deadline(this.#deps.clock, limit);
    const read = async (tx: ClientSession, state: TableState | null) => {
      const sequence = state && { tableName: name, sinceTime, version: state.version };
      const isMixed = state?.hasDates ?? (await hasDates(this.#deps.db, layout, tx));
      if (state !== null) state.hasDates = isMixed;
      return await work({ layout, tx, sinceTime, state, sequence, isMixed });
    };
    if (!isOfState) return await readSnapshot(this.#deps, (tx) => read(tx, null), deadline);
    return await readCommitted(this.#deps, () => this.#states.read(layout.table, read), deadline);
  }

  #knownTotal({ sequence }: Reading): number | null {
    return sequence === null ? null : this.#bookmarks.totalRows(sequence);
  }

  /** Counts rows, unless the number is known; without a state rows with a key only. */
  async #total(reading: Reading): Promise<number> {
    const known = this.#knownTotal(reading);
    if (known !== null) return known;
    const { layout, tx, sinceTime, sequence, isMixed } = reading;
    const filter = countFilter(layout, sinceTime, isMixed);
    const $match = sequence === null ? { $and: [filter, ...keyed(layout)] } : filter;
    const [counted] = await this.#deps.db
      .collection(layout.table.name)
      .aggregate([{ $match }, { $count: "rows" }], {
        session: tx,
        hint: hintOf(this.#deps.db, layout.table, layout.orderIndex),
      })
      .toArray();
    const totalRows = Number(counted?.["rows"] ?? 0);
    if (sequence === null && totalRows === 0) await assertThere(this.#deps.db, layout.table.name);
    if (sequence !== null) this.#bookmarks.rememberTotal(sequence, totalRows);
    return totalRows;
  }
}

/** True where rows are read with the state of the table, by which totals and positions are reused. */
function isOfState({ from, hasTotal }: RowsQuery): boolean {
  return "offsetRows" in from || hasTotal === true;
}

function readerOf(table: Table, columns: RowColumns): RowReader {
  return new RowReader(layoutOf(table), columnsOf(table, columns));
}
