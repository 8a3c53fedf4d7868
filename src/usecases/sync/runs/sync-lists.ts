// What administrators list: runs, and records that were rejected. D-4.9.

import {
  BAD_CURSOR,
  checkListQuery,
  type ListPart,
  type ListQuery,
  listPart,
} from "../../../domain/reputation/accounts/list-query.ts";
import type { FieldProblem } from "../../../domain/reputation/accounts/problem.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { RejectedItem } from "../../../domain/sync/run/rejected-item.ts";
import type { SyncRun } from "../../../domain/sync/run/run.ts";
import type { Registry } from "../../../domain/sync/table/table.ts";
import type { RejectedRecord, RejectedRecords } from "../../../ports/runs/rejected-records.ts";
import { findTable } from "../pages/pull-page.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { endAbandonedRuns } from "./abandoned-runs.ts";

/** `limit` and `cursor` as texts. D-5.5. */
export interface ListParameters {
  readonly limit: string | null;
  readonly cursor: string | null;
}

const RUN_CURSOR = /^[\w-]{8,64}$/;
const REJECTED_CURSOR = /^\d{16}$/;

/** A run, as lists show it: dry runs are in none. */
export type RunItem = Omit<SyncRun, "dryRun">;

/** Lists runs, newest first; those whose process has ended have failed. Throws `invalid_request`. */
export async function listRuns(
  deps: SyncDeps,
  parameters: ListParameters,
): Promise<ListPart<RunItem>> {
  const { runs } = deps;
  const { limit, cursor } = readListQuery(parameters, RUN_CURSOR);
  await endAbandonedRuns(deps);
  if (cursor !== null && (await runs.find(cursor)) === null) throw badParameter(BAD_CURSOR);
  const found = await runs.list({ limit: limit + 1, beforeId: cursor });
  return listPart(found, limit, { toItem: runItem, cursorOf: ({ runId }) => runId });
}

/** One run. Throws `not_found`. */
export async function findRun(deps: SyncDeps, runId: string): Promise<RunItem> {
  await endAbandonedRuns(deps);
  const run = await deps.runs.find(runId);
  if (run !== null) return runItem(run);
  throw new AppError("not_found", "No run has this id; only the last 1,000 are kept");
}

/** Lists rejected records, newest first; a null table names all. Throws `unknown_table`, `invalid_request`. */
export async function listRejected(
  deps: { readonly rejected: RejectedRecords; readonly registry: Registry },
  parameters: ListParameters & { readonly table: string | null },
): Promise<ListPart<RejectedItem>> {
  const table = parameters.table === null ? null : findTable(deps.registry, parameters.table).name;
  const { limit, cursor } = readListQuery(parameters, REJECTED_CURSOR);
  const query = { table, direction: null, limit: limit + 1, beforeId: cursor };
  const found = await deps.rejected.list(query);
  return listPart(found, limit, { toItem: rejectedItem, cursorOf: ({ id }) => id });
}

/** Drops a rejected record, so that no run tries it again. Throws `not_found`. */
export async function dropRejected(
  { rejected }: { readonly rejected: RejectedRecords },
  id: string,
): Promise<void> {
  if (await rejected.remove(id)) return;
  throw new AppError("not_found", "No rejected record has this id");
}

function runItem({ dryRun: _, ...item }: SyncRun): RunItem {
  return item;
}

function rejectedItem(entry: RejectedRecord): RejectedItem {
  const { id, table, direction, key, message, attempts, firstAtMs, lastAtMs } = entry;
  const times = { firstAt: formatMs(firstAtMs), lastAt: formatMs(lastAtMs) };
  return { id, table, direction, key, message, attempts, ...times };
}

function readListQuery(parameters: ListParameters, cursorShape: RegExp): ListQuery {
  const { value, problems } = checkListQuery(parameters, cursorShape);
  const [problem] = problems;
  if (problem !== undefined) throw badParameter(problem);
  return value as ListQuery;
}

function badParameter({ pointer, detail }: FieldProblem): AppError {
  const text = `${pointer.slice(1)} ${detail.charAt(0).toLowerCase()}${detail.slice(1)}`;
  return new AppError("invalid_request", text);
}
