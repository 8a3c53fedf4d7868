// The rows of a remote that tells no digests and guards nothing, as they were when read, in some 50 bytes each. D-4.10, D-7.2.
import type { JsonObject } from "../../shared/json.ts";
import { dateTimeMs } from "../../shared/time.ts";
import { convertPulled } from "../rows/convert.ts";
import { rowKey, rowText } from "../rows/row-key.ts";
import {
  hashRow,
  microsOf,
  NO_TIME,
  type RowMemory,
  RowVersions,
  versionOf,
} from "../rows/row-memory.ts";
import { aheadLimit, rowTimeText, timeMicros } from "../rows/row-time.ts";
import { isVersioned, type Row, type Table } from "../table/table.ts";

export class RemoteRows {
  readonly #table: Table;
  readonly #aheadMicros: number;
  readonly #versions = new RowVersions();
  /** A timestamp in the notation of the remote; null until one has come. */
  sampleTime: string | null = null;

  /** `remoteTime` is canonical. */
  constructor(table: Table, remoteTime: string) {
    this.#table = table;
    this.#aheadMicros = timeMicros(aheadLimit(dateTimeMs(remoteTime)));
  }

  note(record: JsonObject): void {
    const table = this.#table;
    this.sampleTime ??= rowTimeText(table, record);
    const { row } = convertPulled(table, record);
    const { text } = rowKey(table, record);
    // A record that cannot be a row here is another version of its key.
    this.#versions.note(
      row === null
        ? { ...hashRow({ key: text }), micros: microsOf(table, record) }
        : versionOf(table, row, rowText(table, row)),
    );
  }

  /** True when it had a row with this key, as `keyText` makes it. */
  knows(key: string): boolean {
    return this.#versions.find({ ...hashRow({ key }), micros: NO_TIME }) !== null;
  }

  /** How the remote has the row that is like this here. */
  versionThere(row: Row): "newer" | "same" | "other" | "absent" {
    const own = versionOf(this.#table, row, rowText(this.#table, row));
    const there = this.#versions.find(own);
    if (there?.isSame) return "same";
    if (there === null) return "absent";
    if (!isVersioned(this.#table)) return "other";
    return this.#ranksAbove(there.micros, own.micros) ? "newer" : "other";
  }

  /** The number of these rows that the remote had otherwise, or not at all. */
  countOthers(rows: readonly Row[]): number {
    return rows.filter((row) => this.versionThere(row) !== "same").length;
  }

  /** The times, as in `RowVersion`, of the rows whose keys are not in `others`. */
  *timesBut(others: RowMemory): Generator<number, void, undefined> {
    for (const [version] of this.#versions.all()) {
      if (others.findHash(version).note === 0) yield version.micros;
    }
  }

  /** True for a row whose time is too far ahead of the remote's clock. */
  isTooFarAhead(row: Row): boolean {
    return microsOf(this.#table, row) > this.#aheadMicros;
  }

  /** As `rankTimes`. */
  #ranksAbove(a: number, b: number): boolean {
    if (a === NO_TIME || b === NO_TIME) return a !== NO_TIME && b === NO_TIME;
    const isAheadA = a > this.#aheadMicros;
    const isAheadB = b > this.#aheadMicros;
    return isAheadA === isAheadB ? a > b : isAheadB;
  }
}
