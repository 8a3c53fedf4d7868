// The two ends that a repair writes to, by the code that pulls and pushes. D-7.5, D-7.6.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import { convertPulled } from "../../../domain/sync/rows/convert.ts";
import { keyText, recordKey, rowText } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory, RowVersions, versionOf } from "../../../domain/sync/rows/row-memory.ts";
import { aheadLimit, ranksBelow, rowTimeText } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { KeptReason, KeptRow, KeptRows } from "../../../domain/sync/run/compare-events.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Rejection } from "../../../domain/sync/run/rejections.ts";
import { rowsIn } from "../../../domain/sync/run/run.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type RemoteTable, recordsFrom } from "../shared/remote-table.ts";
import { sendTombstones } from "../transfer/move-deletes.ts";
import type { Transfer } from "../transfer/open-transfer.ts";
import { RecordWriter } from "../transfer/pull-table.ts";
import { isGuarded, sendRows } from "../transfer/push-rows.ts";
import type { TableRejections } from "../transfer/table-rejections.ts";
import { commitRows } from "../transfer/transfer-commits.ts";
import { type QueuedRow, REPAIR_ROWS, RepairEnd } from "./repair.ts";

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

function columnNames({ updateColumns }: Table): readonly string[] {
  return updateColumns.map(({ name }) => name);
}

/** Rows that a repair sent to a remote which does not tell whether it wrote them: they are read again. D-11.10. */
class SentRowsCheck {
  readonly #remote: RemoteTable;
  readonly #sent = new RowVersions();
  /** The earliest time of the rows sent, in microseconds. */
  #earliest = Number.POSITIVE_INFINITY;
  #sampleTime: string | null = null;

  constructor(remote: RemoteTable) {
    this.#remote = remote;
  }

  /** Adds a row that was sent in place of another. Columns that the remote does not show are not compared. */
  add(row: Row, present: JsonObject): void {
    const { table } = this.#remote;
    const shown = convertPulled(table, present).row ?? row;
    const same = Object.keys(shown).map((name) => [name, row[name] ?? null]);
    const version = versionOf(table, row, rowText(table, Object.fromEntries(same)));
    this.#sent.note(version);
    this.#earliest = Math.min(this.#earliest, version.micros);
    this.#sampleTime ??= rowTimeText(table, present);
  }

  /** Resolves to the number of rows that are there now, and adds the others to `kept`. */
  async read(kept: KeptRows): Promise<number> {
    const written = new RowMemory();
    const others = new Map<string, KeptRow>();
    if (this.#sent.size > 0) {
      const pages = recordsFrom(this.#remote, this.#earliest, this.#sampleTime);
      for await (const { records } of pages) {
        for (const record of records) this.#look(record, written, others);
      }
    }
    kept.add([...others.values()], this.#sent.size - written.size);
    return written.size;
  }

  #look(record: JsonObject, written: RowMemory, others: Map<string, KeptRow>): void {
    const { table } = this.#remote;
    const { row } = convertPulled(table, record);
    if (row === null) return;
    const version = versionOf(table, row, rowText(table, row));
    const sent = this.#sent.find(version);
    if (sent === null) return;
    const key = keyText(table, row);
    if (sent.isSame) {
      written.noteHash(version, 1);
      others.delete(key);
    } else if (written.findHash(version).note === 0 && others.size < MAX_COMPARE_EXAMPLES) {
      const reason = sent.micros < version.micros ? "newer" : "update_columns";
      others.set(key, { key: recordKey(table, record), reason });
    }
  }
}
