// Documents in the order of their table. An index holds the BSON dates of other programs in a stretch behind the texts. Both stretches
// are read side by side.
import { type ClientSession, type Db, type Document, type FindCursor, MinKey } from "mongodb";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { compareKeys } from "../../../domain/sync/rows/row-key.ts";
import { zonelessFrom } from "../../../domain/sync/rows/row-time.ts";
import { hasCode } from "../driver/errors.ts";
import {
  datesSince,
  placeAmongDates,
  placeAmongTexts,
  sinceFilter,
  timeOrderText,
} from "./positions.ts";
import { RowReader, readTime } from "./row-reader.ts";
import { hintOf } from "./table-indexes.ts";
import {
  type IndexKeys,
  KEY_TIME_FIELD,
  PLACELESS_TYPES,
  type TableLayout,
} from "./table-layout.ts";

/** Documents that are merged before they are handed on. */
const MERGED_AT_ONCE = 500;

type Bytes = readonly Uint8Array[];

interface DocumentsQuery {
  readonly layout: TableLayout;
  /** The index of the table's order, or of its key. */
  readonly index: IndexKeys;
  /** Reads from the end of the index: documents before `from`, without it. */
  readonly isReverse?: boolean;
  /** The answer of `hasDates`; false in the order of the key. */
  readonly hasDates: boolean;
  readonly sinceTime: string | null;
  /** Index values of the first document, included; null for the start of the index. */
  readonly from: Document | null;
  /** Index values behind the last document; only in the order of the key. */
  readonly before?: Document | null;
  readonly conditions: readonly Document[];
  readonly skip: number;
  readonly limit: number;
}

interface KeyRange {
  /** Null for the first key. */
  readonly after: Document | null;
  /** Null for the last key. */
  readonly through: Document | null;
  readonly limit: number;
}

/** Server code for a range that does not end after its start. */
const EMPTY_RANGE = 51175;

/** A part of an index; `from` as in `DocumentsQuery`. */
interface Stretch {
  readonly filter: Document;
  readonly from: Document | null;
}

const DESCENDING = -1;

/** True when a timestamp of the table is a BSON date, in the snapshot of `tx`. */
export async function hasDates(db: Db, layout: TableLayout, tx: ClientSession): Promise<boolean> {
  const { table, timeField, orderIndex } = layout;
  if (timeField === null || timeField === KEY_TIME_FIELD) return false;
  const hint = hintOf(db, table, orderIndex);
  const options = { session: tx, hint, projection: { _id: 1 } };
  return (await db.collection(table.name).findOne(datesSince(layout, null), options)) !== null;
}

/** Reads documents as bytes, in batches. A reader that ends early closes its cursors. */
export async function* readOrdered(
  db: Db,
  query: DocumentsQuery,
  tx: ClientSession,
): AsyncGenerator<Bytes> {
  const stretches = stretchesOf(query);
  const isMerged = stretches.length > 1;
  const cursors = stretches.map((stretch) => findStretch(db, { ...query, isMerged }, stretch, tx));
  try {
    const [texts, dates] = cursors as [FindCursor, FindCursor | undefined];
    if (dates !== undefined) yield* merge(query, texts, dates);
    else while (await texts.hasNext()) yield texts.readBufferedDocuments() as unknown[] as Bytes;
  } finally {
    // The driver would name the snapshot as it closes a cursor, which the server refuses.
    const open = cursors.flatMap(({ id }) => (id === undefined || id.isZero() ? [] : id));
    const closing = { killCursors: query.layout.table.name, cursors: open };
    // The server ends a left cursor after ten minutes.
    if (open.length > 0) await db.command(closing).catch(() => {});
    // An unclosed cursor of the driver holds unread documents.
    await Promise.all(cursors.map((cursor) => cursor.close()));
  }
}

/** Documents with keys behind `after` up to `through`, in the order of the key. */
export async function* readKeyRange(
  db: Db,
  layout: TableLayout,
  { after, through, limit }: KeyRange,
  tx: ClientSession,
): AsyncGenerator<Bytes> {
  const { keyIndex: index } = layout;
  const conditions = [...keyed(layout), ...placedBehind(index, after)];
  const inOrder = { layout, index, hasDates: false, sinceTime: null, skip: 0 };
  const query = { ...inOrder, from: after, conditions, limit };
  let leftRows = limit;
  try {
    for await (const batch of readOrdered(db, { ...query, before: through }, tx)) {
      leftRows -= batch.length;
      yield batch;
    }
  } catch (error) {
    if (hasCode(error, EMPTY_RANGE)) return;
    throw error;
  }
  if (through === null || leftRows === 0 || !isWhole(through)) return;
  const only = [...placedBehind(index, null), equalTo(through)];
  yield* readOrdered(db, { ...query, from: null, conditions: only, limit: 1 }, tx);
}

/** Conditions that leave out rows without a key. */
export function keyed({ table }: TableLayout): readonly Document[] {
  return table.keyColumns.map(({ name }) => ({ [name]: { $ne: null } }));
}

/** Conditions for documents with a place in an index, behind the one at `from`. */
export function placedBehind(index: IndexKeys, from: Document | null): readonly Document[] {
  const $type = [...PLACELESS_TYPES];
  const placed = Object.keys(index).map((name) => ({ [name]: { $not: { $type } } }));
  // The lower bound of a range includes the document at `from`.
  return from === null ? placed : [...placed, { $nor: [equalTo(from)] }];
}

/** A condition for documents with exactly these values, of any type. */
function equalTo(values: Document): Document {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { $eq: value }]));
}

/** True for a key without null. */
export function isWhole(key: Document): boolean {
  return Object.values(key).every((value) => value !== null);
}

function stretchesOf(query: DocumentsQuery): Stretch[] {
  const { layout, hasDates: isMixed, sinceTime, from, isReverse = false } = query;
  const texts = sinceFilter(layout, sinceTime);
  const time = layout.timeField;
  if (!isMixed || time === null) return [{ filter: texts, from }];
  const isDate = from?.[time] instanceof Date;
  const noDate = { $and: [texts, { [time]: { $not: { $type: "date" } } }] };
  const fromText = isDate ? placeAmongTexts(layout, from) : from;
  const fromDate = from === null || isDate ? from : placeAmongDates(layout, from);
  const dates = { filter: datesSince(layout, sinceTime), from: fromDate };
  // Behind all dates: forward no date is left to read, in reverse all of them are.
  const isBehindDates = from !== null && fromDate === null && !isReverse;
  return [{ filter: noDate, from: fromText }, ...(isBehindDates ? [] : [dates])];
}

function findStretch(
  db: Db,
  query: DocumentsQuery & { readonly isMerged: boolean },
  { filter, from }: Stretch,
  tx: ClientSession,
): FindCursor {
  const { layout, index, isMerged, conditions, skip, limit } = query;
  const { min, max, sort } = boundsOf(query, from);
  // The skipped rows may be in either stretch.
  const range = isMerged ? { limit: skip + limit } : { skip, limit };
  return db
    .collection(layout.table.name)
    .find(conditions.length === 0 ? filter : { $and: [filter, ...conditions] }, {
      session: tx,
      sort,
      hint: hintOf(db, layout.table, index),
      ...(min === null ? {} : { min }),
      ...(max === null ? {} : { max }),
      ...range,
      // One more than the page, so that the server sends all at once and closes the cursor.
      batchSize: limit + 1,
      projection: layout.pageProjection,
      raw: true,
    });
}

/** The part of the index to read. In reverse, the bound of a time keeps the read from going on to the start of the index. */
function boundsOf(
  { index, isReverse, layout, hasDates: isMixed, sinceTime, before = null }: DocumentsQuery,
  from: Document | null,
) {
  if (!isReverse) return { min: from, max: before, sort: index };
  const names = Object.keys(index);
  const sort = Object.fromEntries(names.map((name) => [name, DESCENDING] as const));
  const time = layout.timeField;
  if (sinceTime === null || time === null || isMixed) return { min: null, max: from, sort };
  const bound = zonelessFrom(layout.table, sinceTime);
  const min = Object.fromEntries(names.map((name) => [name, name === time ? bound : new MinKey()]));
  return { min, max: from, sort };
}

/** The documents of two stretches, of texts and of dates. */
async function* merge(
  { layout, skip, limit, isReverse = false }: DocumentsQuery,
  texts: FindCursor,
  dates: FindCursor,
): AsyncGenerator<Bytes> {
  const next = async (cursor: FindCursor): Promise<PlacedDocument | null> => {
    const found: unknown = await cursor.next();
    const bytes = found as Uint8Array | null;
    return bytes && { bytes, timeText: timeOrderText(layout, readTime(bytes, layout)) };
  };
  let [text, date] = await Promise.all([next(texts), next(dates)]);
  let batch: Uint8Array[] = [];
  for (let count = 0; count < skip + limit; count++) {
    const isDate =
      date !== null && (text === null || comesBefore(layout, date, text) !== isReverse);
    const first = isDate ? date : text;
    if (first === null) break;
    if (isDate) date = await next(dates);
    else text = await next(texts);
    if (count < skip) continue;
    batch.push(first.bytes);
    if (batch.length < MERGED_AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

interface PlacedDocument {
  readonly bytes: Uint8Array;
  readonly timeText: string;
}

function comesBefore(layout: TableLayout, a: PlacedDocument, b: PlacedDocument): boolean {
  const order = compareUtf8(a.timeText, b.timeText);
  if (order !== 0) return order < 0;
  const { table } = layout;
  const reader = new RowReader(layout, table.keyColumns);
  return compareKeys(table, reader.read(a.bytes), reader.read(b.bytes)) < 0;
}
