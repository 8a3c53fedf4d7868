// Records of one table and direction that one end rejected: noted durably, tried again by the next run. D-4.6.

import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_RECORD_MESSAGE_CHARS, MAX_REJECTIONS_PER_RUN } from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/shared/text.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText, rowText } from "../../../domain/sync/rows/row-text.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { RejectedRecord } from "../../../ports/runs/rejected-records.ts";
import type { RemoteTable } from "../shared/run-context.ts";
import type { TableTransfer } from "./begin-transfer.ts";

export interface Rejection {
  /** As it was pulled, or the row that was pushed. */
  readonly record: JsonObject;
  readonly message: string;
}

const LIST_ROWS = 1_000;
/** Notes of keys: one that waits, and one that this transfer has tried. */
const WAITING = 1;
const TRIED = 2;

export class TableRejections {
  /** Those that earlier runs left, the oldest first. */
  readonly waiting: readonly RejectedRecord[];
  readonly #transfer: TableTransfer;
  readonly #known = new RowMemory();
  #rejections = 0;

  private constructor(transfer: TableTransfer, waiting: readonly RejectedRecord[]) {
    this.#transfer = transfer;
    this.waiting = waiting;
    for (const { key } of waiting) {
      this.#known.note({ key: keyText(transfer.table, key) }, WAITING);
    }
  }

  static async open(transfer: TableTransfer): Promise<TableRejections> {
    return new TableRejections(transfer, await readWaiting(transfer, transfer.direction));
  }

  /** True when this transfer has tried the record already, with the same content. */
  hasTried(record: JsonObject): boolean {
    if (this.#known.size === 0) return false;
    const { note, isSame } = this.#known.find(this.#rowOf(record));
    return note === TRIED && isSame;
  }

  /** Notes rejections durably. Throws `sync_failed` when there are too many. */
  async note(rejections: readonly Rejection[]): Promise<void> {
    if (rejections.length === 0) return;
    const { run, table, direction } = this.#transfer;
    this.#rejections += rejections.length;
    const lastAtMs = run.deps.clock.nowMs();
    for (const { record } of rejections) this.#known.note(this.#rowOf(record), TRIED);
    await run.deps.rejected.note(
      rejections.map(({ record, message }) => ({
        table: table.name,
        direction,
        key: rowKey(table, record).columns,
        record: direction === "pull" ? record : null,
        message: cutText(message, MAX_RECORD_MESSAGE_CHARS),
        lastAtMs,
      })),
    );
    if (this.#rejections <= MAX_REJECTIONS_PER_RUN) return;
    const whose = direction === "push" ? "The remote refuses" : "This deployment refuses";
    const last = rejections.at(-1)?.message ?? "";
    const text = `${whose} too many records of "${table.name}"; the last one: ${last}`;
    throw new AppError("sync_failed", text);
  }

  async accept(records: readonly JsonObject[]): Promise<void> {
    if (this.#known.size === 0) return;
    const { run, table, direction } = this.#transfer;
    const cleared = records.filter((record) => {
      const row = this.#rowOf(record);
      const isKnown = this.#known.find(row).note > 0;
      if (isKnown) this.#known.note(row, TRIED);
      return isKnown;
    });
    if (cleared.length === 0) return;
    const keys = cleared.map((record) => rowKey(table, record).columns);
    await run.deps.rejected.clear(table.name, direction, keys);
  }

  #rowOf(record: JsonObject) {
    const { table, direction } = this.#transfer;
    return {
      key: rowKey(table, record).text,
      content: direction === "push" ? rowText(table, record) : JSON.stringify(record),
    };
  }
}

/** The rejected records of a table that earlier runs left, the oldest first. */
export async function readWaiting(
  { run, table }: RemoteTable,
  direction: SyncDirection,
): Promise<RejectedRecord[]> {
  const waiting: RejectedRecord[] = [];
  for (let beforeId: string | null = null; waiting.length < MAX_REJECTIONS_PER_RUN; ) {
    const query = { table: table.name, direction, limit: LIST_ROWS, beforeId };
    const listed: readonly RejectedRecord[] = await run.deps.rejected.list(query);
    waiting.push(...listed);
    if (listed.length < LIST_ROWS) break;
    beforeId = listed.at(-1)?.id ?? null;
  }
  return waiting.reverse();
}
