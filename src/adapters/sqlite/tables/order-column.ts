// The column that orders a table with a timestamp. It is generated, as only the file sees the writes of all tools, and uses SQLite's
// own functions, so that every tool can write. A table of another program has an index on the expression instead.
import { type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";

/** '' for null and unparsable timestamps. */
export const ORDER_COLUMN = "repsync_order";

/** Names of tables that another program made, to which nothing is added. D-11.4. */
export type ForeignTables = ReadonlySet<string>;

/**
 * The value of `repsync_order` as SQL: the column, or its expression in a table of another program; '' without a timestamp. `row`
 * qualifies the names, as a bare name would mean the expression by which a query reads a column.
 */
export function rowOrder(table: Table, row: string, foreign: ForeignTables): string {
  if (table.timestampColumn === null) return "''";
  if (!foreign.has(table.name)) return `${row}.${ORDER_COLUMN}`;
  return `(${orderExpression(table, `${row}.`)})`;
}

/**
 * The expression of `repsync_order`: a timestamp in this adapter's form as it is, another text that `parseDateTime` reads in that
 * form, and '' for the rest. It asks SQLite for times only of texts that begin with a digit, as words such as 'now' throw.
 */
export function orderExpression(table: Table, prefix = ""): string | null {
  const timestamp = timestampColumnOf(table);
  if (timestamp === null) return null;
  const text = `${prefix}"${timestamp.name}"`;
  const isDate = timestamp.type === "date";
  const isForm = (isDate ? OWN_DATES : OWN_TIMES).map((form) => `${text} GLOB '${form}'`);
  // SQLite moves a day that the month lacks into the next month.
  const isOwn = `(${isForm.join(" OR ")}) AND ${text} GLOB date(${text}, '+0 days') || '*' AND ${text} >= '0001'`;
  const other = otherTime(text);
  const order = isDate ? `CASE WHEN ${other} NOTNULL THEN substr(${text}, 1, 10) END` : other;
  return `CASE WHEN ${isOwn} THEN ${text} WHEN ${text} GLOB '[0-9]*' THEN coalesce(${order}, '') ELSE '' END`;
}

const OWN_DATES = ["[0-9]???-??-??"];
/** The forms of this adapter, the most frequent first. No fraction ends with three zeros. */
const OWN_TIMES = [
  ...[".?????[1-9]", "", ".??[1-9]"],
  ...[".????[1-9]0", ".???[1-9]00", ".?[1-9]0", ".[1-9]00"],
].map((fraction) => `[0-9]???-??-??T??:??:??${fraction}`);

const JULIAN_DAY_OF_YEAR_1 = 1721425.5;
const MINUTE = "%Y-%m-%dT%H:%M";

/** A text that begins with a digit, as time in UTC; null when it is none. */
function otherTime(text: string): string {
  // SQLite loads constant arguments for every written row. Arguments that depend on the row are loaded when needed.
  const the = (value: string | number) =>
    `CASE WHEN ${text} NOTNULL THEN ${typeof value === "string" ? `'${value}'` : value} END`;
  const part = (of: string, from: number, length?: number) =>
    `substr(${of}, ${the(from)}${length === undefined ? "" : `, ${the(length)}`})`;

  const minute = part(`${text} || 'T00:00'`, 1, 16);
  const isoMinute = `replace(${minute}, ${the(" ")}, ${the("T")})`;
  const sameMinute = `strftime(${the(MINUTE)}, ${minute}, ${the("+0 days")})`;
  const tail = part(text, 17);
  const zone = `ltrim(${tail}, ${the(":.0123456789")})`;
  const seconds = `substr(${tail}, ${the(1)}, length(${tail}) - length(${zone}))`;
  const isSeconds = `julianday(${minute} || ${seconds}) NOTNULL AND length(${seconds}) < 14`;
  const isTime = `${sameMinute} = ${isoMinute} AND ${text} >= '0001' AND ${isSeconds}`;

  // 2451544.5 is the Julian day of 2000, which measures the zone; the small part undoes rounding.
  const shift = `julianday(${the("2000-01-01")}, ${part(zone, 1, 3)} || ':' || ${part(zone, -2)})`;
  const shifted = `julianday(${minute}) - ${shift} + 2451544.500001`;
  const isZone = `replace(${zone}, ${the(":")}, ${the("")}) GLOB '[+-][0-2][0-9][0-5][0-9]' AND ${zone} NOT GLOB '?24*'`;
  const isShift = `${isZone} AND ${shifted} > ${JULIAN_DAY_OF_YEAR_1}`;
  const shiftedMinute = `strftime(${the(MINUTE)}, ${shifted})`;
  const utcMinute = `CASE WHEN ${zone} IN ('', 'Z') THEN ${isoMinute} WHEN ${isShift} THEN ${shiftedMinute} END`;
  const missing = `substr(${the(":00.000000")}, length(${seconds}) + 1)`;
  const micros = `replace(${part(`${seconds} || ${missing}`, 1, 10)}, ${the(".000000")}, ${the("")})`;
  const millis = `${part(micros, 1, 7)} || replace(${part(micros, 8)}, ${the("000")}, ${the("")})`;
  return `CASE WHEN ${isTime} THEN ${utcMinute} || ${millis} END`;
}
