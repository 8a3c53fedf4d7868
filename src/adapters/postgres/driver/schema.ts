// The tables of the schema `repsync` beside those of documents: facts, versions, locks, and definitions of tables.
import type { Steps } from "../../../ports/runtime/turns.ts";
import { inParts, nameList, type Statement } from "./sql.ts";

export const SCHEMA = "repsync";

/** The tables that `MAKE_SCHEMA` makes. */
export const OWN_TABLES = ["_facts", "_locks", "_tables", "_told", "_turns", "_versions"] as const;

/** Slots of names: names that share one share their version. */
const SLOTS = 4_096;
/** The slot of everybody, which counts for every name. */
export const EVERYBODY = -1;

/** The slot of a name, in SQL; a text has no NUL there. */
const slotOf = (name: string) => `(hashtextextended(${name}, 0) & ${SLOTS - 1})`;

/** Makes the schema, for which no right is needed where it is there. */
export const MAKE_NAMESPACE = `
do $body$ begin
  if to_regnamespace('${SCHEMA}') is null then create schema ${SCHEMA}; end if;
end $body$;`;

/**
 * Makes it. A `create` of what is there does nothing; but one of an index would wait for every program that writes rows, as each
 * adds versions. Versions are lines that are added, so that raising one waits for nobody; the sum of a slot is its version. Times
 * that other programs wrote a table with are lines, too. Neither has a key, and where all tables are published a line could not go. Locks are those of the bodies under way, so a server that fell needs none.
 */
export const MAKE_SCHEMA = `${MAKE_NAMESPACE}
create table if not exists repsync._facts (name text primary key, value text not null);
create table if not exists repsync._versions (slot int8 not null, n int8 not null);
create unlogged table if not exists repsync._locks (place int8 primary key, at_ms int8 not null)
  with (fillfactor = 50);
create unlogged table if not exists repsync._turns ();
create table if not exists repsync._told (slot int8 not null, at timestamptz not null);
do $body$ begin
  if to_regclass('repsync._told_slot') is null then
    create index if not exists _versions_slot on repsync._versions (slot);
    create index if not exists _told_slot on repsync._told (slot);
  end if;
  if (select relreplident from pg_class where oid = 'repsync._told'::regclass) <> 'f' then
    alter table repsync._versions replica identity full;
    alter table repsync._told replica identity full;
  end if;
end $body$;
create table if not exists repsync._tables (
  name text collate "C" primary key,
  entry text not null,
  deletes text,
  last_place int8 not null default 0,
  complete_since text
);
create or replace function repsync._changed() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $body$
begin
  insert into repsync._versions (slot, n) values (tg_argv[0]::int8, 1);
  return null;
end $body$;
${peopleRaiser("_people_came", "rows_after")}
${peopleRaiser("_people_went", "rows_before")}
${peopleRaiser("_people_changed", "(select username from rows_before union select username from rows_after) as people")}
`;

/** Makes a function of triggers that raises the versions of the people of some rows. */
function peopleRaiser(name: string, rows: string): string {
  return `create or replace function repsync.${name}() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $body$
begin
  insert into repsync._versions (slot, n)
    select distinct ${slotOf("username")}, 1 from ${rows} where username is not null;
  return null;
end $body$;`;
}

/** The version of each name, in the order of the names. */
export const READ_VERSIONS = `
select own.n + everybody.n
from (select coalesce(sum(n), 0)::int8 as n from repsync._versions where slot = ${EVERYBODY}) as everybody,
unnest($1::text[]) with ordinality as named(name, place),
lateral (
  select coalesce(sum(n), 0)::int8 as n from repsync._versions where slot = ${slotOf("named.name")}
) as own order by named.place`;

export const RAISE_NAMES = `
insert into repsync._versions (slot, n)
select distinct ${slotOf("name")}, 1 from unnest($1::text[]) as name`;

export const RAISE_EVERYBODY = `insert into repsync._versions (slot, n) values (${EVERYBODY}, 1)`;

/** Keeps the sums in fewer lines, whoever adds or does the same meanwhile. */
export const GATHER_VERSIONS = gather("_versions", "n", "sum");

/** The earliest of many times. */
export const GATHER_TOLD = gather("_told", "at", "min");

function gather(table: string, column: string, how: "sum" | "min"): string {
  return `
with gone as (
  delete from repsync.${table} where slot in (
    select slot from repsync.${table} group by slot having count(*) > 16
  ) returning slot, ${column}
)
insert into repsync.${table} (slot, ${column}) select slot, ${how}(${column}) from gone group by slot`;
}

/** Says that repsync itself writes the rows of a slot until it says so of another, or the transaction ends. */
export const WRITES_OWN = "select set_config('repsync.own', $1::text, true)";

export const TELL = "insert into repsync._told (slot, at) values ($1::int8, $2::text::timestamptz)";

/** Takes what was told about a table. */
export const TAKE_TOLD = `
with gone as (delete from repsync._told where slot = $1::int8 returning at) select min(at)::text from gone`;

/**
 * Changes a line for each name, at a place that is a hash of it. Of two bodies that lock a name, one finds the line changed since its
 * moment, and runs again. All change their lines in one order, so that they never wait in a circle.
 */
const LOCK_NAMES = `
insert into repsync._locks (place, at_ms)
select distinct hashtextextended(name, 0), floor(extract(epoch from now()) * 1000)::int8
from unnest($1::text[]) as name order by 1
on conflict (place) do update set at_ms = excluded.at_ms`;

/**
 * Bodies that share a turn run beside one another; a turn alone waits for them, and those that come later wait for it. What a body reads
 * is of a moment after the lock, as locking is no query.
 */
export const TAKE_TURN = "lock table repsync._turns in row exclusive mode";
export const TAKE_TURN_ALONE = "lock table repsync._turns in share row exclusive mode";

export const FORGET_LOCKS = "delete from repsync._locks where at_ms < $1::int8";

/** Locks these names; nothing for none. */
export function lockNames(names: readonly string[]): Statement[] {
  return names.length === 0 ? [] : [{ text: LOCK_NAMES, parameters: [nameList(names)] }];
}

/** As `lockNames`, of many names, a step for some. */
export function* lockMany(names: readonly string[]): Steps<Statement[]> {
  const lists: string[] = [];
  for (const some of inParts(names)) {
    lists.push(nameList(some).slice(1, -1));
    yield;
  }
  return names.length === 0 ? [] : [{ text: LOCK_NAMES, parameters: [`{${lists.join(",")}}`] }];
}
