// The steps of a write that need no server, with a turn for others after each. D-7.9.
import { fieldOf } from "../../../domain/shared/json.ts";
import { isOfPeople, personOf } from "../../../domain/sync/people/name-facts.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { changeTime, earliestTime, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type {
  ArrivingRecord,
  FoundByKey,
  WriteDecision,
} from "../../../domain/sync/rows/write-decision.ts";
import { holdsDecimals } from "../../../domain/sync/table/column-types.ts";
import type { ColumnValue, Row, Table } from "../../../domain/sync/table/table.ts";
import type { Steps } from "../../../ports/runtime/turns.ts";
import type {
  Refusal,
  RowWrite,
  TombstoneWrite,
  WriteFailure,
  Written,
} from "../../../ports/tables/table-writes.ts";
import { type Failure, refusalText } from "../driver/errors.ts";
import { lockMany } from "../driver/schema.ts";
import type { Statement } from "../driver/sql.ts";
import { held, refusalOf, shortDecimal } from "./columns.ts";

export type Decided = WriteDecision<ArrivingRecord>;

/** A row or a key, with its `keyText`. */
export type KeyedRow = readonly [text: string, row: Row];
export type ByKey = ReadonlyMap<string, Row>;

/** Records as they would be read again; records that the columns cannot hold fail. */
export function* arriving(
  table: Table,
  writes: readonly RowWrite[],
  failures: WriteFailure[],
): Steps<ArrivingRecord[]> {
  const records: ArrivingRecord[] = [];
  for (const write of writes) {
    yield;
    const problem = refusalOfRow(table, write.row);
    if (problem === null) {
      const row = asRead(table, write.row);
      records.push({ ...write, row, keyText: keyText(table, row), time: rowTime(table, row) });
    } else failures.push({ index: write.index, ...problem });
  }
  return records;
}

/** Rounds without a repeated key. */
export function* inRounds(records: readonly ArrivingRecord[]): Steps<ArrivingRecord[][]> {
  const rounds: ArrivingRecord[][] = [[]];
  const counts = new Map<string, number>();
  for (const record of records) {
    yield;
    const count = counts.get(record.keyText) ?? 0;
    counts.set(record.keyText, count + 1);
    rounds[count] ??= [];
    rounds[count].push(record);
  }
  return rounds;
}

/** Rows and deleted keys, by `keyText`. */
export function* keysOf(
  table: Table,
  records: readonly ArrivingRecord[],
  deleted: readonly Tombstone[],
): Steps<ByKey> {
  const keys = new Map<string, Row>();
  for (const { keyText: text, row } of records) {
    yield;
    keys.set(text, row);
  }
  for (const { key } of deleted) {
    yield;
    keys.set(keyText(table, key), key);
  }
  return keys;
}

/** Locks what two concurrent writes must not both decide: people whom rows name, and keys in a table that records deletes. */
export function* locks(table: Table, keys: Iterable<KeyedRow>): Steps<Statement[]> {
  const names = new Set<string>();
  const hasPeople = isOfPeople(table);
  if (!table.deletes && !hasPeople) return [];
  for (const [text, key] of keys) {
    yield;
    if (table.deletes) names.add(`row ${table.name} ${text}`);
    const person = hasPeople ? personOf(key) : null;
    if (person !== null) names.add(`person ${person}`);
  }
  return yield* lockMany([...names]);
}

/** The rows that records leave, each once, as they are after all records. */
export function* sentRows(decided: Decided, found: FoundByKey): Steps<KeyedRow[]> {
  const rows: KeyedRow[] = [];
  const seen = new Set<string>();
  for (const { keyText: text } of decided.sent) {
    yield;
    const row = found.rows.get(text)?.row;
    if (row !== undefined && !seen.has(text)) rows.push([text, row]);
    seen.add(text);
  }
  return rows;
}

/** Unwritten records and tombstones, which the server or a column refuses. */
export interface Refused {
  readonly records: WriteFailure[];
  readonly deletes: WriteFailure[];
}

export interface RefusedItem<Item> {
  readonly item: Item;
  readonly failure: Failure;
}

type RefusedRows = readonly RefusedItem<KeyedRow>[];

export function without<Item extends Pick<WriteFailure, "index">>(
  items: readonly Item[],
  refused: readonly WriteFailure[],
): readonly Item[] {
  const indexes = new Set(refused.map(({ index }) => index));
  return items.filter(({ index }) => !indexes.has(index));
}

/** The last record of each refused row, and the tombstones of each row that stays. */
export function refusedOf(
  table: Table,
  { decided, deleted }: { readonly decided: Decided; readonly deleted: readonly TombstoneWrite[] },
  found: { readonly deletes: RefusedRows; readonly records: RefusedRows },
): Refused {
  const records = found.records.flatMap(({ item: [text], failure }) => {
    const last = decided.sent.findLast((record) => record.keyText === text);
    return last === undefined ? [] : [{ index: last.index, message: refusalText(failure) }];
  });
  const deletes = found.deletes.flatMap(({ item: [text], failure }) =>
    deleted
      .filter(({ key }) => keyText(table, key) === text)
      .map(({ index }) => ({ index, message: refusalText(failure, true) })),
  );
  return { records, deletes };
}

export function outcomeOf(
  rounds: readonly Decided[],
  { records, deletes }: Refused,
  visibleMs: number,
): Written {
  const buried = rounds.flatMap((decided) => decided.buried);
  return {
    failures: [...records, ...rounds.flatMap((decided) => decided.failures)],
    kept: rounds.flatMap(({ kept }) => kept),
    ...(buried.length === 0 ? {} : { buried }),
    changed: rounds.reduce((sum, { sent }) => sum + sent.length, 0),
    deleted: rounds.reduce((sum, { removed }) => sum + removed.size, 0),
    ...(deletes.length === 0 ? {} : { refusedDeletes: deletes }),
    earliestChanged: earliestTime(rounds.map((decided) => decided.earliestChanged)),
    earliestKept: earliestTime(rounds.map((decided) => decided.earliestKept)),
    visibleMs,
  };
}

/** Why a row fails, by the first value that its column cannot hold. */
export function refusalOfRow(table: Table, row: Row): Refusal | null {
  for (const column of table.pushColumns) {
    const value = fieldOf(row, column.name);
    if (held(column, value) !== undefined) continue;
    return { message: refusalOf(column, value), column: column.name };
  }
  return null;
}

/** A row whose decimals are written as they would be read. */
function asRead(table: Table, row: Row): Row {
  let changed: Record<string, ColumnValue> | null = null;
  for (const column of table.pushColumns) {
    if (!holdsDecimals(column)) continue;
    const { name } = column;
    const value = fieldOf(row, name);
    if (typeof value !== "string") continue;
    const short = shortDecimal(value);
    if (short !== value) changed = { ...(changed ?? row), [name]: short };
  }
  return changed ?? row;
}

/** Tombstones of the keys that rows have left, in a table with `deletes`, whose triggers are silent in a body. D-7.6. */
export function movedFrom(
  table: Table,
  rows: readonly Row[],
  changed: readonly Row[],
  nowMs: number,
): readonly Tombstone[] {
  if (!table.deletes) return [];
  const kept = new Set(changed.map((row) => keyText(table, row)));
  const left = changed.length === 0 ? [] : rows.filter((row) => !kept.has(keyText(table, row)));
  return left.map((key) => ({ key, deletedAt: changeTime(rowTime(table, key), nowMs) }));
}
