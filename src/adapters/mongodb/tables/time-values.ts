// Timestamps that are times: texts, and BSON dates of other programs, which MongoDB orders behind all texts. D-7.10. A date of the same
// time stays when a guarded write meets it. A key column with dates is refused, as a date and its text would be one row twice.
import { type Document, MinKey } from "mongodb";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { DAY_MS, FIRST_TIME_MS, formatMs, LAST_TIME_MS } from "../../../domain/shared/time.ts";
import { isByDay, timeMicros } from "../../../domain/sync/rows/row-time.ts";
import { sinceFilter, type TableLayout } from "./table-layout.ts";

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
