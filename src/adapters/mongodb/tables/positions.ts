// Positions in the order of a table, which are values of an index. Timestamps that are times are texts, and BSON dates of other programs,
// which MongoDB orders behind all texts. D-7.10. A date of the same time stays when a guarded write meets it. A key column with dates is
// refused, as a date and its text would be one row twice.
import { BSON, type Document, MinKey } from "mongodb";
import { orElse } from "../../../domain/shared/errors.ts";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { DAY_MS, FIRST_TIME_MS, formatMs, LAST_TIME_MS } from "../../../domain/shared/time.ts";
import { isByDay, timeMicros, zonelessFrom } from "../../../domain/sync/rows/row-time.ts";
import { type Row, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import type { RowPosition } from "../../../ports/tables/table-store.ts";
import { storeTime } from "./column-values.ts";
import { type RowReader, readPosition } from "./row-reader.ts";
import { type IndexKeys, storedKey, type TableLayout } from "./table-layout.ts";

/** The positions of rows. */
export class RowPlaces {
  /** Documents of read rows: values of other tools may not tell their place in the index. */
  readonly #documents = new WeakMap<RowPosition, Uint8Array>();

  /** Reads a row whose position will be asked for. */
  read(reader: RowReader, document: Uint8Array): Row {
    const row = reader.read(document);
    this.#documents.set(row, document);
    return row;
  }

  /** In the order of the table. */
  placeOf(layout: TableLayout, row: RowPosition): Document {
    const document = this.#documents.get(row);
    const found = document === undefined ? null : readPosition(document, layout);
    return found ?? positionOf(layout, row);
  }

  /** In the order of the key. */
  keyOf(layout: TableLayout, row: RowPosition): Document {
    return partOf(this.placeOf(layout, row), layout.keyIndex);
  }
}

function positionOf({ table, timeField }: TableLayout, row: Row): Document {
  const time = timestampColumnOf(table);
  const key = storedKey(table, row);
  return time === null || timeField === null
    ? key
    : { [timeField]: storeTime(time, row[time.name]), ...key };
}

/** The values of an index, in its order. */
export function partOf(place: Document, index: IndexKeys): Document {
  return Object.fromEntries(Object.keys(index).map((name) => [name, place[name]]));
}

/** BSON types with one place in an index, beside texts, booleans, dates and null. */
const PLAIN: readonly unknown[] = ["Int32", "Double", "Long", "Decimal128", "ObjectId", "Binary"];

/** A position in a cursor; null for values without a single place. */
export function positionJson(position: Document | null): Document | null {
  if (position === null || !Object.values(position).every(isPlainValue)) return null;
  return BSON.EJSON.serialize(position, { relaxed: false });
}

export function readIndexValues(json: unknown, names: readonly string[]): Document | null {
  const values: Document = orElse({}, () =>
    Object(BSON.EJSON.deserialize(Object(json), { relaxed: false })),
  );
  const isPlace =
    Object.keys(values).join() === names.join() && Object.values(values).every(isPlainValue);
  return isPlace ? values : null;
}

function isPlainValue(value: unknown): boolean {
  if (value === null || value instanceof Date) return true;
  if (typeof value === "string" || typeof value === "boolean") return true;
  return PLAIN.includes((Object(value) as { _bsontype?: unknown })._bsontype);
}

const FIRST_DATE = new Date(-8_640_000_000_000_000);
/** Behind the texts of all times. */
const LAST_TEXT = "\u{10ffff}";

/** A text that orders values as the table does: texts by their bytes, dates as repsync would write them. */
export function timeOrderText(layout: TableLayout, value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return dateText(layout, value.getTime());
  // Null and numbers come before texts in the index, everything else behind them.
  return isBeforeTexts(value) ? "" : LAST_TEXT + LAST_TEXT;
}

/** True for a place before `sinceTime`: reading begins at that time, or is over in reverse. */
export function isBefore(
  place: Document | null,
  layout: TableLayout,
  sinceTime: string | null,
): boolean {
  if (place === null || sinceTime === null || layout.timeField === null) return false;
  const value: unknown = place[layout.timeField];
  if (typeof value !== "string" && !(value instanceof Date)) return value === null;
  return compareUtf8(timeOrderText(layout, value), zonelessFrom(layout.table, sinceTime)) < 0;
}

/** Selects rows at or after `sinceTime`, or all. `datesSince()` selects the BSON dates of other programs. */
export function sinceFilter(layout: TableLayout, sinceTime: string | null): Document {
  if (sinceTime === null || layout.timeField === null) return {};
  // `$gte` with a text matches texts only, and no null.
  return { [layout.timeField]: { $gte: zonelessFrom(layout.table, sinceTime) } };
}

/** Selects the BSON dates at or after `sinceTime`, or all. */
export function datesSince(layout: TableLayout, sinceTime: string | null): Document {
  if (layout.timeField === null) return {};
  if (sinceTime === null) return { [layout.timeField]: { $gte: FIRST_DATE } };
  const stepMs = isByDay(layout.table) ? DAY_MS : 1;
  const firstMs = Math.ceil(timeMicros(sinceTime) / 1000 / stepMs) * stepMs;
  return { [layout.timeField]: { $gte: new Date(firstMs) } };
}

/** Rows at or after `sinceTime`, always with a bound on the order index, so that the server counts index keys alone. */
export function countFilter(
  layout: TableLayout,
  sinceTime: string | null,
  hasDates: boolean,
): Document {
  if (sinceTime !== null && layout.timeField !== null) {
    const texts = sinceFilter(layout, sinceTime);
    return hasDates ? { $or: [texts, datesSince(layout, sinceTime)] } : texts;
  }
  const [firstField = "_id"] = Object.keys(layout.orderIndex);
  return { [firstField]: { $gte: new MinKey() } };
}

/** The least place with a text, at or behind a place with a date. */
export function placeAmongTexts(layout: TableLayout, place: Document): Document {
  const field = layout.timeField ?? "";
  return { ...place, [field]: timeOrderText(layout, place[field]) };
}

/** The least place with a date, at or behind a place without one; null when there is none. */
export function placeAmongDates(layout: TableLayout, place: Document): Document | null {
  const field = layout.timeField ?? "";
  const text = timeOrderText(layout, place[field]);
  let [lowMs, highMs] = [FIRST_TIME_MS, LAST_TIME_MS + 1];
  // Texts of other programs may have any form, so this searches the first date that does not come before.
  while (lowMs < highMs) {
    const middleMs = Math.floor((lowMs + highMs) / 2);
    if (compareUtf8(dateText(layout, middleMs), text) < 0) lowMs = middleMs + 1;
    else highMs = middleMs;
  }
  if (text > LAST_TEXT) return null;
  const date = text === "" ? FIRST_DATE : new Date(lowMs);
  if (dateText(layout, lowMs) === text) return { ...place, [field]: date };
  const names = Object.keys(layout.orderIndex);
  return Object.fromEntries(names.map((name) => [name, name === field ? date : new MinKey()]));
}

/** The time as repsync writes it, without zone. In a column of days a date that is not midnight comes behind its day. */
function dateText(layout: TableLayout, atMs: number): string {
  // Behind null and numbers.
  if (atMs < FIRST_TIME_MS) return "\0";
  // Also for NaN, an invalid `Date`.
  if (!(atMs <= LAST_TIME_MS)) return LAST_TEXT;
  const text = formatMs(atMs).slice(0, -1);
  return isByDay(layout.table) && atMs % DAY_MS === 0 ? text.slice(0, 10) : text;
}

function isBeforeTexts(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === "number") return true;
  const type: unknown = typeof value === "object" && "_bsontype" in value ? value._bsontype : null;
  return ["Int32", "Double", "Long", "Decimal128", "MinKey"].includes(String(type));
}
