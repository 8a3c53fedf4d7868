import type { CompareRun, KeptRun, SyncRun } from "../../../domain/sync/run/run.ts";

/** A run, as lists show it; `dryRun` only of a dry run, which is in no list. */
export type SyncRunItem = Omit<SyncRun, "dryRun"> & { readonly dryRun?: true };

export type RunItem = SyncRunItem | CompareRun;

/** A run or comparison as callers see it. */
export function runItem(run: SyncRun): SyncRunItem;
export function runItem(run: KeptRun): RunItem;
export function runItem(run: KeptRun): RunItem {
  if (run.kind === "compare") return run;
  const { dryRun: isDryRun, ...item } = run;
  return isDryRun ? { ...item, dryRun: true } : item;
}
