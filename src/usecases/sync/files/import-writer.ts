// Writers of an import: `StoreWriter`, and `DryWriter` for a dry run. Both tell which rows are new, changed or the same. D-14.7.
import { ERASED_MESSAGE } from "../../../domain/sync/people/name-facts.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { rowTime, STAMP_NOW, type StampRule } from "../../../domain/sync/rows/row-time.ts";
import {
  type ArrivingRecord,
  decideWrite,
  type FoundRow,
} from "../../../domain/sync/rows/write-decision.ts";
import type { ImportChange } from "../../../domain/sync/run/import-events.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type DocumentStore, type Query, SYNC_CALLS } from "../../../ports/documents.ts";
import type { Refusal, RowWrite } from "../../../ports/tables/table-writes.ts";
import { type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";

export interface WrittenBatch {
  /** Failures by the position of their record. */
  readonly refusals: ReadonlyMap<number, Refusal>;
  /** Records whose rows were deleted after the file was written: they stay deleted. D-14.2. */
  readonly deleted: number;
  /** New rows, and changed ones; all others stay as they are. */
  readonly added: number;
  readonly changed: number;
  /** The rows that would change, once each; of a dry run only. */
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

  /** `stamps`: the times of records without one, in a stamped table. */
  constructor(deps: WriteRowsDeps, table: Table, stamps: StampRule = STAMP_NOW) {
    this.#deps = deps;
    this.#table = table;
    this.#stamps = stamps;
  }

  async write(writes: readonly RowWrite[]): Promise<WrittenBatch> {
    if (writes.length === 0) return EMPTY_BATCH;
    const table = this.#table;
    const keys = writes.map(({ row }) => row);
    const there = await readStored(this.#deps.documents, { rowsOf: table, keys });
    const stamps = table.stamped ? { stamps: this.#stamps } : {};
    const written = await writeRows(this.#deps, table, { writes, ...stamps });
    const { failures, erased, kept, buried = [], changed } = written;
    const refusals = new Map(failures.map(({ index, ...refusal }) => [index, refusal]));
    for (const index of erased) refusals.set(index, { message: ERASED_MESSAGE });
    const told = { refusals, deleted: buried.length };
    if (changed === 0) return { ...told, added: 0, changed: 0 };
    const left = new Set([...refusals.keys(), ...kept, ...buried]);
    const taken = writes.filter(({ index }) => !left.has(index));
    // Values decide, as a store also counts a row whose values only change their form. No guard is asked again.
    const found = { rows: foundRows(table, there), tombstones: new Map() };
    const rule = { conflict: "overwrite", nowMs: 0, ...stamps } as const;
    const records = arriving(table, taken);
    const decided = lastOf(decideWrite(table, { deleted: [], records }, found, rule));
    // Another writer may have come between the read and the write.
    const added = Math.min(changed, decided.added.length);
    const other = Math.min(changed, decided.sent.length) - added;
    return { ...told, added, changed: other };
  }
}

type StoredQuery = Extract<Query, { readonly rowsOf: Table }>;

/** Reads rows with their hidden columns, which count too. Waits for the store as long as a write. */
export async function readStored(documents: DocumentStore, query: StoredQuery) {
  const call = { name: "rows.look", limit: SYNC_CALLS };
  const [rows] = await documents.read(call, (at) => at.read(query));
  return rows;
}

export function arriving(table: Table, writes: readonly RowWrite[]): readonly ArrivingRecord[] {
  return writes.map(({ index, row }) => {
    return { index, row, keyText: keyText(table, row), time: rowTime(table, row) };
  });
}

export function foundRows(table: Table, rows: readonly Row[]): Map<string, FoundRow> {
  return new Map(rows.map((row) => [keyText(table, row), { time: rowTime(table, row), row }]));
}

/** Takes all steps at once. */
export function lastOf<Result>(steps: Generator<undefined, Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
