// Reads pages with their totals from one snapshot, and rows by key. Totals and positions are reused while the table is unchanged.
import { Buffer } from "node:buffer";
import { BSON, type ClientSession, type Document } from "mongodb";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { PageBookmarks, type PageSequence } from "../../../domain/sync/rows/page-bookmarks.ts";
import { PageSize } from "../../../domain/sync/rows/page-size.ts";
import { zonelessFrom } from "../../../domain/sync/rows/row-time.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import {
  type CountQuery,
  columnsOf,
  type KeyRange,
  type PageOf,
  type PartPlace,
  partCursor,
  type RowColumns,
  type RowPosition,
  type RowsPage,
  type RowsQuery,
  readPartCursor,
  START,
} from "../../../ports/tables/table-store.ts";
import { cutBatches } from "../driver/collections.ts";
import { beginTurns, Deadline } from "../driver/deadline.ts";
import { optionsIn, readCommitted, readSnapshot } from "../driver/operations.ts";
import type { VersionedDeps } from "../driver/versions.ts";
import {
  equalTo,
  hasDates,
  isWhole,
  placedBehind,
  readKeyRange,
  readOrdered,
} from "./ordered-documents.ts";
import { positionJson, readIndexValues } from "./part-cursor.ts";
import { RowReader, readPosition } from "./row-reader.ts";
import { hintOf } from "./table-indexes.ts";
import { type IndexKeys, layoutOf, positionOf, type TableLayout } from "./table-layout.ts";
import { type TableState, TableStates } from "./table-states.ts";
import { countFilter, timeOrderText } from "./time-values.ts";

/** Keys of one command; fewer or many more take longer in all. */
const LOOKUP = { maxItems: 250, maxBytes: 8 * 1024 * 1024 };

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
  /** Documents of read rows: values of other tools may not tell their place in the index. */
  readonly #documents = new WeakMap<RowPosition, Uint8Array>();

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
    this.#states = new TableStates(deps);
  }

  async page<Query extends RowsQuery>(table: Table, query: Query): Promise<PageOf<Query>> {
    const { from, hasTotal = false } = query;
    const layout = layoutOf(table);
    if ("afterKey" in from) return (await this.#readRange(layout, from, query)) as PageOf<Query>;
    const start = this.#startOf(layout, query);
    const isOfState = "offsetRows" in from || hasTotal;
    const page = await this.#read(layout, query, isOfState, (reading) =>
      this.#readPage(reading, start, query),
    );
    return page as PageOf<Query>;
  }

  async byKeys(table: Table, keys: readonly RowPosition[], columns: RowColumns): Promise<Row[]> {
    const layout = layoutOf(table);
    const wanted = keys.map((row) => this.#keyOf(layout, row)).filter(isWhole);
    const lookups = cutBatches(wanted, { ...LOOKUP, bytesOf: BSON.calculateObjectSize });
    const found = await readSnapshot(this.#deps, async (tx) => {
      const documents = new Map<string, Uint8Array>();
      for (const lookup of lookups) {
        const conditions = [...placedBehind(layout.keyIndex, null), { $or: lookup.map(equalTo) }];
        const query = { ...inKeyOrder(layout), from: null, conditions, limit: lookup.length };
        for await (const batch of readOrdered(this.#deps.db, query, tx)) {
          // Several lookups may ask for one row.
          for (const one of batch) documents.set(Buffer.from(one).toString("latin1"), one);
        }
      }
      return documents.values();
    });
    const reader = readerOf(table, columns);
    return [...found].map((document) => this.#placedRow(reader, document));
  }

  async count(table: Table, query: CountQuery = {}): Promise<number> {
    const { hasKey = false } = query;
    return await this.#read(layoutOf(table), query, !hasKey, async (reading) => {
      return this.#knownTotal(reading) ?? (await this.#countRows(reading));
    });
  }

  async #readRange(
    layout: TableLayout,
    { afterKey, throughKey }: KeyRange,
    query: RowsQuery,
  ): Promise<RowsPage> {
    const from = afterKey === null ? null : this.#keyOf(layout, afterKey);
    const through = throughKey === null ? null : this.#keyOf(layout, throughKey);
    const conditions = [...keyed(layout), ...placedBehind(layout.keyIndex, from)];
    const range = { ...inKeyOrder(layout), from, through, conditions, limit: query.limitRows };
    const { rows } = await readSnapshot(this.#deps, (tx) =>
      this.#find(layout.table, readKeyRange(this.#deps.db, range, tx), query),
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
        ? { position: this.#placeOf(layout, from.after), skip: 0 }
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
    const total = async () => (hasTotal ? (knownRows ?? (await this.#countRows(reading))) : null);
    const isBehind = offsetRows !== null && knownRows !== null && offsetRows >= knownRows;
    if (isBehind || start.isOver) return { rows: [], totalRows: await total(), cursor: null };
    const first = offsetRows === null ? start : this.#nearest(reading, start, offsetRows);
    const placeIn = (document: Uint8Array) => {
      const place = readPosition(document, layout);
      return place === null ? null : partOf(place, start.index);
    };
    const remember = (rowsBefore: number, document: Uint8Array) => {
      const position = sequence === null ? null : placeIn(document);
      if (sequence === null || position === null) return;
      this.#bookmarks.remember(sequence, { offsetRows: rowsBefore, position });
    };
    const documents = this.#documentsOf(reading, first, query);
    const onBefore = first.hasBefore
      ? (document: Uint8Array) => remember(offsetRows ?? 0, document)
      : null;
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
    const begun = first.position && positionJson(first.position);
    const counted = { position: begun, skip: first.skip + rows.length };
    const behind = last && placeIn(last);
    return { rows, totalRows, cursor: partCursor(behind && positionJson(behind), counted) };
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
    { from, limitRows, maxJsonBytes, columns = "page" }: RowsQuery,
    onBefore: ((document: Uint8Array) => void) | null = null,
  ): Promise<Found> {
    const isPlaced = "after" in from || "afterKey" in from;
    const reader = readerOf(table, columns);
    const size = maxJsonBytes === undefined ? null : new PageSize(maxJsonBytes);
    const turns = beginTurns(this.#deps.clock);
    const rows: Row[] = [];
    let last: Uint8Array | null = null;
    let isFirst = true;
    for await (const batch of documents) {
      for (const document of batch) {
        if (turns.isOver) await turns.next();
        if (isFirst && onBefore !== null) {
          isFirst = false;
          onBefore(document);
          continue;
        }
        const row = isPlaced ? this.#placedRow(reader, document) : reader.read(document);
        const isFull = rows.length === limitRows || size?.takes(row) === false;
        if (isFull) return { rows, last, isCut: true };
        rows.push(row);
        last = document;
      }
    }
    return { rows, last, isCut: false };
  }

  /** Works in a snapshot. With `isOfState` the work has the state of the table, by which totals and positions are reused. */
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
    return await readCommitted(this.#deps, () => this.#states.read(name, read), deadline);
  }

  #knownTotal({ sequence }: Reading): number | null {
    return sequence === null ? null : this.#bookmarks.totalRows(sequence);
  }

  /** Without a state, counts rows with a key only. */
  async #countRows({ layout, tx, sinceTime, sequence, isMixed }: Reading): Promise<number> {
    const filter = countFilter(layout, sinceTime, isMixed);
    const $match = sequence === null ? { $and: [filter, ...keyed(layout)] } : filter;
    const [counted] = await this.#deps.db
      .collection(layout.table.name)
      .aggregate([{ $match }, { $count: "rows" }], {
        ...optionsIn(tx),
        hint: hintOf(this.#deps.db, layout.table, layout.orderIndex),
      })
      .toArray();
    const totalRows = Number(counted?.["rows"] ?? 0);
    if (sequence !== null) this.#bookmarks.rememberTotal(sequence, totalRows);
    return totalRows;
  }

  #placedRow(reader: RowReader, document: Uint8Array): Row {
    const row = reader.read(document);
    this.#documents.set(row, document);
    return row;
  }

  #placeOf(layout: TableLayout, row: RowPosition): Document {
    const document = this.#documents.get(row);
    const found = document === undefined ? null : readPosition(document, layout);
    return found ?? positionOf(layout, row);
  }

  #keyOf(layout: TableLayout, row: RowPosition): Document {
    return partOf(this.#placeOf(layout, row), layout.keyIndex);
  }
}

function readerOf(table: Table, columns: RowColumns): RowReader {
  return new RowReader(layoutOf(table), columnsOf(table, columns));
}

/** The values of an index, in its order. */
function partOf(place: Document, index: IndexKeys): Document {
  return Object.fromEntries(Object.keys(index).map((name) => [name, place[name]]));
}

function inKeyOrder(layout: TableLayout) {
  return { layout, index: layout.keyIndex, hasDates: false, sinceTime: null, skip: 0 } as const;
}

/** Leaves out rows without a key. */
function keyed({ table }: TableLayout): readonly Document[] {
  return table.keyColumns.map(({ name }) => ({ [name]: { $ne: null } }));
}

/** True for a place before `sinceTime`: reading begins at that time, or is over in reverse. */
function isBefore(place: Document | null, layout: TableLayout, sinceTime: string | null): boolean {
  if (place === null || sinceTime === null || layout.timeField === null) return false;
  const value: unknown = place[layout.timeField];
  if (typeof value !== "string" && !(value instanceof Date)) return value === null;
  return compareUtf8(timeOrderText(layout, value), zonelessFrom(layout.table, sinceTime)) < 0;
}
