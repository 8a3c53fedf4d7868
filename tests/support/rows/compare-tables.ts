import type { CompareResult } from "../../../src/usecases/sync/compare/comparison.ts";
import {
  type CompareRequest,
  StartedComparison,
} from "../../../src/usecases/sync/runs/start-comparison.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";

/** A comparison from its start to its end. Throws its failure. */
export async function compareTables(
  deps: SyncDeps,
  request: Omit<CompareRequest, "trigger">,
): Promise<CompareResult> {
  const { result, error } = await new StartedComparison(deps, { ...request, trigger: "api" })
    .outcome;
  if (error !== null) throw error;
  return result;
}
