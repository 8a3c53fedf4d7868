// Rows that arrive for people who have an account here, or were erased here. D-8.1, D-8.2.
import type { ConvertedRow } from "../rows/convert.ts";
import { keyText } from "../rows/row-key.ts";
import { ranksBelow, rowTime } from "../rows/row-time.ts";
import type { Tombstone } from "../rows/tombstone.ts";
import type { Row, Table, WriteConflict } from "../table/table.ts";
import {
  hasOwner,
  hiddenRow,
  isLeftOut,
  type NameFacts,
  ownedRow,
  personOf,
} from "./name-facts.ts";

export type FactsByName = ReadonlyMap<string, NameFacts>;

interface ArrivalRules {
  readonly facts: FactsByName;
  /** Rows here of the people of whom something is known. */
  readonly here: readonly Row[];
  /** The limit that `rankTimes` takes. */
  readonly aheadLimit: string;
  /** With `newer` the store itself keeps out a row that ranks below the one here. */
  readonly conflict: WriteConflict;
}

interface ArrivalFates<Arriving> {
  /** Records that are left to write, with the owner's columns as they are here. */
  readonly records: readonly Arriving[];
  /** Positions of records that are not written, as they differ only in the owner's columns. */
  readonly kept: readonly number[];
  readonly erased: readonly number[];
  /** Times of the rows that took over columns of the owner. They are noted like kept rows, so that their sender learns of them. */
  readonly mergedTimes: readonly (string | null)[];
}

/** The people whom rows name, each once. */
export function peopleOf(rows: Iterable<Row>): readonly string[] {
  const names = new Set<string>();
  for (const row of rows) {
    const name = personOf(row);
    if (name !== null) names.add(name);
  }
  return [...names];
}

/** Decides about records one after the other, each as if those before were written; a step for each. */
export function* meetPeople<Arriving extends ConvertedRow & { readonly index: number }>(
  table: Table,
  arriving: readonly Arriving[],
  rules: ArrivalRules,
): Generator<undefined, ArrivalFates<Arriving>, undefined> {
  const here = new Map(rules.here.map((row) => [keyText(table, row), row]));
  const records: Arriving[] = [];
  const kept: number[] = [];
  const erased: number[] = [];
  const mergedTimes: (string | null)[] = [];
  for (const record of arriving) {
    const fate = fateOf(table, record, here, rules);
    if (fate === "kept") kept.push(record.index);
    else if (fate === "erased") erased.push(record.index);
    else if (fate === record.row) records.push(record);
    else {
      records.push({ ...record, row: fate });
      mergedTimes.push(rowTime(table, fate));
    }
    yield;
  }
  return { records, kept, erased, mergedTimes };
}

/** The tombstones to write: all but those of profiles with an owner, and those that an erasure leaves out. */
export function tombstonesLeft<Buried extends Tombstone>(
  table: Table,
  tombstones: readonly Buried[],
  { facts, aheadLimit }: Pick<ArrivalRules, "facts" | "aheadLimit">,
): readonly Buried[] {
  return tombstones.filter((tombstone) => {
    const known = facts.get(personOf(tombstone.key) ?? "");
    if (known === undefined) return true;
    if (hasOwner(table, known)) return false;
    return known.erased === null || !isLeftOut(tombstone.deletedAt, known.erased, aheadLimit);
  });
}

/** The row to write, or why there is none. `here` gets the row, as later records of its key will find it. */
function fateOf(
  table: Table,
  { row, refused }: ConvertedRow,
  here: Map<string, Row>,
  { facts, aheadLimit, conflict }: ArrivalRules,
): Row | "kept" | "erased" {
  const known = facts.get(personOf(row) ?? "");
  if (known === undefined) return row;
  const { erased } = known;
  if (erased !== null && isLeftOut(rowTime(table, row), erased, aheadLimit)) return "erased";
  if (refused !== undefined) return row;
  const key = keyText(table, row);
  const stored = here.get(key);
  const isGuarded = stored !== undefined && conflict === "newer";
  if (isGuarded && ranksBelow(table, stored, row, aheadLimit)) return row;
  const owned = stored ? ownedRow(table, stored, row, known) : hiddenRow(table, row, known);
  if (owned === null) return "kept";
  here.set(key, { ...stored, ...owned });
  return owned;
}
