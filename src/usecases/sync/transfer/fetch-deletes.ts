// The remote's tombstones take effect here before its rows do. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { parseDateTime } from "../../../domain/shared/time.ts";
import { convertTombstone } from "../../../domain/sync/rows/convert-tombstone.ts";
import { aheadLimit } from "../../../domain/sync/rows/time-rank.ts";
import { deleteLimit } from "../../../domain/sync/run/delete-limit.ts";
import { isNoChange, type MemoryChange } from "../../../domain/sync/run/remote-memory.ts";
import type { DeletedReply, SentTombstone } from "../../../ports/tables/remote-peer.ts";
import type { TombstoneWrite } from "../../../ports/tables/table-writes.ts";
import { DeleteBudget } from "../shared/delete-budget.ts";
import type { WriteOutcome } from "../shared/write-rows.ts";
import type { TableTransfer } from "./begin-transfer.ts";
import { commitRows } from "./commit.ts";
import { movedPlace, placeOf, readDeletedPage } from "./delete-places.ts";

/** Later than any time that a tombstone may have. */
const NO_LIMIT = "9999-12-31T23:59:59.999999Z";

/**
 * Fetches the tombstones listed there since the place kept last, each page and the place behind it in one commit. One that
 * is more than 5 minutes ahead of the clock here counts as a failed record: the next run fetches it again, and with it all
 * behind it. Resolves to why they did not take effect, when they would delete too many rows here. Throws `remote_invalid`
 * for what is no tombstone of the table.
 */
export async function fetchDeletes(transfer: TableTransfer): Promise<AppError | null> {
  const { run, table, report, readAhead } = transfer;
  const cursor = placeOf(transfer, "pull")?.cursor ?? null;
  const first = readAhead.take(cursor) ?? (await readDeletedPage(transfer, cursor));
  const budget = new DeleteBudget(table, "here", await limitHere(transfer, first));
  const isMany = first.nextCursor !== null || budget.isExceededBy(first.items.length);
  if (isMany || run.isDryRun) {
    const removable = await countRemovable(transfer, first);
    if (run.isDryRun) report.addDeleted(removable);
    if (budget.isExceededBy(removable)) return budget.problem(removable);
  }
  if (run.isDryRun) return null;
  let isRefused = false;
  for await (const page of pagesFrom(transfer, first)) {
    const { deleted, refused } = readTombstones(transfer, page.items);
    report.addRejected(refused);
    isRefused ||= refused > 0;
    const givenAt = parseDateTime(page.serverTime) ?? "";
    const place = movedPlace(transfer, page.nextCursor ?? page.cursor, givenAt);
    const memory = isRefused ? {} : place;
    if (deleted.length === 0 && isNoChange(memory)) continue;
    const problem = await apply(transfer, budget, { deleted, memory });
    if (problem !== null) return problem;
  }
  return null;
}

/** The table's rows are counted only where their number matters. */
async function limitHere({ run, table }: TableTransfer, first: DeletedReply): Promise<number> {
  const least = deleteLimit(table, run.maxDeletes, 0);
  if (first.nextCursor === null && first.items.length <= least) return least;
  return deleteLimit(table, run.maxDeletes, await run.deps.tables.count(table));
}

async function countRemovable(transfer: TableTransfer, first: DeletedReply): Promise<number> {
  const { run, table } = transfer;
  let removable = 0;
  for await (const { items } of pagesFrom(transfer, first)) {
    const { deleted } = readTombstones(transfer, items);
    removable += await run.deps.tombstones.countRemovable(table, deleted);
  }
  return removable;
}

async function* pagesFrom(
  transfer: TableTransfer,
  first: DeletedReply,
): AsyncGenerator<DeletedReply, void, undefined> {
  let page = first;
  for (;;) {
    yield page;
    if (page.nextCursor === null) return;
    page = await readDeletedPage(transfer, page.nextCursor);
  }
}

/** Applies tombstones in one commit. Resolves to why nothing was done, when that would delete too many rows. */
async function apply(
  transfer: TableTransfer,
  budget: DeleteBudget,
  page: {
    readonly deleted: readonly TombstoneWrite[];
    readonly memory: MemoryChange;
  },
): Promise<AppError | null> {
  const { deleted, memory } = page;
  let problem: AppError | null = null;
  const extrasOf = ({ deleted: count }: WriteOutcome) => {
    problem = budget.isExceededBy(count) ? budget.problem(count) : null;
    if (problem !== null) throw problem;
    return { memory };
  };
  try {
    const outcome = await commitRows(transfer, { writes: [], deleted }, extrasOf);
    transfer.calls.progressed();
    budget.spend(outcome.deleted);
    transfer.report.addDeleted(outcome.deleted);
  } catch (error) {
    if (problem === null || error !== problem) throw error;
  }
  return problem;
}

/** The tombstones, and the number of those that are too far ahead. */
function readTombstones({ run, table }: TableTransfer, items: readonly SentTombstone[]) {
  const limit = aheadLimit(run.deps.clock.nowMs());
  const deleted: TombstoneWrite[] = [];
  for (const [index, { key, deletedAt }] of items.entries()) {
    const member = { key, deleted_at: deletedAt };
    const { tombstone, problem } = convertTombstone(table, member, NO_LIMIT);
    if (tombstone === null) {
      const text = `The remote lists a delete of "${table.name}" that is none: ${problem}`;
      throw new AppError("remote_invalid", text);
    }
    if (convertTombstone(table, member, limit).tombstone !== null) {
      deleted.push({ index, ...tombstone });
    }
  }
  const refused = items.length - deleted.length;
  if (refused > 0) {
    const text = "Deletes of the remote are more than 5 minutes ahead of the clock here";
    run.deps.logger.warn(text, { table: table.name, count: refused });
  }
  return { deleted, refused };
}
