// The rows of a group that have come, and whether they prove it complete without any order. D-4.5.
import type { JsonObject } from "../../shared/json.ts";
import type { RowMemory } from "../rows/row-memory.ts";
import type { Table } from "../table/table.ts";

/** What a page brought of a group. */
export interface NotedRows {
  /** Those that were not seen with the same content. */
  readonly records: readonly JsonObject[];
  /** How many of them were seen with another content. */
  readonly repeated: number;
}

/** The rows of one group so far. */
export interface GroupRows {
  /** Notes the members of a page. */
  note(members: readonly JsonObject[]): NotedRows;
  /** Says how many rows the group has now. What came while it had another number proves nothing about it. */
  expect(groupRows: number): void;
  /** True when as many different rows have come as the group has, all while it had that many. */
  isComplete(groupRows: number, members: readonly JsonObject[]): boolean;
}

/** Starts with the rows seen before, as `noteRecord` keeps them, and adds the group's own. */
export function startGroupRows(table: Table, seen: RowMemory): GroupRows {
  // Different keys that came while the group had the same number of rows, all noted with the same number.
  let union = { note: 2, rows: 0, groupRows: -1 };

  function note(members: readonly JsonObject[]): NotedRows {
    let repeated = 0;
    const records = members.filter((record) => {
      const known = noteRecord(seen, { table, record, note: union.note });
      if (known.note !== union.note) union.rows++;
      if (known.note > 0 && !known.isSame) repeated++;
      return !known.isSame;
    });
    return { records, repeated };
  }

  function expect(groupRows: number): void {
    if (union.groupRows === groupRows) return;
    union = { note: union.note + 1, rows: 0, groupRows };
  }

  return {
    note,
    expect,
    // Rows leave a group but do not join it, so between two moments with the same number it stayed the same.
    isComplete(groupRows, members) {
      if (union.groupRows !== groupRows) {
        expect(groupRows);
        note(members);
      }
      return union.rows === groupRows;
    },
  };
}

/** Notes a record as it was sent, and tells what was known of it. */
export function noteRecord(
  memory: RowMemory,
  { table, record, note }: { readonly table: Table; readonly record: JsonObject; note: number },
) {
  const key = JSON.stringify(table.keyColumns.map(({ name }) => record[name] ?? null));
  return memory.note({ key, content: JSON.stringify(record) }, note);
}
