// Rows that arrive for people who have an account here, within the transaction of their push. D-8.1.
import type { ClientSession, Db } from "mongodb";
import {
  isOfPeople,
  type NameFacts,
  ownedRow,
  personOf,
  ranksBelow,
} from "../../../domain/sync/people/owned-row.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
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
  /** The rows that are there, by the text of their key. */
  readonly readHere: (
    records: readonly Arriving[],
    tx: ClientSession,
  ) => Promise<ReadonlyMap<string, Row>>;
  /** The same record with another row of its key. */
  readonly withRow: (record: Arriving, row: Row) => Arriving;
  /** `aheadLimit`; null without a guard. */
  readonly aheadLimit: () => Promise<string | null>;
}

interface Arrivals<Arriving> {
  /** What is left to write. */
  readonly records: readonly Arriving[];
  /** Positions of the records of which nothing is written, as they differ in what is the owner's only. */
  readonly kept: readonly number[];
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

  async meet(records: readonly Arriving[], tx: ClientSession): Promise<Arrivals<Arriving>> {
    const { db, readHere, withRow, aheadLimit } = this.#deps;
    const names = new Set(records.map(({ row }) => personOf(row)).filter((name) => name !== null));
    const facts = await readNameFacts(db, [...names], { session: tx });
    const factsOf = ({ row }: Arriving) => facts.get(personOf(row) ?? "");
    const known = records.filter((record) => factsOf(record) !== undefined);
    if (known.length === 0) return { records, kept: [], merged: [] };
    const here = new Map(await readHere(known, tx));
    const limit = await aheadLimit();
    const left: Arriving[] = [];
    const kept: number[] = [];
    const merged: Arriving[] = [];
    for (const record of records) {
      const row = this.#rowOf(record, { facts: factsOf(record), here, limit });
      if (row === record.row) left.push(record);
      else if (row === null) kept.push(record.index);
      else merged.push(withRow(record, row));
      if (row !== null && row !== record.row) left.push(merged.at(-1) as Arriving);
    }
    return { records: left, kept, merged };
  }

  /** The row to write, null for nothing; `here` then has it as records of the same key that follow will find it. */
  #rowOf(
    { row, keyText }: Arriving,
    known: {
      readonly facts: NameFacts | undefined;
      readonly here: Map<string, Row>;
      readonly limit: string | null;
    },
  ): Row | null {
    const { facts, here, limit } = known;
    if (facts === undefined) return row;
    const stored = here.get(keyText);
    const isBelow = stored !== undefined && limit !== null;
    if (isBelow && ranksBelow(this.#table, stored, row, limit)) return row;
    const owned = stored === undefined ? row : ownedRow(this.#table, stored, row, facts);
    if (owned !== null) here.set(keyText, { ...stored, ...owned });
    return owned;
  }
}
