// Decides what a write does to rows and tombstones, by what a store has of the same keys: once for all stores that read first.
// D-3.6, D-7.1, D-7.4, D-7.6.
import { compareDateTimes } from "../../shared/time.ts";
import { isVersioned, type Row, type Table, type WriteConflict } from "../table/table.ts";
import type { ConvertedRow } from "./convert.ts";
import type { RecordFailure } from "./push-result.ts";
import { keyText } from "./row-key.ts";
import {
  aheadLimit,
  earliestTime,
  FIRST_STAMP,
  isTimeless,
  outlives,
  rankTimes,
  type StampRule,
  stampFate,
} from "./row-time.ts";
import type { Tombstone } from "./tombstone.ts";

export interface ArrivingRecord extends ConvertedRow {
  readonly index: number;
  /** The `keyText` of its row. */
  readonly keyText: string;
  /** Its canonical time; null when it has none. */
  readonly time: string | null;
}

/** A row that a store has. */
export interface FoundRow {
  /** Canonical. */
  readonly time: string | null;
  /** Its `pushColumns`. */
  readonly row: Row;
}

/** Rows and tombstones that a store has of the keys of a write, by `keyText`. Deciding changes them. */
export interface FoundByKey {
  readonly rows: Map<string, FoundRow>;
  /** The `deletedAt` of tombstones. */
  readonly tombstones: Map<string, string>;
}

/** Tombstones are decided before records. */
export interface Arrivals<Arriving> {
  readonly deleted: readonly Tombstone[];
  readonly records: readonly Arriving[];
}

export interface DecisionRule<Arriving> {
  readonly conflict: WriteConflict;
  /** Absent: records without a time stay so. D-14.2. */
  readonly stamps?: StampRule | undefined;
  /** Makes a record with another time; absent: only its time and row change. */
  readonly withTime?: (record: Arriving, time: string) => Arriving;
  /** The store's time. */
  readonly nowMs: number;
}

/** The work to do, in this order, and its outcome. Records in no list would change nothing. */
export interface WriteDecision<Arriving> {
  /** Keys whose rows go, by `keyText`. */
  readonly removed: ReadonlyMap<string, Row>;
  /** The `keyText`s of tombstones that go. */
  readonly forgotten: ReadonlySet<string>;
  /** Tombstones for the end of the list, in the place of what their keys had. */
  readonly listed: readonly Tombstone[];
  /** The records that insert or change a row, with their stamps, in their order. */
  readonly sent: readonly Arriving[];
  /** The records of `sent` whose rows are new. */
  readonly added: readonly Arriving[];
  readonly failures: readonly RecordFailure[];
  /** Positions of the records that a newer row or tombstone keeps out. */
  readonly kept: readonly number[];
  /** Positions of the records whose rows stay deleted. */
  readonly buried: readonly number[];
  /** The earliest canonical time that a row of `sent` gets, and that of a newer row that stays; null for none. */
  readonly earliestChanged: string | null;
  readonly earliestKept: string | null;
}

/** Decides tombstones, then records, each as if those before had been written; a step for each. */
export function* decideWrite<Arriving extends ArrivingRecord>(
  table: Table,
  arriving: Arrivals<Arriving>,
  found: FoundByKey,
  rule: DecisionRule<Arriving>,
): Generator<undefined, WriteDecision<Arriving>, undefined> {
  const decision = new Decision<Arriving>(table, found, rule);
  for (const tombstone of arriving.deleted) {
    decision.bury(tombstone);
    yield;
  }
  for (const record of arriving.records) {
    decision.meet(record);
    yield;
  }
  return decision.made;
}

/** True when writing the record gives a stored row the record's time. */
export function setsTime(
  { timestampColumn, updateColumns }: Table,
  { row }: Pick<ArrivingRecord, "row">,
): boolean {
  if (timestampColumn === null || !Object.hasOwn(row, timestampColumn)) return false;
  return updateColumns.some(({ name }) => name === timestampColumn);
}

class Decision<Arriving extends ArrivingRecord> {
  readonly #table: Table;
  readonly #rule: DecisionRule<Arriving>;
  readonly #isGuarded: boolean;
  readonly #limit: string;
  readonly #rows: Map<string, FoundRow>;
  readonly #tombstones: Map<string, string>;
  readonly #listed = new Map<string, Tombstone>();
  readonly #sentTimes: (string | null)[] = [];
  readonly #keptTimes: (string | null)[] = [];
  readonly #done = {
    removed: new Map<string, Row>(),
    forgotten: new Set<string>(),
    sent: [] as Arriving[],
    added: [] as Arriving[],
    failures: [] as RecordFailure[],
    kept: [] as number[],
    buried: [] as number[],
  };

  constructor(table: Table, found: FoundByKey, rule: DecisionRule<Arriving>) {
    this.#table = table;
    this.#rule = rule;
    this.#isGuarded = rule.conflict === "newer" && isVersioned(table);
    this.#limit = aheadLimit(rule.nowMs);
    this.#rows = found.rows;
    this.#tombstones = found.tombstones;
  }

  get made(): WriteDecision<Arriving> {
    return {
      ...this.#done,
      listed: this.#table.deletes ? [...this.#listed.values()] : [],
      earliestChanged: earliestTime(this.#sentTimes),
      earliestKept: earliestTime(this.#keptTimes),
    };
  }

  /** Takes a tombstone in, and removes its key's row unless the row is later. */
  bury(tombstone: Tombstone): void {
    const { key, deletedAt } = tombstone;
    const text = keyText(this.#table, key);
    const row = this.#rows.get(text);
    if (row !== undefined && this.#outlives(row.time, deletedAt)) {
      this.#keptTimes.push(row.time);
      return;
    }
    if (this.#rows.delete(text)) this.#done.removed.set(text, key);
    const before = this.#tombstones.get(text);
    if (before === undefined || compareDateTimes(before, deletedAt) < 0) {
      this.#list(text, tombstone);
    }
  }

  meet(arriving: Arriving): void {
    const { index, row, keyText: text } = arriving;
    const here = this.#rows.get(text);
    const refused = arriving.refused ?? (here === undefined ? arriving.refusedIfNew : undefined);
    // Another program may have written the row anew.
    if (here !== undefined) this.#forgetOutlived(text, here.time);
    const record = this.#stamped(arriving, here);
    if (record === null) return;
    const deletedAt = this.#tombstones.get(text);
    if (deletedAt !== undefined && this.#keepsOut(record, deletedAt)) {
      this.#done.kept.push(index);
      this.#list(text, { key: row, deletedAt });
    } else if (here !== undefined && this.#isNewer(here.time, record.time)) {
      this.#done.kept.push(index);
      this.#keptTimes.push(here.time);
    } else if (refused !== undefined) this.#done.failures.push({ index, message: refused });
    else if (here !== undefined && this.#isUndecided(here, record)) this.#done.kept.push(index);
    else this.#write(record, here);
  }

  /** With the guard a tombstone keeps out a row that is not later. */
  #keepsOut({ time }: Arriving, deletedAt: string): boolean {
    return this.#rule.conflict === "newer" && !this.#outlives(time, deletedAt);
  }

  /** The record with its time; null for one that is not to be written. */
  #stamped(record: Arriving, here: FoundRow | undefined): Arriving | null {
    const { stamps, nowMs } = this.#rule;
    if (stamps === undefined) return record;
    const { time, row, keyText: text } = record;
    const fate = stampFate(stamps, {
      time,
      nowMs,
      bringsTime: !isTimeless(this.#table, row),
      here: here === undefined ? null : { time: here.time, isChanged: this.#changes(record, here) },
      deletedAt: this.#tombstones.get(text) ?? null,
    });
    if (fate === "deleted") this.#done.buried.push(record.index);
    if (fate === "same" || fate === "deleted") return null;
    return fate === "own" ? record : this.#withTime(record, fate.time);
  }

  #withTime(record: Arriving, time: string): Arriving {
    const { withTime } = this.#rule;
    if (withTime !== undefined) return withTime(record, time);
    return { ...record, time, row: { ...record.row, [this.#table.timestampColumn ?? ""]: time } };
  }

  /** True when a record changes another column than the time. */
  #changes({ row }: Arriving, here: FoundRow): boolean {
    const { timestampColumn } = this.#table;
    const given = givenColumns(this.#table, row).filter(({ name }) => name !== timestampColumn);
    return given.some(({ name }) => isOther(row, here.row, name));
  }

  /** True for two different rows with the first stamp, of which neither is known to be newer. D-14.2. */
  #isUndecided(here: FoundRow, record: Arriving): boolean {
    if (!this.#table.stamped || !this.#isGuarded) return false;
    const areFirst = here.time === FIRST_STAMP && record.time === FIRST_STAMP;
    return areFirst && this.#changes(record, here);
  }

  #write(record: Arriving, here: FoundRow | undefined): void {
    const written =
      here === undefined ? insertedRow(this.#table, record) : updatedRow(this.#table, here, record);
    this.#forgetOutlived(record.keyText, written.time);
    if (written === here) return;
    this.#rows.set(record.keyText, written);
    this.#done.sent.push(record);
    if (here === undefined) this.#done.added.push(record);
    this.#sentTimes.push(written.time);
  }

  #forgetOutlived(text: string, time: string | null): void {
    const deletedAt = this.#tombstones.get(text);
    if (deletedAt === undefined) return;
    if (this.#rule.conflict !== "restore" && !this.#outlives(time, deletedAt)) return;
    this.#tombstones.delete(text);
    this.#listed.delete(text);
    this.#done.forgotten.add(text);
  }

  #list(text: string, tombstone: Tombstone): void {
    this.#tombstones.set(text, tombstone.deletedAt);
    this.#done.forgotten.delete(text);
    this.#listed.delete(text);
    this.#listed.set(text, tombstone);
  }

  #outlives(time: string | null, deletedAt: string): boolean {
    return outlives(time, deletedAt, this.#limit);
  }

  #isNewer(here: string | null, arriving: string | null): boolean {
    return this.#isGuarded && rankTimes(arriving, here, this.#limit) < 0;
  }
}

function insertedRow(table: Table, { row, time }: ArrivingRecord): FoundRow {
  const columns = table.pushColumns.map(({ name }) => [name, row[name] ?? null] as const);
  return { time, row: Object.fromEntries(columns) };
}

/** The row after an update; the same object when nothing changes. S-4.2.9. */
function updatedRow(table: Table, here: FoundRow, record: ArrivingRecord): FoundRow {
  const { row } = record;
  const time = setsTime(table, record) ? record.time : here.time;
  const given = givenColumns(table, row);
  if (!given.some(({ name }) => isOther(row, here.row, name))) return here;
  const changes = given.map(({ name }) => [name, row[name] ?? null] as const);
  return { time, row: { ...here.row, ...Object.fromEntries(changes) } };
}

export function changedColumns(table: Table, row: Row, before: Row): readonly string[] {
  const given = givenColumns(table, row).filter(({ name }) => isOther(row, before, name));
  return given.map(({ name }) => name);
}

function givenColumns({ updateColumns }: Table, row: Row): Table["updateColumns"] {
  return updateColumns.filter(({ name }) => Object.hasOwn(row, name));
}

function isOther(a: Row, b: Row, name: string): boolean {
  return JSON.stringify(a[name] ?? null) !== JSON.stringify(b[name] ?? null);
}
