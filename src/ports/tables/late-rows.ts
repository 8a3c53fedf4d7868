import type { Table } from "../../domain/sync/table/table.ts";

export interface LateRowsQuery {
  /** A mark that `read` gave; null to learn the mark of now only. */
  readonly afterMark: string | null;
  /** True leaves out what runs of this deployment brought: the remote has that. */
  readonly isForOwnPush: boolean;
}

export interface LateRowsReply {
  /** Stands for all notes committed so far; opaque. */
  readonly mark: string;
  /**
   * The earliest time noted since, canonical. Null when nothing was noted, or for a query without a mark; the empty text,
   * which means the start of the table, for a mark that this store never gave.
   */
  readonly from: string | null;
}

/**
 * Notes of rows that runs would pass over, as `TableStore.write` makes them: per table a mark that grows with the commits
 * and for each mark the earliest time noted since. A commit that becomes visible later has the greater mark. D-7.4.
 */
export interface LateRows {
  /** Reads the mark of a table, and the earliest time noted after another one. Throws `store_unavailable`. */
  read(table: Table, query: LateRowsQuery): Promise<LateRowsReply>;
}
