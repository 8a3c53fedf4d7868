// Deletes, which move before rows: a push sends own tombstones, a pull applies those of the remote. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import type { PushResult } from "../../../domain/sync/rows/push-result.ts";
import { aheadLimit, TOO_FAR_AHEAD } from "../../../domain/sync/rows/row-time.ts";
import { convertTombstone, type Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import {
  deleteLimit,
  isNoChange,
  type MemoryChange,
} from "../../../domain/sync/run/remote-memory.ts";
import { RemotePeerError, type SentTombstone } from "../../../ports/tables/remote-peer.ts";
import type { TombstonePage } from "../../../ports/tables/table-store.ts";
import type { TombstoneWrite } from "../../../ports/tables/table-writes.ts";
import { countRemovable, DeleteBudget, TooManyDeletes } from "../pages/delete-rows.ts";
import type { WriteOutcome } from "../shared/write-rows.ts";
import {
  doDeletesTravel,
  listOwn,
  movedPlace,
  pagesFrom,
  placeOf,
  readDeletedPage,
  requireKnownHere,
  requireKnownThere,
  TOMBSTONES_AT_ONCE,
} from "./delete-places.ts";
import type { Transfer } from "./open-transfer.ts";
import { pushAtOnce } from "./push-rows.ts";
import { commitExtras, commitRows, inHalves } from "./transfer-commits.ts";

/**
 * Moves tombstones in the direction of a transfer; a dry run counts the rows that they would remove. Resolves to null, or to the
 * error when too many rows would be deleted: the tombstones stay, and rows can still move. Throws `sync_failed` before anything
 * moves when deletes may have been missed at either end.
 */
export async function moveDeletes(transfer: Transfer): Promise<AppError | null> {
  if (!doDeletesTravel(transfer.table, transfer.handshake)) return null;
  await requireKnownHere(transfer);
  try {
    if (transfer.direction === "pull") await fetchDeletes(transfer);
    else {
      await requireKnownThere(transfer);
      await sendDeletes(transfer);
    }
    return null;
  } catch (error) {
    if (error instanceof TooManyDeletes) return error;
    throw error;
  }
}

/** Counts the rows that would go before the first one does; of a dry run that is all. Throws `TooManyDeletes`. */
async function countFirst<Page>(
  { run, report }: Transfer,
  budget: DeleteBudget,
  pages: AsyncIterable<Page>,
  count: (page: Page) => Promise<number>,
): Promise<void> {
  let removable = 0;
  for await (const page of pages) removable += await count(page);
  if (run.isDryRun) report.addDeleted(removable);
  budget.require(removable);
}

/**
 * Fetches the remote's tombstones from the place kept last on, each page and the place behind it in one commit. A tombstone more
 * than 5 minutes ahead of the clock here, or whose row the store does not remove, counts as a failed record: the next run begins
 * with it again. Throws `TooManyDeletes`, and `remote_invalid` for an invalid tombstone.
 */
async function fetchDeletes(transfer: Transfer): Promise<void> {
  const { deps, run, table, report, readAhead } = transfer;
  const cursor = placeOf(transfer, "pull")?.cursor ?? null;
  const read = (from: string | null) => readDeletedPage(transfer, from);
  const first = readAhead.get(cursor) ?? (await read(cursor));
  // The table's rows are counted only where their number matters.
  const least = deleteLimit(table, run.maxDeletes, 0);
  const isLittle = first.nextCursor === null && first.items.length <= least;
  const rows = isLittle ? 0 : await deps.tables.count(table);
  const budget = new DeleteBudget(table, "here", deleteLimit(table, run.maxDeletes, rows));
  if (first.nextCursor !== null || !budget.allows(first.items.length) || run.isDryRun) {
    await countFirst(transfer, budget, pagesFrom(first, read), ({ items }) => {
      const { deleted } = readTombstones(transfer, items);
      return countRemovable(deps.tables, table, deleted, deps.clock.nowMs());
    });
  }
  if (run.isDryRun) return;
  let isRefused = false;
  for await (const page of pagesFrom(first, read)) {
    const { deleted, refused } = readTombstones(transfer, page.items);
    report.addRejected(refused);
    isRefused ||= refused > 0;
    const givenAt = parseDateTime(page.serverTime) ?? "";
    const place = movedPlace(transfer, page.nextCursor ?? page.cursor, givenAt);
    const memory = isRefused ? {} : place;
    if (deleted.length === 0 && isNoChange(memory)) continue;
    if (!(await apply(transfer, budget, deleted, memory))) isRefused = true;
  }
}

/** Applies tombstones in one commit. Resolves to false when the store refused some: the place stays. Throws `TooManyDeletes`. */
async function apply(
  transfer: Transfer,
  budget: DeleteBudget,
  deleted: readonly TombstoneWrite[],
  memory: MemoryChange,
): Promise<boolean> {
  const { deps, table, remote, report } = transfer;
  const extrasOf = (outcome: WriteOutcome) => {
    budget.require(outcome.deleted);
    return { memory: outcome.refusedDeletes === undefined ? memory : {} };
  };
  const outcome = await commitRows(transfer, { writes: [], deleted }, extrasOf);
  const { deleted: count, refusedDeletes: refused = [] } = outcome;
  remote.progressed();
  budget.spend(count);
  report.addDeleted(count);
  report.addRejected(refused.length);
  const [first] = refused;
  if (first === undefined) return true;
  const text = "Rows stay that the remote has deleted: the store would not remove them";
  const about = { table: table.name, count: refused.length, reason: first.message };
  deps.logger.warn(text, about);
  return false;
}

/** The tombstones, and the number of those that are too far ahead. */
function readTombstones({ deps, table }: Transfer, items: readonly SentTombstone[]) {
  const limit = aheadLimit(deps.clock.nowMs());
  const deleted: TombstoneWrite[] = [];
  for (const [index, { key, deletedAt }] of items.entries()) {
    const { tombstone, problem } = convertTombstone(table, { key, deleted_at: deletedAt });
    if (tombstone === null) {
      const text = `The remote lists a delete of "${table.name}" that is none: ${problem}`;
      throw new AppError("remote_invalid", text);
    }
    if (compareDateTimes(tombstone.deletedAt, limit) <= 0) deleted.push({ index, ...tombstone });
  }
  const refused = items.length - deleted.length;
  if (refused > 0) {
    deps.logger.warn(`Deletes of the remote are ${TOO_FAR_AHEAD}`, {
      table: table.name,
      count: refused,
    });
  }
  return { deleted, refused };
}

/**
 * Sends own tombstones from the place kept last on, and keeps the place behind each acknowledged batch. A tombstone that the
 * remote refuses counts as a failed record: the next run begins with it again. Throws `TooManyDeletes`.
 */
async function sendDeletes(transfer: Transfer): Promise<void> {
  const { deps, run, table, handshake, report } = transfer;
  const start = placeOf(transfer, "push")?.cursor ?? null;
  // From before the first read, so that a place never counts as younger than it is.
  const { ownTime: givenAt } = handshake.clocks;
  const pending = await deps.tombstones.countAfter(table, start);
  const limit = deleteLimit(table, run.maxDeletes, handshake.countThere ?? 0);
  const budget = new DeleteBudget(table, "there", limit);
  const count = async ({ items }: TombstonePage) =>
    (await sendTombstones(transfer, items, true)).deleted;
  if (pending > limit || run.isDryRun) {
    await countFirst(transfer, budget, ownPages(transfer, start, pending), count);
  }
  if (run.isDryRun) return;
  const keepPlace = (cursor: string | null) =>
    commitExtras(transfer, { memory: movedPlace(transfer, cursor, givenAt) });
  if (pending === 0) await keepPlace(start);
  let isRefused = false;
  for await (const page of ownPages(transfer, start, pending)) {
    if (!budget.allows(page.items.length)) budget.require(await count(page));
    const { deleted, errorCount } = await sendTombstones(transfer, page.items, false);
    budget.spend(deleted);
    report.addDeleted(deleted);
    report.addRejected(errorCount);
    isRefused ||= errorCount > 0;
    if (!isRefused) await keepPlace(page.cursor);
  }
}

/** Own tombstones after a place, about as many as were counted. */
async function* ownPages(
  transfer: Transfer,
  start: string | null,
  count: number,
): AsyncGenerator<TombstonePage, void, undefined> {
  let after = start;
  for (let read = 0; read < count; ) {
    const limit = transfer.remote.rowsAtOnce("batch", TOMBSTONES_AT_ONCE);
    const page = await listOwn(transfer, after, limit);
    if (page.items.length === 0) return;
    yield page;
    read += page.items.length;
    after = page.cursor;
  }
}

/** Sends tombstones, or asks how many rows they would remove. A batch that is too much at once is halved. */
export async function sendTombstones(
  transfer: Transfer,
  tombstones: readonly Tombstone[],
  isDeletesDryRun: boolean,
): Promise<Required<Pick<PushResult, "deleted" | "errorCount">>> {
  const { deps, run, table } = transfer;
  // A gateway that drops the header would make a push of the question: the reply to none tells them apart.
  if (isDeletesDryRun && tombstones.length > 0) await sendTombstones(transfer, [], true);
  const sent = { records: [], deleted: tombstones, isDeletesDryRun, syncTimestamp: run.startedAt };
  const reply = await pushAtOnce(transfer, sent, tombstones.length);
  if (!(reply instanceof RemotePeerError)) {
    checkResult(reply, tombstones.length);
    const { deleted = 0, errors = [], errorCount = 0 } = reply;
    if (errorCount > 0) {
      const fields = { table: table.name, count: errorCount, first: errors[0] ?? "" };
      deps.logger.warn("The remote refused tombstones", fields);
    }
    return { deleted, errorCount };
  }
  if (tombstones.length > 1) {
    return await inHalves(tombstones, (half) => sendTombstones(transfer, half, isDeletesDryRun));
  }
  deps.logger.warn("The remote takes no push with this tombstone", { table: table.name });
  return { deleted: 0, errorCount: 1 };
}

/** Throws `remote_invalid` for a reply that leaves tombstones out, or did not verify the checksum. */
function checkResult(result: PushResult, sent: number): void {
  const { error, integrity, deleted, errorCount = 0 } = result;
  const isTold = error === undefined && deleted !== undefined && deleted + errorCount <= sent;
  if (isTold && integrity === "verified") return;
  const reason = error === undefined ? "" : `: ${error}`;
  const text = `The remote does not tell what became of ${sent} tombstones${reason}`;
  throw new AppError("remote_invalid", text);
}
