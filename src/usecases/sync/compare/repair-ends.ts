// The two ends that a repair writes to: rows in batches, removals at the end. D-7.5, D-7.6.
import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import { rowText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, changeTime, ranksBelow, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { KeptReason, KeptRow, KeptRows } from "../../../domain/sync/run/compare-events.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Rejection } from "../../../domain/sync/run/rejections.ts";
import { deleteLimit } from "../../../domain/sync/run/remote-memory.ts";
import { rowsIn } from "../../../domain/sync/run/run.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { DeleteBudget, doDeletesTravel, TOMBSTONES_AT_ONCE } from "../transfer/delete-places.ts";
import { sendTombstones } from "../transfer/move-deletes.ts";
import { isGuarded, sendRows } from "../transfer/push-rows.ts";
import type { Handshake } from "../transfer/remote-check.ts";
import type { TableRejections } from "../transfer/table-rejections.ts";
import { commitRows, type Transfer } from "../transfer/transfer.ts";
import { RecordWriter } from "../transfer/write-records.ts";
import { SentRowsCheck } from "./sent-rows-check.ts";

interface QueuedRow {
  /** The row of the other end. */
  readonly row: JsonObject;
  readonly key: JsonObject;
  /** The row that it replaces; null where there is none. */
  readonly present: JsonObject | null;
}

/** Rows of one batch. */
export const REPAIR_ROWS = 500;

export abstract class RepairEnd {
  readonly #updated: ReadonlySet<string>;
  protected readonly transfer: Transfer;
  #rows: QueuedRow[] = [];
  /** Keys and times of the rows to remove. */
  readonly #removed: (readonly [key: JsonObject, time: string | null])[] = [];
  /** Rows changed or removed so far. */
  changed = 0;

  /** `updated`: the columns that a write changes in an existing row. */
  constructor(transfer: Transfer, updated: readonly string[]) {
    this.transfer = transfer;
    this.#updated = new Set(updated);
  }

  /** False when a write would change nothing, as the end does not update the columns that differ. */
  wouldChange(present: JsonObject, wanted: JsonObject): boolean {
    const { table } = this.transfer;
    const updates = Object.entries(wanted).filter(([name]) => this.#updated.has(name));
    return (
      rowText(table, present) !== rowText(table, { ...present, ...Object.fromEntries(updates) })
    );
  }

  abstract readonly where: "here" | "there";

  /** True where the end keeps its own row as newer. */
  abstract keeps(present: JsonObject, wanted: JsonObject): boolean;

  queueWrite(row: QueuedRow): void {
    this.#rows.push(row);
  }

  queueRemoval(key: JsonObject, present: Row): void {
    this.#removed.push([key, rowTime(this.transfer.table, present)]);
  }

  /** Writes the rows that wait, and adds those that stayed as they were to `kept`. */
  async writeQueued(kept: KeptRows): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    if (rows.length > 0) await this.write(rows, kept);
  }

  /** Finds out which rows were written, where the end does not tell, and adds those that stayed as they were to `kept`. */
  async settle(_kept: KeptRows): Promise<void> {}

  /** Throws `sync_failed` before the first removal when there are more than allowed. */
  async removeQueued(): Promise<void> {
    const { deps, run, table } = this.transfer;
    const count = this.#removed.length;
    if (count === 0) return;
    const limit = deleteLimit(table, run.maxDeletes, await this.count());
    new DeleteBudget(table, this.where, limit).require(count);
    const nowMs = await storeNowMs(deps.documents);
    for (let from = 0; from < count; from += TOMBSTONES_AT_ONCE) {
      const part = this.#removed.slice(from, from + TOMBSTONES_AT_ONCE);
      this.changed += await this.remove(
        part.map(([key, time]) => ({ key, deletedAt: changeTime(time, nowMs) })),
      );
    }
  }

  protected abstract write(rows: readonly QueuedRow[], kept: KeptRows): Promise<void>;
  protected abstract remove(removed: readonly Tombstone[]): Promise<number>;
  protected abstract count(): Promise<number>;
}

/** Writes rows of the remote to the store here. */
export class RepairHere extends RepairEnd {
  readonly where = "here";
  readonly #writer: RecordWriter;

  constructor(transfer: Transfer, rejections: TableRejections) {
    super(transfer, columnNames(transfer.table));
    this.#writer = new RecordWriter(transfer, rejections);
  }

  /** The commit decides. */
  keeps(): boolean {
    return false;
  }

  protected async write(rows: readonly QueuedRow[], kept: KeptRows): Promise<void> {
    const applied = await this.#writer.write(rows.map(({ row }) => row));
    this.changed += applied.changed;
    kept.add(stayed(rows, applied.rejected, applied.stayed));
  }

  protected async remove(removed: readonly Tombstone[]): Promise<number> {
    const deleted = removed.map((tombstone, index) => ({ index, ...tombstone }));
    return (await commitRows(this.transfer, { writes: [], deleted })).deleted;
  }

  protected async count(): Promise<number> {
    const { deps, table } = this.transfer;
    return await deps.tables.count(table);
  }
}

/** Writes rows of this deployment to the remote. */
export class RepairThere extends RepairEnd {
  readonly where = "there";
  readonly #size = new BatchSize(REPAIR_ROWS, REPAIR_ROWS);
  readonly #rejections: TableRejections;
  /** Null where the remote's answers or its schema tell which rows it writes. */
  readonly #check: SentRowsCheck | null;

  constructor(transfer: Transfer, rejections: TableRejections) {
    const { handshake, remote, table } = transfer;
    const updated = handshake.schema?.updateColumns ?? "__all__";
    super(transfer, updated === "__all__" ? columnNames(table) : updated);
    this.#rejections = rejections;
    const isTold = isGuarded(transfer) || (handshake.schema?.conflict ?? null) !== null;
    this.#check = isTold ? null : new SentRowsCheck(remote);
  }

  keeps(present: JsonObject, wanted: JsonObject): boolean {
    return isGuarded(this.transfer) && this.#isOlder(wanted, present);
  }

  #isOlder(row: JsonObject, present: JsonObject): boolean {
    const { table, handshake } = this.transfer;
    const limit = aheadLimit(dateTimeMs(handshake.clocks.remoteTime));
    return ranksBelow(table, present, row, limit);
  }

  protected async write(rows: readonly QueuedRow[], kept: KeptRows): Promise<void> {
    const wanted = rows.map(({ row }) => row);
    const sent = await sendRows(this.transfer, this.#size, wanted);
    await this.#rejections.commit(sent.rejected, sent.accepted);
    this.changed += sent.changed - this.#doubt(sent.accepted, rows);
    // The remote tells how many rows it kept, not which.
    const newer = sent.kept === sent.accepted.length ? sent.accepted : [];
    kept.add(stayed(rows, sent.rejected, newer), sent.rejected.length + sent.kept);
  }

  /** Adds the rows that the remote may not have written, and returns their number. */
  #doubt(accepted: readonly Row[], rows: readonly QueuedRow[]): number {
    if (this.#check === null) return 0;
    const replaced = new Map(rows.map(({ row, present }) => [row, present]));
    let count = 0;
    for (const row of accepted) {
      const present = replaced.get(row) ?? null;
      if (present === null) continue;
      // A remote that tells its columns leaves only the conflict rule unknown.
      if (this.transfer.handshake.schema !== null && !this.#isOlder(row, present)) continue;
      this.#check.add(row, present);
      count++;
    }
    return count;
  }

  override async settle(kept: KeptRows): Promise<void> {
    this.changed += (await this.#check?.read(kept)) ?? 0;
  }

  protected async remove(removed: readonly Tombstone[]): Promise<number> {
    return (await sendTombstones(this.transfer, removed, false)).deleted;
  }

  protected async count(): Promise<number> {
    const { table, remote } = this.transfer;
    return rowsIn((await remote.readStatus()).tableCounts, table.name) ?? 0;
  }
}

/** Rows that an end left as they are, refused or kept as newer. */
function stayed(
  queued: readonly QueuedRow[],
  rejected: readonly Rejection[],
  newer: readonly JsonObject[],
): KeptRow[] {
  const keys = new Map(queued.map(({ row, key }) => [row, key]));
  const keptAs = (reason: KeptReason) => (row: JsonObject) => ({
    key: keys.get(row) ?? {},
    reason,
  });
  const refused = rejected.map(({ record }) => record);
  return [...refused.map(keptAs("refused")), ...newer.map(keptAs("newer"))];
}

/** Throws `sync_failed` unless both ends delete rows of the table on request. D-7.6. */
export function requireDeletesAtBoth(table: Table, handshake: Handshake): void {
  const hint = 'Set "deletes": true for it in the registry there and here';
  if (!table.deletes) {
    throw new AppError("sync_failed", `Rows of "${table.name}" are not deleted here`, { hint });
  }
  if (!doDeletesTravel(table, handshake)) {
    throw new AppError("sync_failed", `The remote deletes no rows of "${table.name}"`, { hint });
  }
}

function columnNames({ updateColumns }: Table): readonly string[] {
  return updateColumns.map(({ name }) => name);
}
