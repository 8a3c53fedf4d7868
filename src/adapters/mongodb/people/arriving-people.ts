// Rows that arrive for people who have an account here, or were erased here, within the transaction of their push.
// D-8.1, D-8.2.
import type { ClientSession, Db } from "mongodb";
import { isLeftOut, isTombstoneLeftOut } from "../../../domain/sync/people/erasure.ts";
import {
  isOfPeople,
  type NameFacts,
  ownedRow,
  personOf,
  ranksBelow,
} from "../../../domain/sync/people/owned-row.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { ErasedNames } from "./erased-names.ts";
import { readNameFacts } from "./name-facts.ts";

/** A record of a push. */
interface ArrivingRecord {
  readonly index: number;
  readonly row: Row;
  /** Equal for records with the same key. */
  readonly keyText: string;
}

interface ArrivalDeps<Arriving extends ArrivingRecord> {
  readonly db: Db;
  readonly erasedNames: ErasedNames;
  /** The rows that are there, by the text of their key. */
  readonly readHere: (
    records: readonly Arriving[],
    tx: ClientSession,
  ) => Promise<ReadonlyMap<string, Row>>;
  /** The same record with another row of its key. */
  readonly withRow: (record: Arriving, row: Row) => Arriving;
  readonly aheadLimit: () => Promise<string>;
  readonly isGuarded: boolean;
}

interface Arrivals<Arriving> {
  /** What is left to write. */
  readonly records: readonly Arriving[];
  /** Positions of the records of which nothing is written, as they differ in what is the owner's only. */
  readonly kept: readonly number[];
  /** Positions of the records of people who were erased. */
  readonly erased: readonly number[];
  /** Of `records`, those in which something of the owner's is as it is here. */
  readonly merged: readonly Arriving[];
}

export class ArrivingPeople<Arriving extends ArrivingRecord> {
  readonly #table: Table;
  readonly #deps: ArrivalDeps<Arriving>;

  private constructor(table: Table, deps: ArrivalDeps<Arriving>) {
    this.#table = table;
    this.#deps = deps;
  }

  /** Null for a table whose rows belong to nobody. */
  static of<Arriving extends ArrivingRecord>(
    table: Table,
    deps: ArrivalDeps<Arriving>,
  ): ArrivingPeople<Arriving> | null {
    return isOfPeople(table) ? new ArrivingPeople(table, deps) : null;
  }

  /** The tombstones but those of rows of people who were erased. */
  async withoutErased(
    tombstones: readonly Tombstone[],
    tx: ClientSession,
  ): Promise<readonly Tombstone[]> {
    if (tombstones.length === 0) return tombstones;
    const names = tombstones.map(({ key }) => personOf(key)).filter((name) => name !== null);
    const erasures = await this.#deps.erasedNames.findAll([...new Set(names)], { session: tx });
    return tombstones.filter((tombstone) => {
      const erased = erasures.get(personOf(tombstone.key) ?? "");
      return erased === undefined || !isTombstoneLeftOut(erased, tombstone);
    });
  }

  async meet(records: readonly Arriving[], tx: ClientSession): Promise<Arrivals<Arriving>> {
    const { db, erasedNames, readHere, withRow, aheadLimit } = this.#deps;
    const names = new Set(records.map(({ row }) => personOf(row)).filter((name) => name !== null));
    const facts = await readNameFacts(db, erasedNames, [...names], { session: tx });
    const factsOf = ({ row }: Arriving) => facts.get(personOf(row) ?? "");
    const known = records.filter((record) => factsOf(record) !== undefined);
    if (known.length === 0) return { records, kept: [], erased: [], merged: [] };
    const here = new Map(await readHere(known, tx));
    const limit = await aheadLimit();
    const left: Arriving[] = [];
    const merged: Arriving[] = [];
    const nothing = { kept: [] as number[], erased: [] as number[] };
    for (const record of records) {
      const fate = this.#fateOf(record, { facts: factsOf(record), here, limit });
      if (fate === "kept" || fate === "erased") nothing[fate].push(record.index);
      else if (fate === record.row) left.push(record);
      else {
        const changed = withRow(record, fate);
        left.push(changed);
        merged.push(changed);
      }
    }
    return { records: left, merged, ...nothing };
  }

  /** The row to write, or why there is none; `here` then has it as records of the same key that follow will find it. */
  #fateOf(
    { row, keyText }: Arriving,
    known: {
      readonly facts: NameFacts | undefined;
      readonly here: Map<string, Row>;
      readonly limit: string;
    },
  ): Row | "kept" | "erased" {
    const { facts, here, limit } = known;
    if (facts === undefined) return row;
    const { erased } = facts;
    if (erased !== null && isLeftOut(this.#table, row, erased, limit)) return "erased";
    const stored = here.get(keyText);
    const isGuarded = stored !== undefined && this.#deps.isGuarded;
    if (isGuarded && ranksBelow(this.#table, stored, row, limit)) return row;
    const owned = stored === undefined ? row : ownedRow(this.#table, stored, row, facts);
    if (owned === null) return "kept";
    here.set(keyText, { ...stored, ...owned });
    return owned;
  }
}
