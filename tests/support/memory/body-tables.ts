// The rows that one body reads and writes: done on copies of one moment's tables, and once more on the tables in the commit.
import { AppError } from "../../../src/domain/shared/errors.ts";
import { isOfPeople, personOf } from "../../../src/domain/sync/people/name-facts.ts";
import { keyText } from "../../../src/domain/sync/rows/row-key.ts";
import { changeTime, rowTime } from "../../../src/domain/sync/rows/row-time.ts";
import { decideWrite, type FoundByKey } from "../../../src/domain/sync/rows/write-decision.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  WriteFailure,
  WriteRule,
  Written,
} from "../../../src/ports/tables/table-writes.ts";
import { atOnce } from "../at-once.ts";
import {
  bury,
  copyOf,
  listTombstone,
  putOwn,
  type StoredTable,
  type TableChange,
  type TablesMoment,
  takeRow,
  upsertRow,
} from "./stored-table.ts";
import type { MemoryTables } from "./tables.ts";

const TAKEN_KEY = "Another row has this key";

type Begin = () => { readonly tables: TablesMoment; readonly nowMs: number };

export class MemoryBodyTables implements TableWrites {
  readonly #tables: MemoryTables;
  readonly #begin: Begin;
  readonly #drafts = new Map<string, StoredTable>();
  readonly changes: TableChange[] = [];
  /** What no other body may have written meanwhile. */
  readonly met = new Set<string>();
  excludesPushes = false;

  constructor(tables: MemoryTables, begin: Begin) {
    this.#tables = tables;
    this.#begin = begin;
  }

  /** Finds what is there, decides, and does it. */
  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const stored = this.#draft(table);
    const { nowMs } = this.#begin();
    const { conflict = table.conflict, deleted = [], stamps } = rule;
    const refused: WriteFailure[] = [];
    const records = writes.flatMap((write) => {
      const { index, row } = write;
      const message = this.#tables.refuse(table, row);
      if (message !== null) refused.push({ index, message });
      const record = { ...write, keyText: keyText(table, row), time: rowTime(table, row) };
      return message === null ? [record] : [];
    });
    const keys = [...records.map(({ row }) => row), ...deleted.map(({ key }) => key)];
    this.#meet(table, keys);
    const rules = { conflict, nowMs, stamps };
    const found = foundIn(stored, keys);
    const decided = atOnce(decideWrite(table, { deleted, records }, found, rules));
    for (const key of decided.removed.values()) this.#remove(table, key);
    for (const text of decided.forgotten) this.#do(table, (on) => on.deletes?.kept.delete(text));
    for (const tombstone of decided.listed) {
      this.#do(table, (on) => listTombstone(on, tombstone, nowMs));
    }
    for (const { row } of decided.sent) this.#do(table, (on) => upsertRow(table, on, row), row);
    const isNumbered = table.columns.some(({ autoIncrement }) => autoIncrement);
    if (isNumbered && decided.added.length > 0) this.met.add(`numbers of ${table.name}`);
    return {
      failures: [...refused, ...decided.failures].sort((a, b) => a.index - b.index),
      kept: decided.kept,
      ...(decided.buried.length === 0 ? {} : { buried: decided.buried }),
      changed: decided.sent.length,
      deleted: decided.removed.size,
      earliestChanged: decided.earliestChanged,
      earliestKept: decided.earliestKept,
      visibleMs: nowMs,
    };
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<void> {
    const { rows, deletes } = this.#draft(table);
    const { nowMs } = this.#begin();
    const found = rowsWith(table, rows.values(), column, [value]);
    const given = Object.entries(fields ?? {}).filter(([name]) =>
      table.columns.some((known) => known.name === name),
    );
    const changes = Object.fromEntries(given);
    const changed = fields === null ? [] : found.map((row) => ({ ...row, ...changes }));
    this.#meet(table, [...found, ...changed]);
    for (const row of found) this.#remove(table, row);
    for (const row of changed) {
      if (rows.has(keyText(table, row))) throw new AppError("invalid_request", TAKEN_KEY);
      this.#do(table, (on) => putOwn(table, on, row, nowMs), row);
    }
    for (const key of fields !== null && table.deletes ? found : []) {
      const deletedAt = changeTime(rowTime(table, key), nowMs);
      if (!rows.has(keyText(table, key))) {
        this.#do(table, (on) => bury(on, { key, deletedAt }, nowMs));
      }
    }
    for (const [text, { key }] of fields === null ? [...(deletes?.kept ?? [])] : []) {
      if (key[column] === value) this.#do(table, (on) => on.deletes?.kept.delete(text));
    }
  }

  async excludePushes(): Promise<void> {
    this.excludesPushes = true;
  }

  rowsOf(table: Table, [column, values]: readonly [string, readonly string[]]): readonly Row[] {
    return whole(table, rowsWith(table, this.#rows(table).values(), column, values));
  }

  rowsWith(table: Table, keys: readonly Row[]): readonly Row[] {
    const texts = new Set(keys.map((key) => keyText(table, key)));
    const found = [...texts].map((text) => this.#rows(table).get(text));
    return whole(
      table,
      found.filter((row) => row !== undefined),
    );
  }

  #rows(table: Table): ReadonlyMap<string, Row> {
    const stored = this.#drafts.get(table.name) ?? this.#tables.stored(table, this.#begin().tables);
    return stored.rows;
  }

  #remove(table: Table, key: Row): void {
    this.#do(table, (on) => takeRow(table, on, key), key);
  }

  #do(table: Table, apply: (on: StoredTable) => void, key: Row | null = null): void {
    const { rows } = this.#draft(table);
    const text = key && keyText(table, key);
    const before = text === null ? undefined : rows.get(text);
    apply(this.#draft(table));
    const after = text === null ? undefined : rows.get(text);
    this.changes.push({ table, apply, before, after });
  }

  #meet(table: Table, keys: readonly Row[]): void {
    for (const name of namesOf(table, keys)) this.met.add(name);
  }

  #draft(table: Table): StoredTable {
    const known = this.#drafts.get(table.name);
    if (known !== undefined) return known;
    const draft = copyOf(this.#tables.stored(table, this.#begin().tables));
    this.#drafts.set(table.name, draft);
    return draft;
  }
}

/** By what bodies that write these rows meet. */
export function namesOf(table: Table, keys: readonly Row[]): readonly string[] {
  const rows = keys.map((key) => `row ${table.name} ${keyText(table, key)}`);
  return isOfPeople(table) ? [...rows, ...keys.map((key) => `person ${personOf(key)}`)] : rows;
}

function foundIn({ table, rows, deletes }: StoredTable, keys: readonly Row[]): FoundByKey {
  const found: FoundByKey = { rows: new Map(), tombstones: new Map() };
  for (const text of keys.map((key) => keyText(table, key))) {
    const row = rows.get(text);
    if (row !== undefined) found.rows.set(text, { row, time: rowTime(table, row) });
    const tombstone = table.deletes ? deletes?.kept.get(text) : undefined;
    if (tombstone !== undefined) found.tombstones.set(text, tombstone.deletedAt);
  }
  return found;
}

function whole(table: Table, rows: readonly Row[]): readonly Row[] {
  return rows.map((row) =>
    Object.fromEntries(table.columns.map(({ name }) => [name, row[name] ?? null])),
  );
}

function rowsWith(
  table: Table,
  rows: Iterable<Row>,
  column: string,
  values: readonly string[],
): readonly Row[] {
  if (!table.columns.some(({ name }) => name === column)) return [];
  return [...rows].filter((row) => values.some((value) => row[column] === value));
}
