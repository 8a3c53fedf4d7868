import { parseDateTime } from "../../../domain/shared/time.ts";
import { type BatchSize, rowsThatFit } from "../../../domain/sync/run/pacing.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RowSource } from "../../../ports/tables/row-source.ts";

/** Rows to push in one batch. */
export interface PushRows {
  /** In the order of the table; empty at the end. */
  readonly rows: readonly Row[];
  /** Timestamp of the last row as kept; null when it has none. Every row before it has been read. */
  readonly readUpTo: string | null;
  /** True when nothing was left behind these rows at the moment of reading. */
  readonly isLast: boolean;
}

/** Rows of one table by position, never by offset, so that rows that move are not skipped. */
export interface PushReader {
  /** The next rows, cut by what a batch can hold. */
  read(): Promise<PushRows>;
}

/** Starts before the rows without a timestamp, which match no marker; goes on from `sinceTime`, canonical. D-4.6. */
export function startPushReader(
  source: RowSource,
  from: { readonly table: Table; readonly sinceTime: string | null; readonly size: BatchSize },
): PushReader {
  const { table, size } = from;
  let after: Row | null = null;
  let sinceTime: string | null = null;
  let isLookingForTimeless = table.timestampColumn !== null && from.sinceTime !== null;

  async function read(): Promise<PushRows> {
    const limitRows = size.rows;
    const found = await source.readAfter(table, { after, sinceTime, limitRows });
    if (isLookingForTimeless) {
      const timeless = found.filter((row) => timeOf(table, row) === null);
      if (timeless.length > 0 && timeless.length === found.length) return take(found, limitRows);
      isLookingForTimeless = false;
      sinceTime = from.sinceTime;
      after = null;
      return timeless.length === 0 ? read() : { rows: timeless, readUpTo: null, isLast: false };
    }
    return take(found, limitRows);
  }

  function take(found: readonly Row[], limitRows: number): PushRows {
    const rows = found.slice(0, rowsThatFit(found));
    const last = rows.at(-1);
    after = last ?? after;
    const isLast =
      !isLookingForTimeless && rows.length === found.length && found.length < limitRows;
    return { rows, readUpTo: last === undefined ? null : timeOf(table, last), isLast };
  }

  return { read };
}

function timeOf(table: Table, row: Row): string | null {
  const value = table.timestampColumn === null ? null : row[table.timestampColumn];
  return typeof value === "string" && parseDateTime(value) !== null ? value : null;
}
