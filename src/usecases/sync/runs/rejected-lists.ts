// Rejected records, as administrators see them, drop them and try them again. D-4.9, D-7.7, D-9.5.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import {
  type ListParameters,
  type ListPart,
  listPart,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { convertPosition, keyRow } from "../../../domain/sync/rows/row-key.ts";
import { shownRow } from "../../../domain/sync/rows/shown-row.ts";
import type { RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import type { RejectedItem } from "../../../domain/sync/run/run.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { retryRecord } from "../transfer/transfer-table.ts";

const REJECTED_CURSOR = /^\d{16}$/;

/** One rejected record with the record itself. */
interface RejectedDetail extends RejectedItem {
  /** The pulled record, or the row that a push would send now, as `shownRow` shows it; null when that is gone. */
  readonly record: JsonObject | null;
}

interface RetryResult {
  /**
   * `dropped` for one that is not written here, as the row here is newer, its owner's, or of somebody who was erased. `written`
   * also for one that need not be sent any more: the row is gone, or newer there.
   */
  readonly status: "written" | "rejected" | "dropped";
  /** The entry as it is now; as it was before when it waits no more. */
  readonly item: RejectedItem;
}

/** Lists rejected records, newest first; a null table names all. Throws `unknown_table`, `invalid_request`. */
export async function listRejected(
  deps: SyncDeps,
  parameters: ListParameters,
  tableName: string | null,
): Promise<ListPart<RejectedItem>> {
  const table = tableName === null ? null : findTable(deps.registry, tableName).name;
  const { limit, cursor } = requireListQuery(parameters, REJECTED_CURSOR);
  const query = { table, direction: null, limit: limit + 1, behindId: cursor };
  const found = await deps.rejected.list(query);
  return listPart(found, limit, { toItem: rejectedItem, cursorOf: ({ id }) => id });
}

/** Drops a rejected record, so that no run tries it again. Throws `not_found`. */
export async function dropRejected({ rejected }: SyncDeps, id: string): Promise<void> {
  if (await rejected.remove(id)) return;
  throw new AppError("not_found", "No rejected record has this id");
}

/** One rejected record. Throws `not_found`. */
export async function readRejected(deps: SyncDeps, id: string): Promise<RejectedDetail> {
  const entry = await findEntry(deps, id);
  const record = entry.direction === "pull" ? entry.record : await readRow(deps, entry);
  return { ...rejectedItem(entry), record: record === null ? null : shownRow(record) };
}

/**
 * Tries a rejected record again. Throws `not_found`, `conflict` while a run moves its table in its direction, and what ends
 * a run: `sync_misconfigured`, `sync_failed`; `unknown_table` when the registry has the table no more.
 */
export async function retryRejected(
  deps: SyncDeps,
  id: string,
  stop: AbortSignal,
): Promise<RetryResult> {
  const entry = await findEntry(deps, id);
  const table = findTable(deps.registry, entry.table);
  let isDropped = false;
  try {
    isDropped = await retryRecord(deps, table, entry, stop);
  } catch (error) {
    deps.logger.error("A rejected record could not be tried again", error, { table: table.name });
    // Errors that are no failure of the retry itself.
    if (isAppError(error, "conflict", "store_unavailable", "commit_failed")) throw error;
    throw asSyncError(error);
  }
  const left = await deps.rejected.find(id);
  if (left !== null) return { status: "rejected", item: rejectedItem(left) };
  return { status: isDropped ? "dropped" : "written", item: rejectedItem(entry) };
}

async function findEntry({ rejected }: SyncDeps, id: string): Promise<RejectedRecord> {
  const entry = await rejected.find(id);
  if (entry !== null) return entry;
  throw new AppError("not_found", "No rejected record has this id");
}

async function readRow(
  { registry, tables }: SyncDeps,
  entry: RejectedRecord,
): Promise<JsonObject | null> {
  const table = registry.get(entry.table);
  const key = table === undefined ? null : convertPosition(table, entry.key);
  if (table === undefined || key === null) return null;
  const [row = null] = await tables.byKeys(table, [keyRow(table, key)], "page");
  return row;
}

function rejectedItem(entry: RejectedRecord): RejectedItem {
  const { record: _, fingerprint: __, firstAtMs, lastAtMs, ...item } = entry;
  return { ...item, firstAt: formatMs(firstAtMs), lastAt: formatMs(lastAtMs) };
}
