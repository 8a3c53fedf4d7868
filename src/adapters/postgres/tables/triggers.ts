// Triggers, which fire whenever a table is written, by whatever program: versions grow, deletes leave tombstones.

import { MAX_TOLD_BACK_MS } from "../../../domain/shared/limits.ts";
import { isOfPeople } from "../../../domain/sync/people/owned-row.ts";
import { MAX_AHEAD_MS } from "../../../domain/sync/rows/row-time.ts";
import { timestampColumnOf } from "../../../domain/sync/table/table.ts";
import { EVERYBODY } from "../driver/schema.ts";
import { literal, quoted, textList } from "../driver/sql.ts";
import { castType, isOfCalendar } from "./columns.ts";
import type { Layout } from "./layout.ts";

const EVENTS = ["insert", "update", "delete", "truncate"] as const;
type Event = (typeof EVENTS)[number];
/** The moment at which a trigger of each event fires, and the names by which it reads the rows: before a truncate they are in their table. */
const HOW: Readonly<Record<Event, Pick<Trigger, "time" | "referencing">>> = {
  insert: { referencing: "referencing new table as rows_after" },
  update: { referencing: "referencing old table as rows_before new table as rows_after" },
  delete: { referencing: "referencing old table as rows_before" },
  truncate: { time: "before" },
};
const PEOPLE: Readonly<Record<Event, string>> = {
  insert: "_people_came()",
  update: "_people_changed()",
  delete: "_people_went()",
  truncate: `_changed('${EVERYBODY}')`,
};

/** Begins the statement of each trigger. */
export const MAKES_TRIGGER = "create or replace trigger ";

/** Makes the triggers of a table, and the functions that its tombstones take; drops those that it does not need. */
export function triggersText(layout: Layout): string {
  const { slot, table } = layout;
  if (!layout.isWatched) return "";
  const events = "insert or update or delete or truncate";
  const statements = [
    trigger(layout, { short: "changed", events, call: `repsync._changed('${slot}')` }),
  ];
  for (const event of EVENTS) {
    const shared = { events: event, ...HOW[event] };
    if (isOfPeople(table)) {
      const call = `repsync.${PEOPLE[event]}`;
      statements.push(trigger(layout, { ...shared, short: `people_${event}`, call }));
    }
    const short = `deletes_${event}`;
    if (table.deletes) {
      statements.push(functionText(layout, event));
      statements.push(
        trigger(layout, { ...shared, short, call: `${functionName(layout, event)}()` }),
      );
    } else statements.push(dropText(functionName(layout, event)));
  }
  statements.push(...tellingTriggers(layout), stampTriggerText(layout));
  return statements.join("\n");
}

interface Trigger {
  /** Behind `repsync_`. */
  readonly short: string;
  readonly events: string;
  readonly call: string;
  readonly referencing?: string;
  /** Absent: after the statement. */
  readonly time?: "before" | "after";
  /** Absent: always. */
  readonly when?: string;
}

function trigger(
  layout: Layout,
  { short, events, call, referencing = "", time = "after", when }: Trigger,
): string {
  const condition = when === undefined ? "" : `when (${when})`;
  const what = `${time} ${events} on ${layout.name} ${referencing} for each statement ${condition} execute function ${call}`;
  return makeText(layout, `repsync_${short}`, what);
}

/** `enable always`: a session in the role of a replica would pass it over otherwise. */
function makeText({ name, watch }: Layout, called: string, what: string): string {
  const always = watch === "always" ? `\nalter table ${name} enable always trigger ${called};` : "";
  return `${MAKES_TRIGGER}${called} ${what};${always}`;
}

/** Drops a function and the triggers that call it, which takes no right to the table. */
function dropText(called: string): string {
  return `drop function if exists ${called}() cascade;`;
}

function functionName({ short }: Layout, event: string): string {
  return `repsync.${quoted(`_${event}_${short}`)}`;
}

/** Other programs' writes are told of as `TableWrites.takeCommitted` says; own ones are noted by their bodies. D-12.3. */
function tellingTriggers(layout: Layout): readonly string[] {
  const { slot, table } = layout;
  const column = timestampColumnOf(table);
  if (column === null) return [dropText(functionName(layout, "told"))];
  const call = `${functionName(layout, "told")}()`;
  const lasts = column.type === "date" ? " + interval '1 day'" : "";
  const made = `create or replace function ${call} returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
begin
  if ${lacksColumns(layout)} then return null; end if;
  insert into repsync._told (slot, at)
    select ${slot}, min(r.at) from (select ${timeText(layout, "a")} as at from rows_after as a) as r
    where r.at${lasts} >= now() - interval '${MAX_TOLD_BACK_MS} milliseconds' having count(*) > 0;
  return null;
end $body$;`;
  const triggers = (["insert", "update"] as const).map((event) =>
    trigger(layout, {
      short: `told_${event}`,
      events: event,
      call,
      when: isOthers(layout, 0),
      referencing: "referencing new table as rows_after",
    }),
  );
  return [made, ...triggers];
}

/**
 * Own writes bring their tombstones themselves. Where a column has gone the record is interrupted. Otherwise, D-7.6: rows that went leave tombstones of now, or of 1 µs after
 * their time where that is later and not more than 5 minutes ahead, for the later of two; rows that came take those which
 * they outlive.
 */
function functionText(layout: Layout, event: Event): string {
  const { deleted, table } = layout;
  const keys = table.keyColumns.map(({ name }) => quoted(name));
  const gone = event === "truncate" ? layout.name : "rows_before";
  const isGone =
    event === "update"
      ? `where not exists (select from rows_after as a where ${layout.sameKey("a", "r")})`
      : "";
  const bury = `
  insert into ${deleted} as d (${keys.join(", ")}, deleted_at, taken_ms)
    select ${keys.map((key) => `r.${key}`).join(", ")},
      case when r.repsync_at <= repsync_ahead then greatest(repsync_now, r.repsync_at + interval '1 microsecond') else repsync_now end,
      floor(extract(epoch from repsync_now) * 1000)::int8
    from (select ${keys.join(", ")}, ${timeText(layout, "b")} as repsync_at from ${gone} as b) as r ${isGone}
  on conflict (${keys.join(", ")}) do update
    set deleted_at = excluded.deleted_at, taken_ms = excluded.taken_ms, place = null, made = default
    where d.deleted_at < excluded.deleted_at;`;
  const unbury = `
  delete from ${deleted} as d
    using (select ${keys.join(", ")}, ${timeText(layout, "a")} as repsync_at from rows_after as a) as r
    where ${layout.sameKey("d", "r")} and (r.repsync_at <= repsync_ahead, r.repsync_at) > (d.deleted_at <= repsync_ahead, d.deleted_at);`;
  return `create or replace function ${functionName(layout, event)}() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column -- a column may be called "new"
declare ${NOW_AND_AHEAD}
begin
  if not ${isOthers(layout, 1)} then return null; end if;
  if ${lacksColumns(layout)} then
    update repsync._tables set complete_since = to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') where name = ${literal(table.name)};
    return null;
  end if;${event === "insert" ? "" : bury}${event === "insert" || event === "update" ? unbury : ""}
  return null;
end $body$;`;
}

// Common parts of the bodies of triggers.

/** True where an application has dropped or renamed a column that a function reads: its own writes must not fail for that. */
function lacksColumns({ table }: Layout): string {
  const time = table.timestampColumn === null ? [] : [table.timestampColumn];
  const names = [...new Set([...table.keyColumns.map(({ name }) => name), ...time])];
  return `not exists (select from pg_attribute where attrelid = tg_relid and attname = any(${literal(textList(names))}::name[]) and not attisdropped having count(*) = ${names.length})`;
}

/**
 * True while it is not repsync that writes the table (`WRITES_OWN`): what a rule of the application does about such a write, in
 * another table by a cascade or by a trigger, is the application's. In a function of a trigger `depth` is 1, in its condition 0.
 */
function isOthers({ slot }: Layout, depth: 0 | 1): string {
  return `(current_setting('repsync.own', true) is distinct from '${slot}' or pg_trigger_depth() > ${depth})`;
}

/** Declarations: now, and the last time that is not too far ahead. */
const NOW_AND_AHEAD = `
  repsync_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  repsync_ahead timestamptz := repsync_now + interval '${MAX_AHEAD_MS} milliseconds';`;

/** The time of a row; null for none, and for one that no calendar has. */
function timeText({ table }: Layout, row: string): string {
  const column = timestampColumnOf(table);
  if (column === null) return "null::timestamptz";
  const name = `${row}.${quoted(column.name)}`;
  const time = castType(column) === "date" ? `(${name}::timestamp at time zone 'UTC')` : name;
  return `case when ${isOfCalendar(time, "timestamptz")} then ${time} end`;
}

// Stamps the rows that other programs write to a stamped table, and whose time they leave alone: a trigger sets it before the
// row is written, by what the row and the tombstone of its key had (`stampFate`). It is silent while repsync writes. A new
// row looks for one of its key too, which `on conflict do update` is about to change. D-14.2.

/** Makes the trigger of a table, or drops it. */
function stampTriggerText(layout: Layout): string {
  const { name, table } = layout;
  const called = functionName(layout, "stamp");
  if (!table.stamped) return dropText(called);
  const call = `${called}()`;
  const at = quoted(table.timestampColumn ?? "");
  const seen = [
    `select ${timeText(layout, "old")} as at`,
    `select ${timeText(layout, "t")} from ${name} as t where ${layout.sameKey("t", "new")}`,
  ];
  if (table.deletes) {
    seen.push(
      `select d.deleted_at from ${layout.deleted} as d where ${layout.sameKey("d", "new")}`,
    );
  }
  return `create or replace function ${call} returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare ${NOW_AND_AHEAD}
begin
  if tg_op = 'UPDATE' and new.${at} is null then new.${at} = old.${at};
  elsif new.${at} is distinct from old.${at} then return new;
  end if;
  if tg_op = 'UPDATE' and new *= old then return new; end if;
  select greatest(repsync_now, max(seen.at) + interval '1 microsecond') into new.${at}
    from (${seen.join(" union all ")}) as seen where seen.at <= repsync_ahead;
  return new;
end $body$;
${makeText(layout, "repsync_stamp", `before insert or update on ${name} for each row when ${isOthers(layout, 0)} execute function ${call}`)}`;
}
