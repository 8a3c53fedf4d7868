// The rows that a push sends: those without a timestamp, which match no marker, and those from its marker on. D-4.6.
import { formatMs } from "../../../domain/shared/time.ts";
import { FIRST_TIME_MS, rowTimeText } from "../../../domain/sync/rows/row-time.ts";
import { type BatchSize, rowsThatFit } from "../../../domain/sync/run/pacing.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RowsQuery, TableStore } from "../../../ports/tables/table-store.ts";

const FIRST_TIME = formatMs(FIRST_TIME_MS);

export interface PushRows {
  /** In the order of the table; empty at the end. */
  readonly rows: readonly Row[];
  /** Timestamp of the last row as kept; null when it has none. Every row before it has been read. */
  readonly readUpTo: string | null;
  /** True when nothing was left behind these rows at the moment of reading. */
  readonly isLast: boolean;
}

/** Reads the rows of a push by position, never by offset, so that rows that move are not skipped. */
export class PushReader {
  readonly #tables: TableStore;
  readonly #table: Table;
  readonly #markerTime: string | null;
  readonly #size: BatchSize;
  #after: Row | null = null;
  #sinceTime: string | null = null;
  #isAtTimeless: boolean;

  /** `sinceTime` is the marker's time, canonical; null for every row. `size` cuts what is read. */
  constructor(tables: TableStore, table: Table, sinceTime: string | null, size: BatchSize) {
    this.#tables = tables;
    this.#table = table;
    this.#markerTime = sinceTime;
    this.#size = size;
    this.#isAtTimeless = table.timestampColumn !== null && sinceTime !== null;
  }

  async read(): Promise<PushRows> {
    const limitRows = this.#size.rows;
    const query: RowsQuery = { from: { after: this.#after }, limitRows, columns: "sent" };
    const since = { ...query, sinceTime: this.#sinceTime };
    const { rows: found } = await this.#tables.page(this.#table, since);
    if (!this.#isAtTimeless) return this.#take(found, limitRows);
    // Rows without a timestamp come first.
    const timeless = found.filter((row) => rowTimeText(this.#table, row) === null);
    if (timeless.length > 0 && timeless.length === found.length) {
      return this.#take(found, limitRows);
    }
    this.#isAtTimeless = false;
    this.#sinceTime = this.#markerTime;
    this.#after = null;
    if (timeless.length === 0) return await this.read();
    return { rows: timeless, readUpTo: null, isLast: false };
  }

  #take(found: readonly Row[], limitRows: number): PushRows {
    const rows = found.slice(0, rowsThatFit(found));
    const last = rows.at(-1);
    this.#after = last ?? this.#after;
    const isLast = !this.#isAtTimeless && rows.length === found.length && found.length < limitRows;
    const readUpTo = last === undefined ? null : rowTimeText(this.#table, last);
    return { rows, readUpTo, isLast };
  }
}

export async function countPush(
  tables: TableStore,
  table: Table,
  sinceTime: string | null,
): Promise<number> {
  const count = (since: string | null) => tables.count(table, { sinceTime: since, hasKey: true });
  if (sinceTime === null || table.timestampColumn === null) return count(null);
  const counted = await count(sinceTime);
  const { rows } = await tables.page(table, { from: { after: null }, limitRows: 1 });
  const [first] = rows;
  if (first === undefined || rowTimeText(table, first) !== null) return counted;
  return counted + (await count(null)) - (await count(FIRST_TIME));
}
