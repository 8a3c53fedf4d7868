// The history of each table from stored runs and comparisons: its last run, and since when an end may be behind. D-9.5, D-14.9.
// Both ends were equal after a comparison without differences, and after a run without rejected records and with equal counts.
// They still are while the counts agree and no row here is later than that. The age of a marker does not tell it: it is the age
// of the newest row that was moved.
import { dateTimeMs, formatMs, parseDateTime } from "../../domain/shared/time.ts";
import {
  type CompareRun,
  type ListedRun,
  rowsIn,
  type SyncRun,
  type SyncStatus,
  type TableResult,
} from "../../domain/sync/run/run.ts";
import { endAbandonedRuns, newestRuns } from "../sync/runs/stored-runs.ts";
import type { SyncDeps } from "../sync/shared/sync-deps.ts";
import type { RemoteStatus } from "../sync/shared/sync-status.ts";

interface TableHistory {
  /** Never a comparison. */
  readonly lastRun: SyncRun | null;
  /** The last run or comparison that ended, and whether both ends were equal then. */
  readonly last: {
    readonly atMs: number;
    readonly endMs: number;
    readonly isEqual: boolean;
  } | null;
  /** The begin of the last run or comparison that left the ends equal. */
  readonly equalAtMs: number | null;
  /** The begin of the oldest run or comparison. */
  readonly oldestAtMs: number | null;
}

const NOTHING: TableHistory = { lastRun: null, last: null, equalAtMs: null, oldestAtMs: null };
/** The newest runs are read anew each time. */
const RECENT_RUNS = 10;

/** The state of each table at both ends, by the counts here and the remote's. Throws `store_unavailable`. */
export async function readTableStates(
  sync: SyncDeps,
  here: SyncStatus["tableCounts"],
  remote: RemoteStatus | null,
  histories = new TableHistories(),
) {
  const [drifts, kept] = await Promise.all([sync.memory.drifts(), histories.read(sync)]);
  return await Promise.all(
    [...sync.registry.keys()].map(async (table) => {
      const history = kept.get(table) ?? NOTHING;
      const rowsHere = rowsIn(here, table);
      const rowsThere = rowsIn(remote?.status?.tableCounts ?? {}, table);
      const counted = rowsHere === null || rowsThere === null ? null : rowsHere - rowsThere;
      const behind = await behindSeconds(sync, table, history, { remote, drift: counted });
      // A comparison may have repaired rows since the last run.
      const drift = counted ?? drifts.get(table) ?? null;
      const { lastRun } = history;
      return { table, rowsHere, rowsThere, drift, behindSeconds: behind, lastRun };
    }),
  );
}

type Histories = Map<string, TableHistory>;

/** Reads the histories of tables by name, and remembers those of old runs. */
export class TableHistories {
  #older: Histories = new Map();
  /** The newest run in `#older`. */
  #newestOlder: string | null = null;

  async read(sync: SyncDeps): Promise<ReadonlyMap<string, TableHistory>> {
    await endAbandonedRuns(sync);
    const [known, knownUpTo] = [this.#older, this.#newestOlder];
    const recent: Histories = new Map();
    let older: Histories = new Map();
    let newestOlder: string | null = null;
    let count = 0;
    for await (const run of newestRuns(sync)) {
      if (run.runId === knownUpTo) break;
      addOlder(older, historiesOf(run));
      newestOlder ??= run.runId;
      // A run under way has no end yet, and that of a recent one may be replaced.
      if (run.status !== "running" && ++count > RECENT_RUNS) continue;
      addOlder(recent, older);
      older = new Map();
      newestOlder = null;
    }
    addOlder(older, known);
    if (newestOlder !== null) [this.#older, this.#newestOlder] = [older, newestOlder];
    addOlder(recent, older);
    return recent;
  }
}

/** Adds histories that are older than all present ones. */
function addOlder(histories: Histories, added: Iterable<readonly [string, TableHistory]>): void {
  for (const [table, older] of added) {
    const newer = histories.get(table) ?? NOTHING;
    histories.set(table, {
      lastRun: newer.lastRun ?? older.lastRun,
      last: newer.last ?? older.last,
      equalAtMs: newer.equalAtMs ?? older.equalAtMs,
      oldestAtMs: older.oldestAtMs ?? newer.oldestAtMs,
    });
  }
}

/** The histories of the tables of one run or comparison. */
function historiesOf(run: ListedRun): readonly (readonly [table: string, TableHistory])[] {
  const tables = run.kind === "sync" ? Object.keys(run.tables) : [run.table];
  const lastRun = run.kind === "sync" ? run : null;
  const atMs = dateTimeMs(run.startedAt);
  const endMs = dateTimeMs(run.finishedAt ?? run.startedAt);
  return tables.map((table) => {
    const isEqual = leftEqual(run, table);
    if (isEqual === null) return [table, { ...NOTHING, lastRun }];
    const equalAtMs = isEqual ? atMs : null;
    return [table, { lastRun, last: { atMs, endMs, isEqual }, equalAtMs, oldestAtMs: atMs }];
  });
}

/** True when both ends had the same rows of a table afterwards; null where it did not come to its end. */
function leftEqual(run: ListedRun, table: string): boolean | null {
  if (run.status === "running") return null;
  const isFailed = run.status === "failed";
  if (run.kind === "compare") return isFailed ? null : isComparedEqual(run);
  const result = run.tables[table];
  if (result === undefined || result.isFailed) return null;
  // One failed table does not change the results of the others.
  if (isFailed && !Object.values(run.tables).some((other) => other.isFailed)) return null;
  return isRunEqual(run, result);
}

function isComparedEqual({ different, missingHere, missingThere, repaired }: CompareRun): boolean {
  return different + missingHere + missingThere <= (repaired ?? 0);
}

/** A run in one direction leaves rows that are newer at the receiving end. */
function isRunEqual({ direction }: SyncRun, result: TableResult): boolean {
  const { countHere, countThere, errorCount, kept } = result;
  if (countHere === null || countHere !== countThere || errorCount > 0) return false;
  return direction === "both" || kept === 0;
}

interface Counted {
  /** The remote that told its count. */
  readonly remote: RemoteStatus | null;
  /** Rows that this end had more than the remote; null without both counts. */
  readonly drift: number | null;
}

/** True when the ends had different counts after a time of this end's clock. */
function hasDrift({ remote, drift }: Counted, sinceMs: number): boolean {
  if (!drift || !remote?.status || remote.clockAheadMs === null) return false;
  const time = parseDateTime(remote.status.serverTime);
  return time !== null && dateTimeMs(time) - remote.clockAheadMs > sinceMs;
}

/**
 * Seconds that an end of a table may be behind: since both were last equal, else since the first stored run. 0 for a table that
 * its last run or comparison left equal, with equal counts and no later row here since. Null for a table that was never run or
 * compared, or cannot be read. D-14.9.
 */
async function behindSeconds(
  { registry, tables, clock }: SyncDeps,
  tableName: string,
  { last, equalAtMs, oldestAtMs }: TableHistory,
  counted: Counted,
): Promise<number | null> {
  const table = registry.get(tableName);
  if (table === undefined || last === null) return null;
  // Counts from before the end of the run are older than its own.
  if (last.isEqual && !hasDrift(counted, last.endMs)) {
    const sinceTime = table.timestampColumn === null ? null : parseDateTime(formatMs(last.atMs));
    if (sinceTime === null) return 0;
    const query = { from: { offsetRows: 0 }, sinceTime, limitRows: 1 } as const;
    const page = await tables.page(table, query).catch(() => null);
    if (page === null) return null;
    if (page.rows.length === 0) return 0;
  }
  const sinceMs = equalAtMs ?? oldestAtMs ?? last.atMs;
  return Math.max(1, Math.round((clock.nowMs() - sinceMs) / 1000));
}
