// Reads rows for runs and comparisons, by ranges of the two indexes that every table has.
import { Buffer } from "node:buffer";
import { BSON, type ClientSession, type Document } from "mongodb";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  KeyRange,
  RowPosition,
  RowSource,
  RowsAfterQuery,
} from "../../../ports/tables/row-source.ts";
import { cutBatches } from "../driver/collections.ts";
import { hasCode } from "../driver/errors.ts";
import { readSnapshot, SNAPSHOT, type StoreDeps } from "../driver/operations.ts";
import { hasDates, readOrdered } from "./ordered-documents.ts";
import { RowReader, readPosition } from "./row-reader.ts";
import {
  type IndexKeys,
  layoutOf,
  positionOf,
  sinceBound,
  type TableLayout,
} from "./table-layout.ts";
import { countFilter, timeOrderText } from "./time-values.ts";

/** Server code for a range whose end is not after its start. */
const EMPTY_RANGE = 51175;
/** Keys that one command looks up; fewer or many more take longer in all. */
const LOOKUP = { maxItems: 250, maxBytes: 8 * 1024 * 1024 };

interface Range {
  readonly table: Table;
  readonly index: IndexKeys;
  /** Index values after which the rows come; null: from the first row on. */
  readonly after: Document | null;
  /** Index values before which the rows come. */
  readonly before?: Document;
  readonly conditions: readonly Document[];
  readonly limitRows: number;
}

export class MongoRowSource implements RowSource {
  readonly #deps: StoreDeps;
  readonly #rowReaders = new WeakMap<Table, RowReader>();
  /** The documents of rows that were read: other tools may write values whose index place the row does not tell. */
  readonly #documents = new WeakMap<RowPosition, Uint8Array>();

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async readAfter(table: Table, query: RowsAfterQuery): Promise<readonly Row[]> {
    const { db } = this.#deps;
    const { sinceTime, limitRows } = query;
    const layout = layoutOf(table);
    const place = query.after === null ? null : this.#placeOf(layout, query.after);
    const from = isBefore(place, layout, sinceTime) ? null : place;
    const isAfter = from === null ? [] : [behind(from)];
    const conditions = [...hasKey(table), ...isPlaced(layout.orderIndex), ...isAfter];
    const documents = await readSnapshot(this.#deps, async (tx) => {
      const isMixed = await hasDates(db, layout, tx);
      const range = { skip: 0, limit: limitRows, sinceTime, from, conditions };
      const found: Uint8Array[] = [];
      for await (const batch of readOrdered(db, { layout, hasDates: isMixed, ...range }, tx)) {
        found.push(...batch);
      }
      return found;
    });
    return this.#rows(table, documents);
  }

  async countSince(table: Table, sinceTime: string | null): Promise<number> {
    const { db } = this.#deps;
    const layout = layoutOf(table);
    const [counted] = await readSnapshot(this.#deps, async (tx) => {
      const filter = countFilter(layout, sinceTime, await hasDates(db, layout, tx));
      return await db
        .collection(table.name)
        .aggregate([{ $match: { $and: [filter, ...hasKey(table)] } }, { $count: "rows" }], {
          ...SNAPSHOT,
          session: tx,
          hint: layout.orderIndex,
        })
        .toArray();
    });
    return Number(counted?.["rows"] ?? 0);
  }

  async readByKeys(table: Table, keys: readonly RowPosition[]): Promise<readonly Row[]> {
    const layout = layoutOf(table);
    const wanted = keys.map((row) => this.#keyOf(layout, row)).filter(isWhole);
    const lookups = cutBatches(wanted, { ...LOOKUP, bytesOf: BSON.calculateObjectSize });
    const found = new Map<string, Uint8Array>();
    await readSnapshot(this.#deps, async (tx) => {
      found.clear();
      for (const lookup of lookups) {
        const conditions = [{ $or: lookup.map(equalTo) }];
        const limitRows = lookup.length;
        const range = { table, index: layout.keyIndex, after: null, conditions, limitRows };
        // The same row may be asked for in several lookups.
        for (const document of await this.#find(range, tx)) {
          found.set(Buffer.from(document).toString("latin1"), document);
        }
      }
    });
    return this.#rows(table, [...found.values()]);
  }

  async readKeyRange(table: Table, range: KeyRange, limitRows: number): Promise<readonly Row[]> {
    const layout = layoutOf(table);
    const index = layout.keyIndex;
    const [after, through] = [range.afterKey, range.throughKey].map((row) =>
      row === null ? null : this.#keyOf(layout, row),
    ) as [Document | null, Document | null];
    const rest = { table, index, after, conditions: hasKey(table), limitRows };
    const documents = await readSnapshot(this.#deps, async (tx) => {
      if (through === null) return await this.#find(rest, tx);
      const before = await this.#findBefore({ ...rest, before: through }, tx);
      if (before === null || before.length === limitRows) return before ?? [];
      const last = { ...rest, after: null, conditions: [equalTo(through)], limitRows: 1 };
      const found = isWhole(through) ? await this.#find(last, tx) : [];
      return [...before, ...found];
    });
    return this.#rows(table, documents);
  }

  /** As `#find()`; null when the range ends before it begins. */
  async #findBefore(range: Range, tx: ClientSession): Promise<Uint8Array[] | null> {
    try {
      return await this.#find(range, tx);
    } catch (error) {
      if (hasCode(error, EMPTY_RANGE)) return null;
      throw error;
    }
  }

  async #find(range: Range, tx: ClientSession): Promise<Uint8Array[]> {
    const { table, index, after, before, conditions, limitRows } = range;
    const { pageProjection } = layoutOf(table);
    const isAfter = after === null ? [] : [behind(after)];
    const documents: unknown[] = await this.#deps.db
      .collection(table.name)
      .find(
        { $and: [...conditions, ...isPlaced(index), ...isAfter] },
        {
          ...SNAPSHOT,
          session: tx,
          sort: index,
          hint: index,
          ...(after === null ? {} : { min: after }),
          ...(before === undefined ? {} : { max: before }),
          limit: limitRows,
          // One more than the limit, so that the server sends all at once and closes the cursor.
          batchSize: limitRows + 1,
          projection: pageProjection,
          raw: true,
        },
      )
      .toArray();
    return documents as Uint8Array[];
  }

  #rows(table: Table, documents: readonly Uint8Array[]): Row[] {
    const reader =
      this.#rowReaders.get(table) ?? new RowReader(layoutOf(table), sentColumns(table));
    this.#rowReaders.set(table, reader);
    return documents.map((document) => {
      const row = reader.read(document);
      this.#documents.set(row, document);
      return row;
    });
  }

  #placeOf(layout: TableLayout, row: RowPosition): Document {
    const document = this.#documents.get(row);
    const found = document === undefined ? null : readPosition(document, layout);
    return found ?? positionOf(layout, row);
  }

  #keyOf(layout: TableLayout, row: RowPosition): Document {
    const place = this.#placeOf(layout, row);
    return Object.fromEntries(Object.keys(layout.keyIndex).map((name) => [name, place[name]]));
  }
}

function sentColumns(table: Table): Column[] {
  return table.pageColumns.filter((column) => table.pushColumns.includes(column));
}

/** True for a place before `sinceTime`: then reading begins at that time. */
export function isBefore(
  place: Document | null,
  layout: TableLayout,
  sinceTime: string | null,
): boolean {
  if (place === null || sinceTime === null || layout.timeField === null) return false;
  const value: unknown = place[layout.timeField];
  if (typeof value !== "string" && !(value instanceof Date)) return value === null;
  return compareUtf8(timeOrderText(layout, value), sinceBound(layout, sinceTime)) < 0;
}

function hasKey(table: Table): Document[] {
  return table.keyColumns.map(({ name }) => ({ [name]: { $ne: null } }));
}

function isWhole(key: Document): boolean {
  return Object.values(key).every((value) => value !== null);
}

/** An array from another tool has several index entries: going on after one would never end. */
export function isPlaced(index: IndexKeys): Document[] {
  return Object.keys(index).map((name) => ({ [name]: { $not: { $type: "array" } } }));
}

/** Leaves out the row at a place: the lower bound of a range includes it. */
export function behind(place: Document): Document {
  return { $nor: [equalTo(place)] };
}

/** A condition for documents with exactly these values, of any type. */
function equalTo(values: Document): Document {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { $eq: value }]));
}

/** A condition for the document of a row with this key. */
export function keyFilter(layout: TableLayout, key: Row): Document {
  const place = positionOf(layout, key);
  return equalTo(Object.fromEntries(Object.keys(layout.keyIndex).map((n) => [n, place[n]])));
}
