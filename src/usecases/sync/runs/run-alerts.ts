// What operators are told of a run or comparison that has ended. D-10.12.
import type { Alert } from "../../../domain/alerts/alert.ts";
import type { CompareRun, KeptRun, SyncRun } from "../../../domain/sync/run/run.ts";
import { runItem } from "./run-item.ts";

/** The alerts of a run as it ended; none of one that goes on, or of a dry run, which somebody watches. */
export function alertsOfRun(run: KeptRun): readonly Alert[] {
  if (run.kind === "compare") return [...statusAlerts(run), ...foundAlerts(run)];
  return run.dryRun ? [] : [...statusAlerts(run), ...rejectedAlerts(run)];
}

function statusAlerts(run: KeptRun): readonly Alert[] {
  const { status } = run;
  if (status !== "failed" && status !== "partial") return [];
  return [{ type: `run.${status}`, run: runItem(run) }];
}

/** Rejections of a run that goes on are told when it ends: once a run. */
function rejectedAlerts({ runId, status, tables }: SyncRun): readonly Alert[] {
  const counts = Object.entries(tables).map(
    ([name, { errorCount }]) => [name, errorCount] as const,
  );
  const rejected = counts.filter(([, count]) => count > 0);
  if (status === "running" || rejected.length === 0) return [];
  return [{ type: "records.rejected", runId, tables: Object.fromEntries(rejected) }];
}

/** Differences that a scheduled comparison found, whether or not it repaired them; any other has somebody who reads its result. */
function foundAlerts(run: CompareRun): readonly Alert[] {
  const { trigger, status, table, matched, different, missingHere, missingThere } = run;
  if (trigger !== "schedule" || status !== "success") return [];
  if (different + missingHere + missingThere === 0) return [];
  const countHere = matched + different + missingThere;
  const countThere = matched + different + missingHere;
  return [{ type: "drift.found", table, countHere, countThere }];
}
