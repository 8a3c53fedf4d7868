// Triggers that fire on writes of any program: they raise versions, and record deletes.

import { MAX_TOLD_BACK_MS } from "../../../domain/shared/limits.ts";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import { MAX_AHEAD_MS } from "../../../domain/sync/rows/row-time.ts";
import { timestampColumnOf } from "../../../domain/sync/table/table.ts";
import { EVERYBODY } from "../driver/schema.ts";
import { literal, quoted, textList } from "../driver/sql.ts";
import { castType, isOfCalendar } from "./columns.ts";
import type { Layout } from "./layout.ts";

const EVENTS = ["insert", "update", "delete", "truncate"] as const;
type Event = (typeof EVENTS)[number];
/** When a trigger fires, and the names of the rows that it reads. Before a truncate it reads the table. */
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

/** In SQL, true for a trigger of repsync, which calls a function of its schema: one of an application may have such a name. */
export const IS_OWN_TRIGGER =
  "(select pronamespace::regnamespace::text = 'repsync' from pg_proc where oid = tgfoid)";
/** Begins the statement of each trigger. */
export const MAKES_TRIGGER = "create or replace trigger ";

/** Makes the triggers and functions of a table, and drops those that it does not need. */
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
      const call = `${functionName(layout, event)}()`;
      statements.push(functionText(layout, event), trigger(layout, { ...shared, short, call }));
    } else statements.push(dropText(functionName(layout, event)));
  }
  statements.push(...tellingTriggers(layout), stampTriggerText(layout), ...timeTriggers(layout));
  return statements.join("\n");
}

interface Trigger {
  /** The name without `repsync_`. */
  readonly short: string;
  readonly events: string;
  readonly call: string;
  readonly referencing?: string;
  /** After the statement by default. */
  readonly time?: "before" | "after";
  /** Always by default. */
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

/** `enable always` fires in sessions in the role of a replica, too. */
function makeText({ name, watch }: Layout, called: string, what: string): string {
  const always = watch === "always" ? `\nalter table ${name} enable always trigger ${called};` : "";
  return `${MAKES_TRIGGER}${called} ${what};${always}`;
}

/** Drops a function and its triggers, without a right to the table. */
function dropText(called: string): string {
  return `drop function if exists ${called}() cascade;`;
}

function functionName({ short }: Layout, event: string): string {
  return `repsync.${quoted(`_${event}_${short}`)}`;
}

/** Triggers that tell of other programs' writes, for `TableWrites.takeCommitted`; bodies note their own writes. D-12.3. */
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
 * Records deletes of other programs at their `changeTime`, D-7.6; a missing column or name interrupts the record. A row removes the
 * tombstone that it outlives, and while it is there one that its own transaction has left: such a row was replaced. What a body of
 * repsync causes has the time of the removed row, so that a later version wins; the tombstones that the body brings come after its
 * statement, in place of these.
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
  insert into ${deleted} as d (${keys.join(", ")}, deleted_at, taken_ms, repsync_xact)
    select ${keys.map((key) => `r.${key}`).join(", ")},
      coalesce(greatest(repsync_least, case when r.repsync_at <= repsync_ahead then r.repsync_at + repsync_step end), 'epoch'),
      floor(extract(epoch from repsync_now) * 1000)::int8, pg_current_xact_id()
    from (select ${keys.join(", ")}, ${timeText(layout, "b")} as repsync_at from ${gone} as b) as r ${isGone}
  on conflict (${keys.join(", ")}) do update
    set deleted_at = excluded.deleted_at, taken_ms = excluded.taken_ms, repsync_xact = excluded.repsync_xact, place = null, made = default
    where d.deleted_at < excluded.deleted_at;`;
  const unbury = `
  delete from ${deleted} as d
    using (select ${keys.join(", ")}, ${timeText(layout, "a")} as repsync_at from rows_after as a) as r
    where ${layout.sameKey("d", "r")} and ((r.repsync_at <= repsync_ahead, r.repsync_at) > (d.deleted_at <= repsync_ahead, d.deleted_at)
      or d.repsync_xact = pg_current_xact_id() and exists (select from ${layout.name} as stored where ${layout.sameKey("stored", "r")}));`;
  return `create or replace function ${functionName(layout, event)}() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column -- a column may be called "new"
declare ${NOW_AND_AHEAD}
  repsync_is_caused bool := ${IS_CAUSED};
  repsync_least timestamptz := case when not repsync_is_caused then repsync_now end;
  repsync_step interval := case when repsync_is_caused then '0' else '1 microsecond' end;
begin
  if ${namedNow(layout)} <> tg_relid then return null; end if;
  ${event === "delete" ? "" : `if not ${isOthers(layout, 1)} then return null; end if;`}
  if ${lacksColumns(layout)} or ${namedNow(layout)} is null then
    update repsync._tables set complete_since = replace(to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '.000Z', 'Z') where name = ${literal(table.name)};
    return null;
  end if;${event === "insert" ? "" : bury}${event === "insert" || event === "update" ? unbury : ""}
  return null;
end $body$;`;
}

/** The table that has the name: an application may rename the one of a trigger, and put another in its place. Null for none. */
function namedNow({ name }: Layout): string {
  return `to_regclass(${literal(name)})`;
}

/** True where an application has dropped or renamed a column that the function reads: its writes must not fail for that. */
function lacksColumns({ table }: Layout): string {
  const time = table.timestampColumn === null ? [] : [table.timestampColumn];
  const names = [...new Set([...table.keyColumns.map(({ name }) => name), ...time])];
  return `not exists (select from pg_attribute where attrelid = tg_relid and attname = any(${literal(textList(names))}::name[]) and not attisdropped having count(*) = ${names.length})`;
}

/**
 * True unless repsync writes the table (`WRITES_OWN`). What the application's rules do about such a write, by a cascade or a trigger, is
 * the application's. `depth` is 1 in a trigger's function, 0 in its condition.
 */
function isOthers({ slot }: Layout, depth: 0 | 1): string {
  return `(current_setting('repsync.own', true) is distinct from '${slot}' or pg_trigger_depth() > ${depth})`;
}

/** In SQL, true within a body of repsync. */
const IS_CAUSED = "coalesce(current_setting('repsync.own', true), '') <> ''";

/** Declares now, and the last time that is not too far ahead. */
const NOW_AND_AHEAD = `
  repsync_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  repsync_ahead timestamptz := repsync_now + interval '${MAX_AHEAD_MS} milliseconds';`;

/** The time of a row; null for none, or one of no calendar. */
function timeText({ table }: Layout, row: string): string {
  const column = timestampColumnOf(table);
  if (column === null) return "null::timestamptz";
  const name = `${row}.${quoted(column.name)}`;
  const time = castType(column) === "date" ? `(${name}::timestamp at time zone 'UTC')` : name;
  return `case when ${isOfCalendar(time, "timestamptz")} then ${time} end`;
}

/**
 * Triggers that keep the time of a row that repsync writes where one of the application sets another, by which two ends would answer
 * each other for ever. The server fires triggers in the order of the bytes of their names. The triggers are of no column: an application
 * could not alter it.
 */
function timeTriggers(layout: Layout): readonly string[] {
  const { hasSetters, name, table } = layout;
  const column = timestampColumnOf(table);
  const called = functionName(layout, "time");
  if (column === null || !hasSetters) return [dropText(called)];
  const at = quoted(column.name);
  const made = `create or replace function ${called}() returns trigger language plpgsql as $body$
begin
  if tg_argv[0] = 'first' then perform pg_catalog.set_config('repsync.time', new.${at}::text, true);
  else new.${at} = coalesce(nullif(pg_catalog.current_setting('repsync.time'), '')::${castType(column)}, new.${at});
  end if;
  return new;
end $body$;`;
  const triggers = { first: '"!repsync_time"', last: '"\u{10fffd}repsync_time"' };
  return [
    made,
    ...Object.entries(triggers).map(([place, trigger]) =>
      makeText(
        layout,
        trigger,
        `before insert or update on ${name} for each row when (not ${isOthers(layout, 0)}) execute function ${called}('${place}')`,
      ),
    ),
  ];
}

/**
 * Makes or drops the trigger that stamps a row of a stamped table before another program writes it, as `stampFate` decides. D-14.2. A new
 * row meets a row of its key, too, which `on conflict do update` may change. It waits for whoever is deleting that, whose tombstone comes
 * with the end of the statement, and takes back the lock of the wait, which would hold up others. In other isolation levels it would fail.
 * Where a body of repsync only empties columns that travel, by `on delete set null`, the row is 1 µs later, so that a later version wins.
 */
function stampTriggerText(layout: Layout): string {
  const { name, slot, table } = layout;
  const called = functionName(layout, "stamp");
  if (!table.stamped) return dropText(called);
  const call = `${called}()`;
  const at = quoted(table.timestampColumn ?? "");
  const present = `from ${name} as t where ${layout.sameKey("t", "new")}`;
  const seen = [
    `select ${timeText(layout, "old")} as at`,
    `select ${timeText(layout, "t")} ${present}`,
  ];
  if (table.deletes) {
    seen.push(
      `select d.deleted_at from ${layout.deleted} as d where ${layout.sameKey("d", "new")}`,
    );
  }
  // As texts, as JSON has no equality, and its operators do not read all that it may hold.
  const texts = (row: string) =>
    table.movedColumns.map(({ name }) => `${row}.${quoted(name)}::text`);
  const [before, after] = [texts("old"), texts("new")];
  const left = after.map((text, i) => `coalesce(${text}, ${before[i]})`);
  // The server computes these after the trigger: they are null in the new row. JSON may name one that is gone.
  const nulls = JSON.stringify(Object.fromEntries(layout.computed.map((name) => [name, null])));
  const forget = nulls === "{}" ? "" : `old = jsonb_populate_record(old, ${literal(nulls)});`;
  const empties = `(${after}) is distinct from (${before}) and (${left}) is not distinct from (${before})`;
  return `create or replace function ${call} returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
declare ${NOW_AND_AHEAD}
  repsync_empties bool;
begin
  if ${namedNow(layout)} is distinct from tg_relid then return new; end if;
  if tg_op = 'UPDATE' and new.${at} is null then new.${at} = old.${at};
  elsif new.${at} is distinct from old.${at} then return new;
  end if;
  if tg_op = 'UPDATE' then ${forget}
    if new *= old then return new; end if;
  end if;
  if current_setting('transaction_isolation') = 'read committed' and (${layout.sameKey("new", "old")}) is not true
    and exists (select ${present} and t.xmax <> '0') then
    begin
      perform ${present} for key share;
      raise sqlstate 'RS001';
    exception when sqlstate 'RS001' then null;
    end;
  end if;
  if ${IS_CAUSED} then repsync_empties := ${empties}; end if;
  select greatest(case when repsync_empties then 'epoch' else repsync_now end, max(seen.at) + interval '1 microsecond') into new.${at}
    from (${seen.join(" union all ")}) as seen where seen.at <= repsync_ahead;
  if repsync_empties then insert into repsync._told (slot, at) values (${slot}, new.${at}); end if;
  return new;
end $body$;
${makeText(layout, "repsync_stamp", `before insert or update on ${name} for each row when ${isOthers(layout, 0)} execute function ${call}`)}`;
}
