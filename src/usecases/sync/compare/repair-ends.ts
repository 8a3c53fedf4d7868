// The two ends that a repair writes to: rows in batches, and at last the rows that it removes. D-7.5, D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import { rowText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { aheadLimit, rankTimes } from "../../../domain/sync/rows/time-rank.ts";
import { deletionTime, type Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import { deleteLimit } from "../../../domain/sync/run/delete-limit.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import { isVersioned, type Row, type Table } from "../../../domain/sync/table/table.ts";
import { DeleteBudget } from "../shared/delete-budget.ts";
import { type Handshake, hasExtension } from "../shared/handshake.ts";
import type { RecordWriter } from "../transfer/apply-records.ts";
import type { TableTransfer } from "../transfer/begin-transfer.ts";
import { commitExtras, commitRows } from "../transfer/commit.ts";
import { isGuarded, sendRows } from "../transfer/send-rows.ts";
import { type KeptRows, NONE_KEPT } from "./kept-rows.ts";
import { SentRowsCheck } from "./sent-rows-check.ts";

interface QueuedRow {
  /** As the other end has it. */
  readonly row: JsonObject;
  readonly key: JsonObject;
  /** What it is to replace; null for nothing. */
  readonly present: JsonObject | null;
}

/** Tombstones of one request or commit. */
const REMOVED_TOGETHER = 1_000;
const REPAIR_ROWS = 500;

/** A transfer to an end, and what that rejected before. */
export interface RepairTransfer {
  readonly transfer: TableTransfer;
  readonly writer: RecordWriter;
}

/** What the queue of both ends has in common. */
export abstract class RepairEnd {
  readonly #updated: ReadonlySet<string>;
  protected readonly transfer: TableTransfer;
  /** What an end refuses waits for the next run, as in a run. D-4.10. */
  protected readonly writer: RecordWriter;
  /** Null for the limit of the registry. */
  readonly #maxDeletes: number | null;
  #rows: QueuedRow[] = [];
  readonly #removed: Tombstone[] = [];
  /** Rows that changed so far, or were removed. */
  changed = 0;

  /** `updated` names the columns that a write changes in a row that is there. */
  constructor(
    { transfer, writer }: RepairTransfer,
    updated: readonly string[],
    maxDeletes: number | null,
  ) {
    this.transfer = transfer;
    this.writer = writer;
    this.#updated = new Set(updated);
    this.#maxDeletes = maxDeletes;
  }

  /** False when writing one row over another would leave that as it is, as its end does not update what differs. */
  wouldChange(present: JsonObject, wanted: JsonObject): boolean {
    const { table } = this.transfer;
    const updates = Object.entries(wanted).filter(([name]) => this.#updated.has(name));
    return (
      rowText(table, present) !== rowText(table, { ...present, ...Object.fromEntries(updates) })
    );
  }

  /** True where the end keeps the row that it has, being newer. */
  abstract keeps(present: JsonObject, wanted: JsonObject): boolean;

  queueWrite(row: QueuedRow): void {
    this.#rows.push(row);
  }

  queueRemoval(key: JsonObject, present: Row): void {
    const { run, table } = this.transfer;
    const deletedAt = deletionTime(rowTime(table, present), run.deps.clock.nowMs());
    this.#removed.push({ key, deletedAt });
  }

  /** Writes the rows that wait, and resolves to those that stayed as they were. */
  async writeQueued(): Promise<KeptRows> {
    const rows = this.#rows;
    this.#rows = [];
    return rows.length === 0 ? NONE_KEPT : await this.write(rows);
  }

  /** Finds out what became of rows of which that was not told. Resolves to those that stayed as they were. */
  async settle(): Promise<KeptRows> {
    return NONE_KEPT;
  }

  /** Throws `sync_failed`, before the first one, when there are more than may be removed. */
  async removeQueued(): Promise<void> {
    const { table } = this.transfer;
    const count = this.#removed.length;
    if (count === 0) return;
    const limit = deleteLimit(table, this.#maxDeletes, await this.count());
    const budget = new DeleteBudget(table, this.where, limit);
    if (budget.isExceededBy(count)) throw budget.problem(count);
    for (let from = 0; from < count; from += REMOVED_TOGETHER) {
      this.changed += await this.remove(this.#removed.slice(from, from + REMOVED_TOGETHER));
    }
  }

  protected abstract readonly where: "here" | "there";
  protected abstract write(rows: readonly QueuedRow[]): Promise<KeptRows>;
  protected abstract remove(removed: readonly Tombstone[]): Promise<number>;
  protected abstract count(): Promise<number>;
}

/** Writes what the remote has, to this deployment's store. */
export class RepairHere extends RepairEnd {
  protected readonly where = "here";

  constructor(to: RepairTransfer, maxDeletes: number | null) {
    super(to, columnNames(to.transfer.table), maxDeletes);
  }

  /** The commit decides. */
  keeps(): boolean {
    return false;
  }

  protected async write(rows: readonly QueuedRow[]): Promise<KeptRows> {
    const applied = await this.writer.write(rows.map(({ row }) => row));
    this.changed += applied.changed;
    const keys = new Map(rows.map(({ row, key }) => [row, key]));
    const keyOf = (row: JsonObject) => keys.get(row) ?? {};
    const examples = [
      ...applied.rejected.map(({ record }) => ({ key: keyOf(record), reason: "refused" as const })),
      ...applied.kept.map((record) => ({ key: keyOf(record), reason: "newer" as const })),
    ];
    return { count: examples.length, examples };
  }

  protected async remove(removed: readonly Tombstone[]): Promise<number> {
    const deleted = removed.map((tombstone, index) => ({ index, ...tombstone }));
    return (await commitRows(this.transfer, { writes: [], deleted }, () => ({}))).deleted;
  }

  protected async count(): Promise<number> {
    const { run, table } = this.transfer;
    return await run.deps.tables.count(table);
  }
}

/** Writes what this deployment has, at the remote. */
export class RepairThere extends RepairEnd {
  protected readonly where = "there";
  readonly #size = new BatchSize(REPAIR_ROWS, REPAIR_ROWS);
  /** Null where the remote tells what becomes of rows, by its answers or by how it has the table registered. */
  readonly #check: SentRowsCheck | null;

  constructor(to: RepairTransfer, maxDeletes: number | null) {
    const { handshake, table } = to.transfer;
    const updated = handshake.schema?.updateColumns ?? "__all__";
    super(to, updated === "__all__" ? columnNames(table) : updated, maxDeletes);
    const isTold = isGuarded(to.transfer) || (handshake.schema?.conflict ?? null) !== null;
    this.#check = isTold ? null : new SentRowsCheck(to.transfer);
  }

  keeps(present: JsonObject, wanted: JsonObject): boolean {
    return isGuarded(this.transfer) && this.#isOlder(wanted, present);
  }

  #isOlder(row: JsonObject, present: JsonObject): boolean {
    const { table, handshake } = this.transfer;
    const limit = aheadLimit(dateTimeMs(handshake.clocks.remoteTime));
    return isVersioned(table) && rankTimes(rowTime(table, row), rowTime(table, present), limit) < 0;
  }

  protected async write(rows: readonly QueuedRow[]): Promise<KeptRows> {
    const queued = new Map(rows.map((one) => [one.row, one]));
    const wanted = rows.map(({ row }) => row);
    const sent = await sendRows(this.transfer, this.#size, wanted);
    const { rejections } = this.writer;
    await commitExtras(this.transfer, rejections.extras(sent.rejected, sent.accepted));
    rejections.settle(sent.rejected, sent.accepted);
    this.changed += sent.changed - this.#doubt(sent.accepted, queued);
    const keyOf = (row: JsonObject) => queued.get(row)?.key ?? {};
    // Which ones it kept is not told.
    const kept = sent.kept === sent.accepted.length ? sent.accepted : [];
    const examples = [
      ...sent.rejected.map(({ record }) => ({ key: keyOf(record), reason: "refused" as const })),
      ...kept.map((row) => ({ key: keyOf(row), reason: "newer" as const })),
    ];
    return { count: sent.rejected.length + sent.kept, examples };
  }

  /** Takes up the rows that the remote may not have written, and returns their number. */
  #doubt(accepted: readonly Row[], queued: ReadonlyMap<JsonObject, QueuedRow>): number {
    let count = 0;
    for (const row of accepted) {
      const present = queued.get(row)?.present ?? null;
      if (this.#check === null || present === null) continue;
      // Of a remote that tells its columns only its rule is not known.
      if (this.transfer.handshake.schema !== null && !this.#isOlder(row, present)) continue;
      this.#check.add(row, present);
      count++;
    }
    return count;
  }

  override async settle(): Promise<KeptRows> {
    if (this.#check === null) return NONE_KEPT;
    const { written, kept } = await this.#check.read();
    this.changed += written;
    return kept;
  }

  protected async remove(removed: readonly Tombstone[]): Promise<number> {
    const { run, table, lease, calls } = this.transfer;
    const pushed = await calls.call((signal) => {
      lease.assertHeld();
      return run.remote.peer.pushBatch(table.name, { records: [], deleted: removed, signal });
    });
    return pushed.result.deleted ?? 0;
  }

  protected async count(): Promise<number> {
    const { run, table, calls } = this.transfer;
    const status = await calls.call((signal) => run.remote.peer.readStatus({ signal }));
    return Math.max(0, status.tableCounts[table.name] ?? 0);
  }
}

/** Throws `sync_failed` unless both ends delete rows of the table on request. D-7.6. */
export function requireDeletes(table: Table, handshake: Handshake): void {
  const hint = 'Set "deletes": true for it in the registry there and here';
  if (!table.deletes) {
    throw new AppError("sync_failed", `Rows of "${table.name}" are not deleted here`, { hint });
  }
  if (!hasExtension(handshake, "deletes") || handshake.schema?.deletes !== true) {
    throw new AppError("sync_failed", `The remote deletes no rows of "${table.name}"`, { hint });
  }
}

function columnNames({ updateColumns }: Table): readonly string[] {
  return updateColumns.map(({ name }) => name);
}
