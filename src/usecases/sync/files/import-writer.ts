// The writers of an import, a batch at a time: into the store, or in a dry run nowhere (`DryWriter`). Both tell which rows
// are new, which change and which stay as they are. D-14.7.
import { ERASED_MESSAGE } from "../../../domain/sync/people/erasure.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { STAMP_NOW, type StampRule } from "../../../domain/sync/rows/stamp.ts";
import type { ImportChange } from "../../../domain/sync/run/import-events.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite, WriteFailure } from "../../../ports/tables/table-writes.ts";
import { type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";

/** The result of a batch. */
export interface WrittenBatch {
  /** Why a record failed, by its position. */
  readonly refusals: ReadonlyMap<number, Omit<WriteFailure, "index">>;
  /** Records whose rows were deleted after the file was written, and stay so. D-14.2. */
  readonly deleted: number;
  /** Rows that are new, and rows that changed; all others stay as they are. */
  readonly added: number;
  readonly changed: number;
  /** In a dry run the rows that would change, once each. */
  readonly changes?: readonly RowChange[];
}

/** The columns of a row that would change, as they are and as they would be. */
export interface RowChange extends Pick<ImportChange, "here" | "record"> {
  /** Position of the record. */
  readonly index: number;
}

export interface ImportWriter {
  /** Writes a batch in one commit. Throws `commit_failed` and `store_unavailable`. */
  write(writes: readonly RowWrite[]): Promise<WrittenBatch>;
}

export const EMPTY_BATCH: WrittenBatch = { refusals: new Map(), deleted: 0, added: 0, changed: 0 };

export class StoreWriter implements ImportWriter {
  readonly #deps: WriteRowsDeps;
  readonly #table: Table;
  readonly #stamps: StampRule;

  /** `stamps`: how records without a time get one, in a stamped table. */
  constructor(deps: WriteRowsDeps, table: Table, stamps: StampRule = STAMP_NOW) {
    this.#deps = deps;
    this.#table = table;
    this.#stamps = stamps;
  }

  async write(writes: readonly RowWrite[]): Promise<WrittenBatch> {
    if (writes.length === 0) return EMPTY_BATCH;
    const table = this.#table;
    const rows = writes.map(({ row }) => row);
    const there = new Set<string>();
    for (const row of await this.#deps.tables.byKeys(table, rows, "sent")) {
      there.add(keyText(table, row));
    }
    const stamps = table.stamped ? { stamps: this.#stamps } : {};
    const written = await writeRows(this.#deps, table, { writes, ...stamps });
    const { failures, erased, kept, buried = [], changed } = written;
    const refusals = new Map(failures.map(({ index, ...refusal }) => [index, refusal]));
    for (const index of erased) refusals.set(index, { message: ERASED_MESSAGE });
    const left = new Set([...refusals.keys(), ...kept, ...buried]);
    const fresh = new Set(
      writes.filter(({ index }) => !left.has(index)).map(({ row }) => keyText(table, row)),
    );
    // Another writer may have been between the two.
    const added = Math.min(changed, fresh.difference(there).size);
    return { refusals, deleted: buried.length, added, changed: changed - added };
  }
}
