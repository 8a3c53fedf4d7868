// The tables of the schema `repsync` beside those of documents.
import type { Steps } from "../../../ports/runtime/turns.ts";
import { inParts, nameList, type Statement } from "./sql.ts";

export const SCHEMA = "repsync";

export const OWN_TABLES = ["_facts", "_locks", "_tables", "_told", "_turns", "_versions"] as const;

/** Names that share a slot share their version. */
const SLOTS = 4_096;
/** The slot that counts for every name. */
export const EVERYBODY = -1;

/** The slot of a name, in SQL. A text in PostgreSQL has no NUL. */
const slotOf = (name: string) => `(hashtextextended(${name}, 0) & ${SLOTS - 1})`;

/** Needs no right where the schema exists. */
export const MAKE_NAMESPACE = `
do $body$ begin
  if to_regnamespace('${SCHEMA}') is null then create schema ${SCHEMA}; end if;
end $body$;`;

/**
 * Makes what is missing. An index is made only where its name is free, as `create index if not exists` waits for every writer. Rows of
 * `_versions` are only added, so that raising a version waits for nobody; the sum of a slot is its version. `_told` has the times of
 * rows that other programs wrote, by table. Both have full replica identity, as without a key a publication of all tables would forbid
 * deletes. `_locks` has the locks of running bodies only, so a crash of the server loses nothing.
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

/** A trigger function that raises the versions of the people of rows. */
function peopleRaiser(name: string, rows: string): string {
  return `create or replace function repsync.${name}() returns trigger language plpgsql security definer
  set search_path = pg_catalog, pg_temp as $body$
begin
  insert into repsync._versions (slot, n)
    select distinct ${slotOf("username")}, 1 from ${rows} where username is not null;
  return null;
end $body$;`;
}

/** Versions in the order of the names. */
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

/** No body lasts longer, so no lock is older. */
const LOCKS_MS = 600_000;

/** Forgets old locks, sums versions of a slot, and keeps the earliest time told of a table, beside bodies that add rows. */
export const TIDY = `
delete from repsync._locks where at_ms < extract(epoch from now()) * 1000 - ${LOCKS_MS};
${gather("_versions", "n", "sum")};
${gather("_told", "at", "min")}`;

function gather(table: string, column: string, how: "sum" | "min"): string {
  return `
with gone as (
  delete from repsync.${table} where slot in (
    select slot from repsync.${table} group by slot having count(*) > 16
  ) returning slot, ${column}
)
insert into repsync.${table} (slot, ${column}) select slot, ${how}(${column}) from gone group by slot`;
}

/** Marks writes of a slot's rows as repsync's own, until another slot is marked or the transaction ends. */
export const WRITES_OWN = "select set_config('repsync.own', $1::text, true)";

export const TELL = "insert into repsync._told (slot, at) values ($1::int8, $2::text::timestamptz)";

/** Takes the times that were told of a table. */
export const TAKE_TOLD = `
with gone as (delete from repsync._told where slot = $1::int8 returning at) select min(at)::text from gone`;

/**
 * Changes a row for each name, placed by a hash. Of two bodies that lock a name, one finds the row changed since its snapshot and runs
 * again. All change rows in one order, so that they never deadlock.
 */
const LOCK_NAMES = `
insert into repsync._locks (place, at_ms)
select distinct hashtextextended(name, 0), floor(extract(epoch from now()) * 1000)::int8
from unnest($1::text[]) as name order by 1
on conflict (place) do update set at_ms = excluded.at_ms`;

/**
 * Locks a turn. Shared turns run side by side. A turn alone waits for them, and later turns wait for it. Locking is no query, so a body
 * gets its snapshot after the lock.
 */
export const TAKE_TURN = "lock table repsync._turns in row exclusive mode";
export const TAKE_TURN_ALONE = "lock table repsync._turns in share row exclusive mode";

/** Empty for no names. */
export function lockNames(names: readonly string[]): Statement[] {
  return names.length === 0 ? [] : [{ text: LOCK_NAMES, parameters: [nameList(names)] }];
}

/** As `lockNames`, for many names, in steps. */
export function* lockMany(names: readonly string[]): Steps<Statement[]> {
  const lists: string[] = [];
  for (const some of inParts(names)) {
    lists.push(nameList(some).slice(1, -1));
    yield;
  }
  return names.length === 0 ? [] : [{ text: LOCK_NAMES, parameters: [`{${lists.join(",")}}`] }];
}
