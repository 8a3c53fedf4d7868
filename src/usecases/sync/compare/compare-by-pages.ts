// Compares with a deployment without digests: all its rows are read, and those that differ once more. D-4.10.
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { keyText, type RowKey, recordKey, rowKey } from "../../../domain/sync/rows/row-key.ts";
import { microsOf, NO_TIME, RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import {
  type Difference,
  differenceOf,
  type RowPair,
} from "../../../domain/sync/run/compare-events.ts";
import { RemoteRows } from "../../../domain/sync/run/remote-rows.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { rowsByKey } from "../pages/table-pages.ts";
import { recordsFrom } from "../shared/remote-table.ts";
import { type Comparison, isYoung, SECOND_LOOK_MS } from "./comparison.ts";

/** Notes of keys; missing ones were not there at the first look. */
const COUNTED = 1;
const MISSING = 2;

export class PageComparison {
  readonly #comparison: Comparison;
  readonly #there: RemoteRows;
  readonly #keys = new RowMemory();
  /** Times of the rows that differed at the first look, as in `RowVersion`. */
  #earliest = Number.POSITIVE_INFINITY;
  #latest = NO_TIME;

  /** `remoteTime` is canonical. */
  constructor(comparison: Comparison, remoteTime: string) {
    this.#comparison = comparison;
    this.#there = new RemoteRows(comparison.remote.table, remoteTime);
  }

  async run(): Promise<void> {
    const { remote, youngFromMs } = this.#comparison;
    for await (const { records } of recordsFrom(remote, NO_TIME, null)) {
      for (const record of records) this.#there.note(record);
    }
    await this.#countEqual();
    for (const micros of this.#there.timesBut(this.#keys)) this.#notEqual(micros);
    if (this.#earliest === Number.POSITIVE_INFINITY) return;
    // A change on its way may arrive until then.
    const isAnyYoung = this.#latest >= youngFromMs * 1_000;
    if (isAnyYoung) await remote.run.deps.timer.sleep(SECOND_LOOK_MS, remote.signal);
    await this.#countThere();
    await this.#countMissing();
  }

  #notEqual(micros: number): void {
    this.#earliest = Math.min(this.#earliest, micros);
    this.#latest = Math.max(this.#latest, micros);
  }

  async #countEqual(): Promise<void> {
    const { remote, findings } = this.#comparison;
    const { table } = remote;
    for await (const row of this.#rowsHere()) {
      const version = this.#there.versionThere(row);
      const key = keyText(table, row);
      if (version === "same") {
        this.#keys.note({ key }, COUNTED);
        findings.match(1);
        continue;
      }
      if (version === "absent") this.#keys.note({ key }, MISSING);
      this.#notEqual(microsOf(table, row));
    }
  }

  /** Reads the remote's rows again, and counts those that differed. */
  async #countThere(): Promise<void> {
    const { remote } = this.#comparison;
    const { table } = remote;
    const { sampleTime } = this.#there;
    for await (const { records } of recordsFrom(remote, this.#earliest, sampleTime)) {
      const open = records
        .map((record) => ({ record, key: rowKey(table, record) }))
        .filter(({ key }) => this.#keys.find({ key: key.text }).note !== COUNTED);
      const here = await this.#readHere(open.map(({ key }) => key));
      for (const { record, key } of open) {
        await this.#count({ here: here.get(key.text) ?? null, there: record }, key);
      }
    }
  }

  async #count(pair: RowPair, key: RowKey): Promise<void> {
    const { remote, findings } = this.#comparison;
    const { table } = remote;
    const difference = differenceOfRecord(table, pair);
    const isNew = this.#keys.find({ key: key.text }).note === 0 && !this.#there.knows(key.text);
    // A row that came since the first look may be on its way.
    if (difference !== null && isNew && isYoung(this.#comparison, pair.there)) return;
    this.#keys.note({ key: key.text }, COUNTED);
    if (difference === null) findings.match(1);
    else await findings.differ(difference, pair, key.columns);
  }

  async #countMissing(): Promise<void> {
    const { remote, findings } = this.#comparison;
    const { table } = remote;
    for await (const row of this.#rowsHere()) {
      const key = keyText(table, row);
      const { note } = this.#keys.find({ key });
      const isGone = note === 0 && this.#there.knows(key);
      if (note !== MISSING && !isGone) continue;
      this.#keys.note({ key }, COUNTED);
      await findings.differ("missingThere", { here: row, there: null }, recordKey(table, row));
    }
  }

  #rowsHere(): AsyncIterable<Row> {
    const { run, table } = this.#comparison.remote;
    return rowsByKey(run.deps, table, { after: null, through: null });
  }

  async #readHere(keys: readonly RowKey[]): Promise<ReadonlyMap<string, Row>> {
    const { run, table } = this.#comparison.remote;
    const usable = keys.filter((key) => key.isUsable).map((key) => key.columns);
    const found = usable.length === 0 ? [] : await run.deps.tables.byKeys(table, usable, "sent");
    return new Map(found.map((row) => [keyText(table, row), row]));
  }
}

/** A record that can be no row here differs from any. Columns that it lacks are not compared. */
function differenceOfRecord(table: Table, { here, there }: RowPair): Difference | null {
  if (here === null || there === null) return differenceOf(table, here, there);
  // A column that the record lacks keeps its value here, as in a pull.
  const whole = convertRecord(table, { ...here, ...there }).row;
  if (whole === null) return "different";
  const sent = Object.entries(whole).filter(([name]) => Object.hasOwn(there, name));
  return differenceOf(table, here, Object.fromEntries(sent));
}
