import { aheadLimit, rankTimes } from "../../../src/domain/sync/rows/time-rank.ts";
import { outlives } from "../../../src/domain/sync/rows/tombstone.ts";
import { earliestTime } from "../../../src/domain/sync/run/late-rows.ts";
import { isVersioned, type Row, type Table } from "../../../src/domain/sync/table/table.ts";
import type {
  RowWrite,
  TombstoneWrite,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../src/ports/tables/table-writes.ts";
import { keyText, timestampOf } from "./row-order.ts";
import { insertedRow, putRow, type StoredTable, takeRow, updatedRow } from "./stored-table.ts";
import type { MemoryTombstones } from "./tombstones.ts";

interface WritePlace {
  readonly table: Table;
  readonly stored: StoredTable;
  readonly tombstones: MemoryTombstones;
  /** By the store's clock. */
  readonly nowMs: number;
  /** Why the store itself refuses a row; null when it takes it. */
  readonly refuse: (row: Row) => string | null;
}

interface WrittenRows {
  readonly written: Written;
  /** The rows as they stand now, one for each record that changed something. */
  readonly put: readonly Row[];
  readonly removed: readonly Row[];
}

/** What one write does to the rows and tombstones of a table, one record after the other. D-7.1, D-7.4, D-7.6. */
export class TableWrite {
  readonly #place: WritePlace;
  readonly #aheadLimit: string;
  readonly #removed: Row[] = [];
  readonly #keptTimes: (string | null)[] = [];

  constructor(place: WritePlace) {
    this.#place = place;
    this.#aheadLimit = aheadLimit(place.nowMs);
  }

  /** Takes tombstones in, then writes records. */
  all(writes: readonly RowWrite[], rule: WriteRule): WrittenRows {
    const { table, stored, refuse, nowMs } = this.#place;
    const { conflict = table.conflict } = rule;
    this.#bury(rule.deleted ?? []);
    const deleted = this.#removed.length;
    const failures: WriteFailure[] = [];
    const kept: number[] = [];
    const put: Row[] = [];
    for (const { index, row, refusedIfNew } of writes) {
      const existing = stored.rows.get(keyText(table, row));
      const message = refuse(row) ?? (existing === undefined ? refusedIfNew : null) ?? null;
      if (message !== null) {
        failures.push({ index, message });
        continue;
      }
      if (conflict === "newer" && this.#isKeptOut(row, existing)) {
        kept.push(index);
        continue;
      }
      const written =
        existing === undefined ? insertedRow(table, row, stored) : updatedRow(table, existing, row);
      if (this.put(written)) put.push(written);
    }
    const earliestChanged = earliestTime(put.map((row) => timestampOf(table, row)));
    const earliestKept = earliestTime(this.#keptTimes);
    const times = { earliestChanged, earliestKept, visibleMs: nowMs };
    const written = { failures, kept, changed: put.length, deleted, ...times };
    return { written, put, removed: this.#removed };
  }

  /** Puts a row in its place, in that of an older tombstone too; false when it is there as it is. */
  put(row: Row): boolean {
    const { table, stored, tombstones } = this.#place;
    const tombstone = tombstones.find(table, row);
    if (tombstone !== undefined && this.outlives(row, tombstone.deletedAt)) {
      tombstones.forget(table, row);
    }
    return putRow(table, stored, row);
  }

  /** True when a row wins over a tombstone. */
  outlives(row: Row, deletedAt: string): boolean {
    return outlives(timestampOf(this.#place.table, row), deletedAt, this.#aheadLimit);
  }

  /** Takes tombstones in. */
  #bury(deleted: readonly TombstoneWrite[]): void {
    const { table, stored, tombstones } = this.#place;
    for (const tombstone of deleted) {
      const row = stored.rows.get(keyText(table, tombstone.key));
      if (row !== undefined && this.outlives(row, tombstone.deletedAt)) {
        this.#noteKept(row);
        continue;
      }
      if (row !== undefined) {
        takeRow(table, stored, row);
        this.#removed.push(row);
      }
      tombstones.keep(table, tombstone);
    }
  }

  /** True for a row that a newer tombstone or row keeps out: that is told again. */
  #isKeptOut(row: Row, existing: Row | undefined): boolean {
    const { table, tombstones } = this.#place;
    const tombstone = tombstones.find(table, row);
    if (tombstone !== undefined && !this.outlives(row, tombstone.deletedAt)) {
      tombstones.listAnew(table, row);
      return true;
    }
    if (existing === undefined || !isVersioned(table)) return false;
    const [here, arriving] = [timestampOf(table, existing), timestampOf(table, row)];
    const isNewer = rankTimes(arriving, here, this.#aheadLimit) < 0;
    if (isNewer) this.#noteKept(existing);
    return isNewer;
  }

  #noteKept(row: Row): void {
    this.#keptTimes.push(timestampOf(this.#place.table, row));
  }
}
