// Rows that arrive for people who have an account here, or were erased here. D-8.1, D-8.2.
import { isLeftOut, isTombstoneLeftOut } from "../../../domain/sync/people/erasure.ts";
import {
  isOfPeople,
  type NameFacts,
  ownedRow,
  personOf,
  ranksBelow,
} from "../../../domain/sync/people/owned-row.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { SqliteWork } from "../driver/run-body.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { readNameFacts } from "../people/name-facts.ts";
import { decodeRows, readExpression } from "./column-values.ts";
import type { BoundWrite, RowBinder } from "./row-binder.ts";

export interface ArrivalRules {
  readonly isGuarded: boolean;
  readonly aheadLimit: string;
  readonly binder: RowBinder;
  readonly erasedNames: ErasedNames;
}

/**
 * What is to be written of a row: as it came, with what is the owner's as it is here, or nothing, as only the owner's differs
 * or the person was erased.
 */
export type Arrival =
  | { readonly kind: "write"; readonly bound: BoundWrite; readonly isMerged: boolean }
  | { readonly kind: "owner" }
  | { readonly kind: "erased" };

/** All methods are for use within a write. */
export class ArrivingPeople {
  readonly #database: SqliteWork;
  readonly #table: Table;
  readonly #rules: ArrivalRules;
  readonly #readHere: string;

  constructor(database: SqliteWork, table: Table, rules: ArrivalRules) {
    this.#database = database;
    this.#table = table;
    this.#rules = rules;
    const columns = table.pushColumns.map(
      (column) => `${readExpression(column, database.cutsTextAtNul)} AS "${column.name}"`,
    );
    const isKey = table.keyColumns.map(({ name }) => `"${table.name}"."${name}" = ?`);
    this.#readHere = `SELECT ${columns.join(", ")} FROM "${table.name}" WHERE ${isKey.join(" AND ")}`;
  }

  /** Null for a table whose rows belong to nobody. */
  static of(database: SqliteWork, table: Table, rules: ArrivalRules): ArrivingPeople | null {
    return isOfPeople(table) ? new ArrivingPeople(database, table, rules) : null;
  }

  /** True for a tombstone of a row of somebody who was erased. */
  isOfErased(tombstone: Tombstone): boolean {
    const person = personOf(tombstone.key);
    const erased = person === null ? null : this.#rules.erasedNames.find(person);
    return erased !== null && isTombstoneLeftOut(erased, tombstone);
  }

  meet(bound: BoundWrite): Arrival {
    const asItCame: Arrival = { kind: "write", bound, isMerged: false };
    const { row } = bound.write;
    const person = personOf(row);
    if (person === null) return asItCame;
    const { erasedNames, aheadLimit } = this.#rules;
    const facts = readNameFacts(this.#database, erasedNames, person);
    if (facts === null) return asItCame;
    const { erased } = facts;
    if (erased !== null && isLeftOut(this.#table, row, erased, aheadLimit))
      return { kind: "erased" };
    return this.#meetOwner(bound, facts, asItCame);
  }

  #meetOwner(bound: BoundWrite, facts: NameFacts, asItCame: Arrival): Arrival {
    const { row } = bound.write;
    const key = bound.shape.keyPlaces.map((place) => bound.values[place] ?? null);
    const found = this.#database.all(this.#readHere, key);
    const [here] = decodeRows(found, this.#table.pushColumns);
    const { isGuarded, aheadLimit, binder } = this.#rules;
    if (here === undefined) return asItCame;
    if (isGuarded && ranksBelow(this.#table, here, row, aheadLimit)) return asItCame;
    const owned = ownedRow(this.#table, here, row, facts);
    if (owned === null) return { kind: "owner" };
    if (owned === row) return asItCame;
    return { kind: "write", bound: binder.bind({ ...bound.write, row: owned }), isMerged: true };
  }
}
