import type { Row } from "../table/table.ts";
import { rankTimes } from "./row-time.ts";

/** That a row was deleted. D-7.6. */
export interface Tombstone {
  /** The key columns, as the table keeps them. */
  readonly key: Row;
  /** Canonical time: a row that is not later does not come back. The `changeTime` of the row that was deleted. */
  readonly deletedAt: string;
}

/** True when a row with this canonical time wins over a tombstone. `limit` is an `aheadLimit`. D-7.6. */
export function outlives(rowTime: string | null, deletedAt: string, limit: string): boolean {
  return rankTimes(rowTime, deletedAt, limit) > 0;
}
