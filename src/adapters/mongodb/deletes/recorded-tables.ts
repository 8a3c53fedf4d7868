// Which tables' deletes are recorded, and since when. A record begins anew where a collection was dropped or kept no pre-images, and
// for all tables where the stream cannot resume.
import { ObjectId, type Timestamp } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";

/** A table whose deletes are or were recorded. */
export interface RecordedTable {
  /** Names of the key columns. */
  readonly key: string;
  readonly time: string | null;
  readonly isOn: boolean;
  /** Deletes up to this cluster time are ignored. */
  readonly from: Timestamp;
  readonly completeSince: Date;
  /** The id of the table's list of tombstones, which its places belong to. */
  readonly list: string;
}

export type RecordedTables = Readonly<Record<string, RecordedTable>>;

/** When a record begins: in cluster time, and by a clock that is not earlier. */
export interface Beginning {
  readonly from: Timestamp;
  readonly time: Date;
}

/** True when the deletes of exactly these tables are recorded. */
export function areSame(recorded: RecordedTables, tables: ReadonlyMap<string, Table>): boolean {
  const on = Object.entries(recorded).filter(([, { isOn }]) => isOn);
  return (
    on.length === tables.size &&
    on.every(([name, { key, time }]) => {
      const table = tables.get(name);
      return table !== undefined && key === keyNames(table) && time === table.timestampColumn;
    })
  );
}

/** The tables of a changed registry; `goesOn` when the stream of one of them continues. */
export function planTables(
  recorded: RecordedTables,
  tables: ReadonlyMap<string, Table>,
  beginning: Beginning,
) {
  const planned = mapTables(recorded, (table) => ({ ...table, isOn: false }));
  const otherKeys: string[] = [];
  let goesOn = false;
  for (const table of tables.values()) {
    const changed = { key: keyNames(table), time: table.timestampColumn, isOn: true };
    const before = recorded[table.name];
    const hasOtherKey = before !== undefined && before.key !== changed.key;
    if (hasOtherKey) otherKeys.push(table.name);
    if (before?.isOn && !hasOtherKey) {
      goesOn = true;
      planned[table.name] = { ...before, ...changed };
    } else {
      const list = before === undefined || hasOtherKey ? new ObjectId().toHexString() : before.list;
      planned[table.name] = { ...changed, list, ...begun(beginning) };
    }
  }
  return { tables: planned, otherKeys, goesOn };
}

export function beginAll(recorded: RecordedTables, beginning: Beginning): RecordedTables {
  return mapTables(recorded, (table) => (table.isOn ? { ...table, ...begun(beginning) } : table));
}

function begun({ from, time }: Beginning) {
  return { from, completeSince: time };
}

function mapTables(
  tables: RecordedTables,
  change: (table: RecordedTable) => RecordedTable,
): Record<string, RecordedTable> {
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, change(table)]));
}

function keyNames({ keyColumns }: Table): string {
  return keyColumns.map(({ name }) => name).join(", ");
}
