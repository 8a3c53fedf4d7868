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
import { shownRow } from "../../../domain/sync/by-hand/shown-rows.ts";
import { convertPosition } from "../../../domain/sync/rows/row-key.ts";
import { columnsNow } from "../../../domain/sync/run/compare-schemas.ts";
import type { RejectedItem, RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { type RunLease, transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import { RemoteTable } from "../shared/remote-table.ts";
import { openRun, type RunContext, TransferReport } from "../shared/run-context.ts";
import { asSyncError, type SyncDeps } from "../shared/sync-deps.ts";
import { checkRemote, openTransfer, silentColumns } from "../transfer/open-transfer.ts";
import { RecordWriter } from "../transfer/pull-table.ts";
import { pushAgain } from "../transfer/push-table.ts";
import { TableRejections } from "../transfer/table-rejections.ts";

const REJECTED_CURSOR = /^\d{16}$/;

interface RejectedDetail extends RejectedItem {
  /** The pulled record, or the row that a push would send now, as `shownRow` shows it; null when that is gone. */
  readonly record: JsonObject | null;
}

interface RetryResult {
  /**
   * `dropped`: not written here, as the row here is newer or its owner's, or its person was erased. `written`, too, for one that
   * need not go any more: its row is gone, or newer there.
   */
  readonly status: "written" | "rejected" | "dropped";
  /** The entry as it is now; as it was before where it waits no more. */
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
  if (!(await rejected.remove(id))) noEntry();
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
    // Not failures of the retry itself.
    if (isAppError(error, "conflict", "store_unavailable", "commit_failed")) throw error;
    throw asSyncError(error);
  }
  const left = await deps.rejected.find(id);
  if (left !== null) return { status: "rejected", item: rejectedItem(left) };
  return { status: isDropped ? "dropped" : "written", item: rejectedItem(entry) };
}

/**
 * Writes a pulled record here, which needs no remote, or sends a pushed one. Its entry tells whether it was rejected again.
 * Resolves to true when it was dropped, as the row here stays. Throws `conflict` when a run moves the table in the direction, and
 * what keeps a run from moving it: `sync_misconfigured`, `sync_failed`. D-7.7, D-9.5.
 */
async function retryRecord(
  deps: SyncDeps,
  table: Table,
  entry: RejectedRecord,
  stop: AbortSignal,
): Promise<boolean> {
  const { direction } = entry;
  const name = transferLeaseName(direction, table.name);
  const runId = deps.ids.next();
  const run = direction === "pull" ? null : openRun({ directions: ["push"], runId, deps, stop });
  stop.throwIfAborted();
  const taken = await tryLease(deps, name, runId, stop);
  if ("heldBy" in taken) {
    const text = `Run ${taken.heldBy} holds "${name}"`;
    throw new AppError("conflict", text, { hint: "Try again later" });
  }
  await using lease = taken;
  if (run === null) return await writeHere(deps, table, entry, lease);
  await sendThere(run, table, entry, lease);
  return false;
}

async function writeHere(
  deps: SyncDeps,
  table: Table,
  entry: RejectedRecord,
  lease: RunLease,
): Promise<boolean> {
  const kept = await deps.memory.read(table.name);
  const columns = columnsNow(table, []);
  const silent = silentColumns(columns, "pull", kept);
  const rules = { direction: "pull", memory: null, conflict: "newer" } as const;
  // No column counts as added: the next run fills those that are.
  const own = { deps, table, lease, ...rules, columns, added: [], silent };
  const writer = new RecordWriter(own, await TableRejections.open(own, entry));
  const { changed, kept: stayed, erased } = await writer.retry([entry.record ?? entry.key]);
  deps.traffic?.addRows(changed);
  return stayed + erased > 0;
}

async function sendThere(
  run: RunContext,
  table: Table,
  entry: RejectedRecord,
  lease: RunLease,
): Promise<void> {
  const remote = new RemoteTable(run, table, lease.signal);
  const check = await checkRemote(remote, true);
  if (check.pushProblem !== null) throw check.pushProblem;
  const report = new TransferReport(run, table.name, "push");
  await pushAgain(await openTransfer(check, remote, lease, report), entry);
}

async function findEntry({ rejected }: SyncDeps, id: string): Promise<RejectedRecord> {
  return (await rejected.find(id)) ?? noEntry();
}

function noEntry(): never {
  throw new AppError("not_found", "No rejected record has this id");
}

async function readRow(
  { registry, tables }: SyncDeps,
  entry: RejectedRecord,
): Promise<JsonObject | null> {
  const table = registry.get(entry.table);
  const key = table === undefined ? null : convertPosition(table, entry.key);
  if (table === undefined || key === null) return null;
  const [row = null] = await tables.byKeys(table, [key], "page");
  return row;
}

function rejectedItem(entry: RejectedRecord): RejectedItem {
  const { record: _, fingerprint: __, firstAtMs, lastAtMs, ...item } = entry;
  return { ...item, firstAt: formatMs(firstAtMs), lastAt: formatMs(lastAtMs) };
}
