// The values of a timestamp column that stand for times: texts, as repsync writes them, and BSON dates of other programs.
// MongoDB orders all dates behind all texts. D-7.10. A date that is the same time stays where a guarded write meets it; a key
// column with dates is refused, as a document with the date and one with its text would be one row twice.
import { type Document, MinKey } from "mongodb";
import { compareUtf8 } from "../../../domain/shared/json.ts";
import { FIRST_TIME_MS, formatMs, LAST_TIME_MS } from "../../../domain/shared/time.ts";
import { isByDay, timeMicros } from "../../../domain/sync/rows/row-time.ts";
import { sinceFilter, type TableLayout } from "./table-layout.ts";

const DAY_MS = 86_400_000;
const FIRST_DATE = new Date(-8_640_000_000_000_000);
/** Behind all texts of times. */
const LAST_TEXT = "\u{10ffff}";

/** A text by which values stand in the order of the table: the bytes of texts, and of dates as repsync would write them. */
export function timeOrderText(layout: TableLayout, value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Date) return dateText(layout, value.getTime());
  // Null and numbers come before texts in the index, everything else comes behind them.
  return isBeforeTexts(value) ? "" : LAST_TEXT + LAST_TEXT;
}

/** Selects the BSON dates at or after `sinceTime`; all of them when it is null. */
export function datesSince(layout: TableLayout, sinceTime: string | null): Document {
  if (layout.timeField === null) return {};
  if (sinceTime === null) return { [layout.timeField]: { $gte: FIRST_DATE } };
  const stepMs = isByDay(layout.table) ? DAY_MS : 1;
  const firstMs = Math.ceil(timeMicros(sinceTime) / 1000 / stepMs) * stepMs;
  return { [layout.timeField]: { $gte: new Date(firstMs) } };
}

/** The rows at or after `sinceTime`, always with a bound on the order index, so that the server counts index keys alone. */
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

/** The least place of the order index with a text at or behind a place with a date. */
export function placeAmongTexts(layout: TableLayout, place: Document): Document {
  const field = layout.timeField ?? "";
  return { ...place, [field]: timeOrderText(layout, place[field]) };
}

/** The least place of the order index with a date at or behind a place without one; null where no date is. */
export function placeAmongDates(layout: TableLayout, place: Document): Document | null {
  const field = layout.timeField ?? "";
  const text = timeOrderText(layout, place[field]);
  let [lowMs, highMs] = [FIRST_TIME_MS, LAST_TIME_MS + 1];
  // Texts of other programs may be in any form, so the first date is looked for that does not come before.
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

/** The time as repsync writes it, without zone. A date that is not at midnight comes behind its day where a column has days. */
function dateText(layout: TableLayout, atMs: number): string {
  // Behind null and numbers, which stand in an order of their own.
  if (atMs < FIRST_TIME_MS) return "\0";
  // Also one beyond what a `Date` holds.
  if (!(atMs <= LAST_TIME_MS)) return LAST_TEXT;
  const text = formatMs(atMs).slice(0, -1);
  return isByDay(layout.table) && atMs % DAY_MS === 0 ? text.slice(0, 10) : text;
}

function isBeforeTexts(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === "number") return true;
  const type: unknown = typeof value === "object" && "_bsontype" in value ? value._bsontype : null;
  return ["Int32", "Double", "Long", "Decimal128", "MinKey"].includes(String(type));
}
