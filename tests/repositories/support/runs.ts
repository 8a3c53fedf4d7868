import type { CompareRun, SyncRun } from "../../../src/domain/sync/run/run.ts";
import type { Runs } from "../../../src/repositories/runs.ts";

/** The ids of a part of the list. */
export async function listedRuns(
  runs: Runs,
  limit: number,
  beforeId: string | null = null,
): Promise<string[]> {
  return (await runs.list({ limit, beforeId })).map((run) => run.runId);
}

/** A run with other values in every field. */
export function makeRun(id: string, changes: Partial<SyncRun> = {}): SyncRun {
  const items = {
    pushed: 1,
    pulled: 2,
    errorCount: 3,
    bytesCompressed: 4,
    bytesUncompressed: 9_007_199_254_740_991,
    durationMs: 0.5,
    ...{ kept: 6, erased: 0, changed: 7, deletedHere: 8, deletedThere: 9 },
    ...{ countHere: 10, countThere: null, warnings: ["a"] },
  };
  return {
    runId: id,
    kind: "sync",
    trigger: "api",
    status: "success",
    direction: "both",
    tables: { items, constructor: items },
    totalPushed: 1,
    totalPulled: 2,
    errorCount: 3,
    ...{ kept: 6, erased: 0, changed: 7, deletedHere: 8, deletedThere: 9 },
    startedAt: "2024-01-01T00:00:00Z",
    finishedAt: "2024-01-01T00:00:01.500Z",
    durationMs: 1500,
    fullSync: false,
    ...changes,
  };
}

/** A comparison of `items` with other values in every field. */
export function makeComparison(id: string): CompareRun {
  return {
    ...{ runId: id, kind: "compare", trigger: "api", status: "success" },
    ...{ table: "items", repair: "newest", startedAt: "2024-01-01T00:00:00Z" },
    ...{ finishedAt: null, durationMs: 1, matched: 1, different: 2, missingHere: 3 },
    ...{ missingThere: 4, repaired: 5, kept: 6 },
  };
}
