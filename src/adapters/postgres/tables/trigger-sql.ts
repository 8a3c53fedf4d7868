// What the bodies of triggers share.
import { MAX_AHEAD_MS } from "../../../domain/sync/rows/time-rank.ts";
import { quoted } from "../driver/sql.ts";
import { castType, isOfCalendar } from "./columns.ts";
import type { Layout } from "./layout.ts";

/** True while it is not repsync that writes. */
export const IS_OTHERS = "current_setting('repsync.own', true) is distinct from 'on'";

/** Declarations: now, and the last time that is not too far ahead. */
export const NOW_AND_AHEAD = `
  repsync_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  repsync_ahead timestamptz := repsync_now + interval '${MAX_AHEAD_MS} milliseconds';`;

export function sameKey({ table }: Layout, left: string, right: string): string {
  return table.keyColumns
    .map(({ name }) => `${left}.${quoted(name)} = ${right}.${quoted(name)}`)
    .join(" and ");
}

/** The time of a row; null for none, and for one that no calendar has. */
export function timeText({ table }: Layout, row: string): string {
  const column = table.columns.find(({ name }) => name === table.timestampColumn);
  if (column === undefined) return "null::timestamptz";
  const name = `${row}.${quoted(column.name)}`;
  const time = castType(column) === "date" ? `(${name}::timestamp at time zone 'UTC')` : name;
  return `case when ${isOfCalendar(time, "timestamptz")} then ${time} end`;
}
