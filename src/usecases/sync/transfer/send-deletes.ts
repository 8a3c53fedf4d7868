// Own tombstones go to the remote before rows do. D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { PushResult } from "../../../domain/sync/rows/push-result.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import { deleteLimit } from "../../../domain/sync/run/delete-limit.ts";
import { halves, isTooLarge, isTooMuchAtOnce } from "../../../domain/sync/run/pacing.ts";
import { RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { TombstonePage } from "../../../ports/tables/tombstones.ts";
import { DeleteBudget } from "../shared/delete-budget.ts";
import type { TableTransfer } from "./begin-transfer.ts";
import { commitExtras } from "./commit.ts";
import { listOwn, movedPlace, placeOf, TOMBSTONES_AT_ONCE } from "./delete-places.ts";

/**
 * Sends the tombstones listed since the place kept last, batch by batch, the place behind each acknowledged one. One that
 * the remote refuses counts as a failed record: the next run sends it again, and with it all behind it. Resolves to why
 * they were not sent, when they would delete too many rows there.
 */
export async function sendDeletes(transfer: TableTransfer): Promise<AppError | null> {
  const { run, table, handshake, report } = transfer;
  const start = placeOf(transfer, "push")?.cursor ?? null;
  // Before the first read: a place is no younger than this.
  const givenAt = formatMs(run.deps.clock.nowMs());
  const pending = await run.deps.tombstones.countAfter(table, start);
  const limit = deleteLimit(table, run.maxDeletes, handshake.countThere ?? 0);
  const budget = new DeleteBudget(table, "there", limit);
  if (pending > limit || run.isDryRun) {
    const removable = await countRemovable(transfer, start, pending);
    if (run.isDryRun) report.addDeleted(removable);
    if (budget.isExceededBy(removable)) return budget.problem(removable);
  }
  if (run.isDryRun) return null;
  let isRefused = false;
  let cursor = start;
  for await (const page of ownPages(transfer, start, pending)) {
    const count = page.items.length;
    const removable = budget.isExceededBy(count) ? await ask(transfer, page.items) : 0;
    if (budget.isExceededBy(removable)) return budget.problem(removable);
    const { deleted, errorCount } = await push(transfer, page.items, false);
    budget.spend(deleted);
    report.addDeleted(deleted);
    report.addRejected(errorCount);
    isRefused ||= errorCount > 0;
    if (isRefused) continue;
    ({ cursor } = page);
    await commitExtras(transfer, { memory: movedPlace(transfer, cursor, givenAt) });
  }
  if (pending === 0) {
    await commitExtras(transfer, { memory: movedPlace(transfer, cursor, givenAt) });
  }
  return null;
}

/** The number of rows there that own tombstones would remove. */
async function countRemovable(
  transfer: TableTransfer,
  start: string | null,
  pending: number,
): Promise<number> {
  let removable = 0;
  for await (const page of ownPages(transfer, start, pending)) {
    removable += await ask(transfer, page.items);
  }
  return removable;
}

/** Own tombstones after a place, about as many as there were when they were counted. */
async function* ownPages(
  transfer: TableTransfer,
  start: string | null,
  count: number,
): AsyncGenerator<TombstonePage, void, undefined> {
  let after = start;
  for (let read = 0; read < count; ) {
    const { address, learned } = transfer.run.remote;
    const limit = learned.rowsOf(address, transfer.table.name, TOMBSTONES_AT_ONCE);
    const page = await listOwn(transfer, after, limit);
    if (page.items.length === 0) return;
    yield page;
    read += page.items.length;
    after = page.cursor;
    if (!page.hasMore) return;
  }
}

async function ask(transfer: TableTransfer, tombstones: readonly Tombstone[]): Promise<number> {
  return (await push(transfer, tombstones, true)).deleted;
}

interface SentTombstones {
  /** Rows removed there, or that would be. */
  readonly deleted: number;
  readonly errorCount: number;
}

/** Sends tombstones, or asks about them; those that are too much at once are halved. */
async function push(
  transfer: TableTransfer,
  tombstones: readonly Tombstone[],
  isDryRun: boolean,
): Promise<SentTombstones> {
  const result = await pushAtOnce(transfer, tombstones, isDryRun);
  if (result !== null) return result;
  const { run, table } = transfer;
  if (tombstones.length === 1) {
    run.deps.logger.warn("The remote takes no push with this tombstone", { table: table.name });
    return { deleted: 0, errorCount: 1 };
  }
  const [first, second] = halves(tombstones);
  const before = await push(transfer, first, isDryRun);
  const after = await push(transfer, second, isDryRun);
  return {
    deleted: before.deleted + after.deleted,
    errorCount: before.errorCount + after.errorCount,
  };
}

/** Null when they are too much at once. */
async function pushAtOnce(
  { run, table, lease, calls, report }: TableTransfer,
  tombstones: readonly Tombstone[],
  isDeletesDryRun: boolean,
): Promise<SentTombstones | null> {
  const { peer, address, learned } = run.remote;
  const sent = { records: [], deleted: tombstones, isDeletesDryRun, syncTimestamp: run.startedAt };
  const send = (signal: AbortSignal) => {
    lease.assertHeld();
    return peer.pushBatch(table.name, { ...sent, signal });
  };
  try {
    const pushed = await calls.call(send, tombstones.length === 1 ? isTooLarge : isTooMuchAtOnce);
    report.addBytes(pushed);
    checkResult(pushed.result, tombstones.length);
    const { deleted = 0, errors = [], errorCount = 0 } = pushed.result;
    if (errorCount > 0) {
      const fields = { table: table.name, count: errorCount, first: errors[0] ?? "" };
      run.deps.logger.warn("The remote refused tombstones", fields);
    }
    return { deleted, errorCount };
  } catch (error) {
    if (!(error instanceof RemotePeerError)) throw error;
    if (isTooLarge(error)) learned.learn(address, table.name, tombstones.length);
    return null;
  }
}

/** A reply that does not account for them, or proves no integrity, is no acknowledgement. */
function checkResult(result: PushResult, sent: number): void {
  const { error, integrity, deleted, errorCount = 0 } = result;
  const isTold = error === undefined && deleted !== undefined && deleted + errorCount <= sent;
  if (isTold && integrity === "verified") return;
  const reason = error === undefined ? "" : `: ${error}`;
  const text = `The remote does not tell what became of ${sent} tombstones${reason}`;
  throw new AppError("remote_invalid", text);
}
