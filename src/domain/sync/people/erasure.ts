// The memory of people who were erased here, and what follows for rows and people of their names. D-8.2.
import { rankTimes, rowTime } from "../rows/row-time.ts";
import type { Tombstone } from "../rows/tombstone.ts";
import type { Row, Table } from "../table/table.ts";

/** The last erasure of a name. */
export interface Erasure {
  /** Canonical time. */
  readonly at: string;
  /** False once a new person may have the name, or has it. */
  readonly isTaken: boolean;
}

/** The message of a record that is refused for an erasure. */
export const ERASED_MESSAGE = "was erased here";

/** The text whose HMAC stands for an erased name. */
export function erasedNameText(username: string): string {
  return `repsync.erased.name.v1\n${username}`;
}

/** True for a row that is not taken: any while the name is taken, then those that are not newer. `limit` as in `rankTimes`. */
export function isLeftOut(table: Table, row: Row, erasure: Erasure, limit: string): boolean {
  return erasure.isTaken || rankTimes(rowTime(table, row), erasure.at, limit) <= 0;
}

/** True for a tombstone that is not kept: its key has the name of somebody erased. `limit` as in `rankTimes`. */
export function isTombstoneLeftOut(
  { at, isTaken }: Erasure,
  { deletedAt }: Tombstone,
  limit: string,
): boolean {
  return isTaken || rankTimes(deletedAt, at, limit) <= 0;
}
