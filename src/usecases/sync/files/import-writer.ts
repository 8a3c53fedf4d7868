// Where the rows of an import go, a batch at a time: into the store, or in a dry run nowhere. Both tell which rows are new, which
// change and which stay as they are. D-14.7.
import { ERASED_MESSAGE } from "../../../domain/sync/people/erasure.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { shownRow } from "../../../domain/sync/rows/shown-row.ts";
import { STAMP_NOW, type StampRule } from "../../../domain/sync/rows/stamp.ts";
import {
  type ArrivingRecord,
  changedColumns,
  decideWrite,
  type FoundRow,
} from "../../../domain/sync/rows/write-decision.ts";
import type { ImportChange } from "../../../domain/sync/run/import-events.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";
import type { RowWrite } from "../../../ports/tables/table-writes.ts";
import { type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";

/** What became of a batch. */
export interface WrittenBatch {
  /** Why a record failed, by its position. */
  readonly refusals: ReadonlyMap<number, string>;
  /** Records whose rows were deleted after the file was written, and stay so. D-14.2. */
  readonly deleted: number;
  /** Rows that are new, and rows that changed; all others stay as they are. */
  readonly added: number;
  readonly changed: number;
  /** Of a dry run: the rows that would change, once each. */
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

const NOTHING: WrittenBatch = { refusals: new Map(), deleted: 0, added: 0, changed: 0 };

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
    if (writes.length === 0) return NOTHING;
    const table = this.#table;
    const rows = writes.map(({ row }) => row);
    const there = new Set<string>();
    for (const row of await this.#deps.tables.byKeys(table, rows, "sent")) {
      there.add(keyText(table, row));
    }
    const stamps = table.stamped ? { stamps: this.#stamps } : {};
    const written = await writeRows(this.#deps, table, { writes, ...stamps });
    const { failures, erased, kept, buried = [], changed } = written;
    const refusals = new Map(failures.map(({ index, message }) => [index, message]));
    for (const index of erased) refusals.set(index, ERASED_MESSAGE);
    const left = new Set([...refusals.keys(), ...kept, ...buried]);
    const fresh = new Set(
      writes.filter(({ index }) => !left.has(index)).map(({ row }) => keyText(table, row)),
    );
    // Another writer may have been between the two.
    const added = Math.min(changed, fresh.difference(there).size);
    return { refusals, deleted: buried.length, added, changed: changed - added };
  }
}

/** Length to which each row of a change is cut, in characters. */
const MAX_CHANGE_CHARS = 2_000;
/** New keys that a dry run remembers; of more, one that comes again in a later batch counts as new again. */
const MAX_REMEMBERED = 1_000_000;

/** Decides as a store would, but for tombstones. */
export class DryWriter implements ImportWriter {
  /** Null where there is no store yet. */
  readonly #tables: TableStore | null;
  readonly #table: Table;
  readonly #nowMs: number;
  readonly #added = new RowMemory();

  constructor(tables: TableStore | null, table: Table, nowMs: number) {
    this.#tables = tables;
    this.#table = table;
    this.#nowMs = nowMs;
  }

  async write(writes: readonly RowWrite[]): Promise<WrittenBatch> {
    const table = this.#table;
    const records = writes.map(({ index, row }) => {
      return { index, row, keyText: keyText(table, row), time: rowTime(table, row) };
    });
    const rows = new Map<string, FoundRow>();
    for (const { keyText: key, time } of records) {
      if (this.#added.find({ key }).note > 0) rows.set(key, { time, row: null });
    }
    const keys = writes.map(({ row }) => row);
    const stored =
      keys.length === 0 ? [] : ((await this.#tables?.byKeys(table, keys, "sent")) ?? []);
    for (const row of stored) rows.set(keyText(table, row), { time: rowTime(table, row), row });
    const stamps = table.stamped ? STAMP_NOW : undefined;
    const rule = { conflict: table.conflict, nowMs: this.#nowMs, stamps };
    const found = { rows, tombstones: new Map<string, string>() };
    const steps = decideWrite(table, { deleted: [], records }, found, rule);
    let step = steps.next();
    while (!step.done) step = steps.next();
    const { added, sent } = step.value;
    for (const { keyText: key } of added) {
      if (this.#added.size < MAX_REMEMBERED) this.#added.note({ key }, 1);
    }
    const changes = changesOf(
      table,
      sent,
      new Map(stored.map((row) => [keyText(table, row), row])),
    );
    const changed = sent.length - added.length;
    return { refusals: new Map(), deleted: 0, added: added.length, changed, changes };
  }
}

/** The last record of a key is what its row would be. */
function changesOf(
  table: Table,
  sent: readonly ArrivingRecord[],
  stored: ReadonlyMap<string, Row>,
): readonly RowChange[] {
  const changes = new Map<string, RowChange>();
  for (const { index, row, keyText: key } of sent) {
    const before = stored.get(key);
    if (before === undefined) continue;
    const names = changedColumns(table, row, before);
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
