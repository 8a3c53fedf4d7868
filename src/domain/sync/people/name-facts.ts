// The facts about the people whom rows name, such as an account here or an erasure, and what follows for one row. D-8.1, D-8.2.
import { AppError } from "../../shared/errors.ts";
import { parseDateTime } from "../../shared/time.ts";
import { justAfter, rankTimes } from "../rows/row-time.ts";
import {
  type Column,
  isVersioned,
  type Row,
  type Table,
  timestampColumnOf,
} from "../table/table.ts";

/** The known facts about the person whom a row names. */
export interface NameFacts {
  /** True with an account here that has a password: its owner alone changes the texts of the profile and `public`. */
  readonly ownsProfile: boolean;
  /** True when the owner of any account, with a password or not, has set `public` to false: it stays false. */
  readonly hidesProfile: boolean;
  /** Null for a name that was never erased here. */
  readonly erased: Erasure | null;
}

/** The memory of somebody who was erased here. D-8.2. */
export interface Erasure {
  /** Canonical time. */
  readonly at: string;
  /** False once a new person may have the name, or has it. */
  readonly isTaken: boolean;
}

/** The tables whose rows belong to people, by their column `username`: those that lookups read. */
const TABLES_OF_PEOPLE: ReadonlySet<string> = new Set(["profiles", "platform_accounts"]);
const OWNER_COLUMNS = ["display_name", "bio", "profession", "location", "public"];

/** True for a table whose rows belong to people; there are facts only about its rows. */
export function isOfPeople({ name, pushColumns }: Table): boolean {
  return TABLES_OF_PEOPLE.has(name) && pushColumns.some((column) => column.name === "username");
}

/** True for a table of people without `username` which had it when it was last prepared, with the columns `known`. */
export function hasDroppedName(table: Table, known: object | undefined): boolean {
  const hadName = Object.hasOwn(known ?? {}, "username");
  return TABLES_OF_PEOPLE.has(table.name) && hadName && !isOfPeople(table);
}

/** Why a table with `hasDroppedName` is refused while its rows have a username. */
export const DROPPED_NAME =
  'its rows have a "username", by which an erasure finds them: keep the column';

/** The person whom a row names; null for none. */
export function personOf(row: Row): string | null {
  const { username } = row;
  return typeof username === "string" ? username : null;
}

export const ERASED_MESSAGE = "was erased here";

export function erasedNameText(username: string): string {
  return `repsync.erased.name.v1\n${username}`;
}

/** True for what is not written: all while the name is taken, then what is no newer than the erasure. `limit` as in `rankTimes`. */
export function isLeftOut(time: string | null, { at, isTaken }: Erasure, limit: string): boolean {
  return isTaken || rankTimes(time, at, limit) <= 0;
}

/**
 * The row to write over `here`: `arriving` where it agrees with the owner's columns, else with these as they are here and 1 µs
 * later, so that it travels on. Null where it differs in nothing but these and the time. The caller has made sure that `arriving`
 * does not rank below `here`, where that matters.
 */
export function ownedRow(table: Table, here: Row, arriving: Row, facts: NameFacts): Row | null {
  const kept = ownersColumns(table, here, arriving, facts);
  const differing = kept.filter((name) => differs(here, arriving, name));
  if (differing.length === 0) return arriving;
  const but = [...kept, table.timestampColumn];
  if (!hasOtherChanges(table.updateColumns, here, arriving, but)) return null;
  const values = differing.map((name) => [name, here[name] ?? null] as const);
  return { ...arriving, ...Object.fromEntries(values), ...laterTime(table, arriving) };
}

/** A row to write where none is stored: what its owner has hidden stays hidden. */
export function hiddenRow(table: Table, arriving: Row, { hidesProfile }: NameFacts): Row {
  if (table.name !== "profiles" || !hidesProfile || arriving["public"] === false) return arriving;
  return { ...arriving, public: false, ...laterTime(table, arriving) };
}

/** True for a profile that nobody but its owner removes. */
export function hasOwner(table: Table, { ownsProfile, hidesProfile }: NameFacts): boolean {
  return table.name === "profiles" && (ownsProfile || hidesProfile);
}

/** Throws `conflict` for a profile with an owner. */
export function requireNoOwner(table: Table, facts: NameFacts | null): void {
  if (facts === null || !hasOwner(table, facts)) return;
  throw new AppError("conflict", "The owner of the profile alone removes it");
}

/** True when two versions of a row differ only in the owner's columns, and perhaps in their time. */
export function differsForOwner(table: Table, here: Row, there: Row, facts: NameFacts): boolean {
  const kept = ownersColumns(table, here, there, facts);
  if (!kept.some((name) => differs(here, there, name))) return false;
  return !hasOtherChanges(table.movedColumns, here, there, [...kept, table.timestampColumn]);
}

/** The columns whose values here stay. `verified` belongs to the name that was verified. */
function ownersColumns(table: Table, here: Row, arriving: Row, facts: NameFacts): string[] {
  if (table.name !== "profiles") return [];
  if (!facts.ownsProfile) {
    return facts.hidesProfile && here["public"] === false ? ["public"] : [];
  }
  const isRenamed = textOf(here, "display_name") !== textOf(arriving, "display_name");
  return isRenamed ? [...OWNER_COLUMNS, "verified"] : OWNER_COLUMNS;
}

/** True when another column differs than those in `but`. */
function hasOtherChanges(
  columns: readonly Column[],
  here: Row,
  arriving: Row,
  but: readonly (string | null)[],
): boolean {
  return columns.some(({ name }) => !but.includes(name) && differs(here, arriving, name));
}

/** False for an absent column, which is not changed. */
function differs(here: Row, arriving: Row, name: string): boolean {
  return Object.hasOwn(arriving, name) && textOf(here, name) !== textOf(arriving, name);
}

function textOf(row: Row, name: string): string {
  return JSON.stringify(row[name] ?? null);
}

/** The time column with a time 1 µs later; empty where a time cannot be told apart so. */
function laterTime(table: Table, arriving: Row): Row {
  const column = timestampColumnOf(table);
  if (column?.type !== "datetime" || !isVersioned(table)) return {};
  const time = arriving[column.name];
  if (typeof time !== "string" || parseDateTime(time) === null) return {};
  return { [column.name]: justAfter(time) };
}
