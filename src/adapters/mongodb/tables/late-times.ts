// The times that a push has to note. D-7.4. A bulk write tells how many rows it changed, not which: so rows that may be late
// are written first, by themselves. Then all of them have changed, or only new ones, or the push runs again and reads. A row
// counts as late 5 s early, as commits take time.
import { lateBefore } from "../../../domain/sync/run/late-rows.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { SYNC_CALLS } from "../driver/deadline.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { readNowMs } from "../driver/server-clock.ts";

/** A commit takes this much longer to become visible, and runs look at clocks that may be behind the server's. */
const MARGIN_MS = 5_000;

/** Canonical times of rows; null for a row without one. */
type RowTimes = readonly (string | null)[];

/** What a push did to rows. */
export interface PushedTimes {
  /** Of the rows that were inserted or changed: all that may be late. */
  readonly changedTimes: RowTimes;
  /** Of rows that stayed, being newer. */
  readonly keptTimes: RowTimes;
}

/** The time before which a row may be late when its push commits. */
export function mayBeLateBefore(table: Table, nowMs: number): string {
  return lateBefore(table, nowMs + SYNC_CALLS.durationMs + MARGIN_MS);
}

/** The server's time at which a commit that is asked for now is visible at the latest. */
export async function visibleMs(deps: Pick<StoreDeps, "db" | "storeClock">): Promise<number> {
  return (await readNowMs(deps)) + MARGIN_MS;
}
