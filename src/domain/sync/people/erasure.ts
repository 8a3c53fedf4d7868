// The memory of people who were erased here, and what follows for rows and people of their names. D-8.2.
import { rankTimes, rowTime } from "../rows/row-time.ts";
import type { Tombstone } from "../rows/tombstone.ts";
import type { Row, Table } from "../table/table.ts";

export interface Erasure {
  /** Canonical time. */
  readonly at: string;
  /** False once a new person may have the name, or has it. */
  readonly isTaken: boolean;
}

export const ERASED_MESSAGE = "was erased here";

export function erasedNameText(username: string): string {
  return `repsync.erased.name.v1\n${username}`;
}

/** True for a row not to write: any while the name is taken, then those not newer than the erasure. `limit` as in `rankTimes`. */
export function isLeftOut(table: Table, row: Row, erasure: Erasure, limit: string): boolean {
  return erasure.isTaken || rankTimes(rowTime(table, row), erasure.at, limit) <= 0;
}

/** As `isLeftOut`, for a tombstone whose key has the name. */
export function isTombstoneLeftOut(
  { at, isTaken }: Erasure,
  { deletedAt }: Tombstone,
  limit: string,
): boolean {
  return isTaken || rankTimes(deletedAt, at, limit) <= 0;
}
