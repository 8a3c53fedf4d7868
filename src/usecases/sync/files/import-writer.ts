// Writers of an import: `StoreWriter`, and `DryWriter` for a dry run. Both tell which rows are new, changed or the same. D-14.7.

import { shownRow } from "../../../domain/sync/by-hand/shown-rows.ts";
import { meetPeople, peopleOf } from "../../../domain/sync/people/arrivals.ts";
import { ERASED_MESSAGE, isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { hashRow, RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import {
  aheadLimit,
  rowTime,
  STAMP_NOW,
  type StampRule,
} from "../../../domain/sync/rows/row-time.ts";
import {
  type ArrivingRecord,
  changedColumns,
  decideWrite,
  type FoundRow,
} from "../../../domain/sync/rows/write-decision.ts";
import type { ImportChange } from "../../../domain/sync/run/import-events.ts";
import type { ColumnValue, Row, Table } from "../../../domain/sync/table/table.ts";
import { type DocumentStore, type Query, SYNC_CALLS } from "../../../ports/documents.ts";
import type { Refusal, RowWrite } from "../../../ports/tables/table-writes.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
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
interface RowChange extends Pick<ImportChange, "here" | "record"> {
  /** Position of the record. */
  readonly index: number;
}

export interface ImportWriter {
  /** Writes a batch in one commit. Throws `commit_failed` and `store_unavailable`. */
  write(writes: readonly RowWrite[]): Promise<WrittenBatch>;
}

const EMPTY_BATCH: WrittenBatch = { refusals: new Map(), deleted: 0, added: 0, changed: 0 };
/** The length of each listed row, in characters. */
const MAX_CHANGE_CHARS = 2_000;
/** The most rows that a dry run remembers; a later one that comes again counts as if it came first. */
const MAX_REMEMBERED = 1_000_000;
/** Stands for an earlier value of the file that is known by its hash only; no record has this value. */
const UNLIKE = "\ud800";

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
    const query = { rowsOf: table, keys: rowsOf(writes) };
    const there = await readStored(this.#deps.documents, query);
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

type DryDeps = Pick<SyncDeps, "tables" | "tombstones" | "names" | "documents" | "clock">;

/** Decides as a store would, and writes nothing. */
export class DryWriter implements ImportWriter {
  readonly #deps: DryDeps | null;
  readonly #table: Table;
  readonly #stamps: StampRule;
  readonly #nowMs: number;
  /** Hashes of the rows as they would be by now, without their times. A note is the place of the time in `#times`, from 1. */
  readonly #written = new RowMemory();
  readonly #times: (string | null)[] = [];

  /** `deps` is null where there is no store yet. */
  constructor(deps: DryDeps | null, table: Table, stamps: StampRule) {
    this.#deps = deps;
    this.#table = table;
    this.#stamps = stamps;
    this.#nowMs = deps?.clock.nowMs() ?? 0;
  }

  async write(writes: readonly RowWrite[]): Promise<WrittenBatch> {
    if (writes.length === 0) return EMPTY_BATCH;
    const table = this.#table;
    const { able, refusals } = this.#judge(writes);
    const { records: met, erased } = await this.#meet(able);
    for (const index of erased) refusals.set(index, { message: ERASED_MESSAGE });
    const query = { rowsOf: table, keys: rowsOf(able) };
    const stored = this.#deps === null ? [] : await readStored(this.#deps.documents, query);
    const storedByKey = new Map(stored.map((row) => [keyText(table, row), row]));
    const rows = foundRows(table, stored);
    const records = arriving(table, met);
    const recalled = records.flatMap(
      (one) => this.#recall(one, storedByKey.get(one.keyText)) ?? [],
    );
    // Of the records of a key the last one counts: sorted so that it is one that equals the row, as others only tell that they
    // differ.
    for (const { key, found } of recalled.toSorted((a, b) => Number(a.isSame) - Number(b.isSame))) {
      rows.set(key, found);
    }
    const stamps = table.stamped ? this.#stamps : undefined;
    const rule = { conflict: table.conflict, nowMs: this.#nowMs, stamps };
    const found = { rows, tombstones: await this.#tombstones(able) };
    const decided = lastOf(decideWrite(table, { deleted: [], records }, found, rule));
    const { added, sent, buried } = decided;
    for (const { keyText: key } of sent) this.#remember(key, rows.get(key));
    return {
      refusals,
      deleted: buried.length,
      added: added.length,
      changed: sent.length - added.length,
      changes: changesOf(table, sent, storedByKey),
    };
  }

  /** The row as an earlier record of the same key would have left it; null without one. */
  #recall({ row, keyText: key, time }: ArrivingRecord, stored: Row | undefined) {
    const { timestampColumn, updateColumns } = this.#table;
    const here: Record<string, ColumnValue> = { ...stored, ...row };
    const { note, isSame } = this.#written.findHash(this.#hash(key, here));
    if (note === 0) return null;
    const timeHere = this.#times[note - 1] ?? null;
    for (const { name } of updateColumns) {
      const isOther = name === timestampColumn ? time !== timeHere : !isSame;
      if (isOther && Object.hasOwn(row, name)) here[name] = UNLIKE;
    }
    return { key, isSame, found: { time: timeHere, row: here } };
  }

  #remember(key: string, { time, row }: FoundRow = { time: null, row: {} }): void {
    const hash = this.#hash(key, row);
    const { note } = this.#written.findHash(hash);
    if (note === 0 && this.#times.length >= MAX_REMEMBERED) return;
    const place = note === 0 ? this.#times.length + 1 : note;
    this.#times[place - 1] = time;
    this.#written.noteHash(hash, place);
  }

  /** The hash of the columns that an update changes. */
  #hash(key: string, row: Row) {
    const { timestampColumn, updateColumns } = this.#table;
    const others = updateColumns.filter(({ name }) => name !== timestampColumn);
    const content = JSON.stringify(others.map(({ name }) => row[name] ?? null));
    return hashRow({ key, content });
  }

  /** Sorts out the writes that the store refuses, with the reasons. */
  #judge(writes: readonly RowWrite[]) {
    const refusals = new Map<number, Refusal>();
    const able = writes.filter(({ index, row }) => {
      const refusal = this.#deps?.tables.refusal?.(this.#table, row) ?? null;
      if (refusal !== null) refusals.set(index, refusal);
      return refusal === null;
    });
    return { able, refusals };
  }

  /** The records without those of erased people, and with the texts that owners keep. */
  async #meet(writes: readonly RowWrite[]) {
    const table = this.#table;
    const nothing = { records: writes, erased: [] };
    if (this.#deps === null || !isOfPeople(table)) return nothing;
    const { names, documents } = this.#deps;
    const facts = await names.readFacts(peopleOf(rowsOf(writes)));
    if (facts.size === 0) return nothing;
    const where = ["username", [...facts.keys()]] as const;
    const here = await readStored(documents, { rowsOf: table, where });
    const { conflict } = table;
    const rules = { facts, here, aheadLimit: aheadLimit(this.#nowMs), conflict };
    return lastOf(meetPeople(table, writes, rules));
  }

  async #tombstones(writes: readonly RowWrite[]): Promise<Map<string, string>> {
    const table = this.#table;
    if (this.#deps === null || !table.deletes) return new Map();
    const found = await this.#deps.tombstones.byKeys(table, rowsOf(writes));
    return new Map(found.map(({ key, deletedAt }) => [keyText(table, key), deletedAt]));
  }
}

function rowsOf(writes: readonly RowWrite[]): readonly Row[] {
  return writes.map(({ row }) => row);
}

/** The last record of a key counts. */
function changesOf(
  table: Table,
  sent: readonly ArrivingRecord[],
  stored: ReadonlyMap<string, Row>,
): readonly RowChange[] {
  const changes = new Map<string, RowChange>();
  for (const { index, row, keyText: key } of sent) {
    const before = stored.get(key);
    if (before === undefined) continue;
    const changed = changedColumns(table, row, before);
    const names = table.pageColumns
      .map(({ name }) => name)
      .filter((name) => changed.includes(name));
    changes.set(key, { index, here: pick(before, names), record: pick(row, names) });
  }
  return [...changes.values()];
}

function pick(row: Row, names: readonly string[]): Row {
  return shownRow(
    Object.fromEntries(names.map((name) => [name, row[name] ?? null])),
    MAX_CHANGE_CHARS,
  );
}

type StoredQuery = Extract<Query, { readonly rowsOf: Table }>;

/** Reads rows with their hidden columns, which count too. Waits for the store as long as a write. */
async function readStored(documents: DocumentStore, query: StoredQuery) {
  const call = { name: "rows.look", limit: SYNC_CALLS };
  const [rows] = await documents.read(call, (at) => at.read(query));
  return rows;
}

function arriving(table: Table, writes: readonly RowWrite[]): readonly ArrivingRecord[] {
  return writes.map(({ index, row }) => {
    return { index, row, keyText: keyText(table, row), time: rowTime(table, row) };
  });
}

function foundRows(table: Table, rows: readonly Row[]): Map<string, FoundRow> {
  return new Map(rows.map((row) => [keyText(table, row), { time: rowTime(table, row), row }]));
}

/** Takes all steps at once. */
function lastOf<Result>(steps: Generator<undefined, Result, undefined>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
