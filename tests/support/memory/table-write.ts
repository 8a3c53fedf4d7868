import { keyText as textOfKey } from "../../../src/domain/sync/rows/row-text.ts";
import { aheadLimit } from "../../../src/domain/sync/rows/time-rank.ts";
import { outlives, type Tombstone } from "../../../src/domain/sync/rows/tombstone.ts";
import { decideWrite, type FoundByKey } from "../../../src/domain/sync/rows/write-decision.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type {
  RowWrite,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../src/ports/tables/table-writes.ts";
import { atOnce } from "../at-once.ts";
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

/** What one write does to the rows and tombstones of a table. */
export class TableWrite {
  readonly #place: WritePlace;

  constructor(place: WritePlace) {
    this.#place = place;
  }

  /** Finds what is there, decides, and does it. */
  all(writes: readonly RowWrite[], { conflict, deleted = [] }: WriteRule): WrittenRows {
    const { table, stored, tombstones, nowMs } = this.#place;
    const { taken, refused } = this.#sorted(writes);
    const rule = { conflict: conflict ?? table.conflict, nowMs };
    const keys = [...taken.map(({ row }) => row), ...deleted.map(({ key }) => key)];
    const steps = decideWrite(table, { deleted, records: taken }, this.#find(keys), rule);
    const { sent, failures, ...decided } = atOnce(steps);

    const removed = [...decided.removed.values()].map((key) => this.#row(key) as Row);
    for (const row of removed) takeRow(table, stored, row);
    for (const key of keys) {
      if (decided.forgotten.has(textOfKey(table, key))) tombstones.forget(table, key);
    }
    for (const tombstone of decided.listed) tombstones.put(table, tombstone);
    const put = sent.map(({ row }) => this.#upsert(row));
    const written = {
      failures: [...refused, ...failures].sort((a, b) => a.index - b.index),
      kept: decided.kept,
      changed: put.length,
      deleted: removed.length,
      earliestChanged: decided.earliestChanged,
      earliestKept: decided.earliestKept,
      visibleMs: nowMs,
    };
    return { written, put, removed };
  }

  /** Puts a row in its place, in that of an older tombstone too, as another program would. */
  put(row: Row): void {
    const { table, stored, tombstones } = this.#place;
    const tombstone = tombstones.find(table, row);
    if (tombstone !== undefined && this.outlives(row, tombstone)) tombstones.forget(table, row);
    putRow(table, stored, row);
  }

  /** True when a row wins over a tombstone. */
  outlives(row: Row, { deletedAt }: Tombstone): boolean {
    const { table, nowMs } = this.#place;
    return outlives(timestampOf(table, row), deletedAt, aheadLimit(nowMs));
  }

  #sorted(writes: readonly RowWrite[]) {
    const { table, refuse } = this.#place;
    const refused: WriteFailure[] = [];
    const taken = writes.flatMap((write) => {
      const { index, row } = write;
      const message = refuse(row);
      if (message !== null) refused.push({ index, message });
      const record = { ...write, keyText: textOfKey(table, row), time: timestampOf(table, row) };
      return message === null ? [record] : [];
    });
    return { taken, refused };
  }

  #find(keys: readonly Row[]): FoundByKey {
    const { table, tombstones } = this.#place;
    const found: FoundByKey = { rows: new Map(), tombstones: new Map() };
    for (const key of keys) {
      const text = textOfKey(table, key);
      const row = this.#row(key);
      const tombstone = tombstones.find(table, key);
      if (row !== undefined) found.rows.set(text, { row, time: timestampOf(table, row) });
      if (tombstone !== undefined) found.tombstones.set(text, tombstone.deletedAt);
    }
    return found;
  }

  #row(key: Row): Row | undefined {
    const { table, stored } = this.#place;
    return stored.rows.get(keyText(table, key));
  }

  #upsert(row: Row): Row {
    const { table, stored } = this.#place;
    const here = this.#row(row);
    const written =
      here === undefined ? insertedRow(table, row, stored) : updatedRow(table, here, row);
    putRow(table, stored, written);
    return written;
  }
}
