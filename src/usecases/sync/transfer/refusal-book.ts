// Records that one end refused: what a transfer knows of them, so that none is lost and none is tried twice. D-4.6.

import { AppError } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_RECORD_MESSAGE_CHARS, MAX_REFUSALS_PER_RUN } from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/sync/rows/push-result.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory } from "../../../domain/sync/rows/row-memory.ts";
import { keyText, rowText } from "../../../domain/sync/rows/row-text.ts";
import type { SyncDirection } from "../../../domain/sync/run/marker.ts";
import type { RejectedRecord } from "../../../ports/runs/rejected-records.ts";
import type { Transfer } from "./transfer.ts";

/** A record that was refused. */
export interface RefusedRecord {
  /** As it was pulled, or the row that was pushed. */
  readonly record: JsonObject;
  readonly message: string;
}

/** The refused records of one table and direction. */
export interface RefusalBook {
  /** Those that earlier runs left, the oldest first. */
  readonly waiting: readonly RejectedRecord[];
  /** True when this transfer has tried the record already, with the same content. */
  hasTried(record: JsonObject): boolean;
  /** Notes refusals durably. Throws `sync_failed` when there are too many. */
  note(refused: readonly RefusedRecord[]): Promise<void>;
  /** Drops what was noted of records that have been accepted. */
  accept(records: readonly JsonObject[]): Promise<void>;
}

const LIST_ROWS = 1_000;
/** Notes of `tried`: a key that waits, and one that this transfer has tried. */
const WAITING = 1;
const TRIED = 2;

/** Reads what earlier runs left. */
export async function openRefusals(transfer: Transfer): Promise<RefusalBook> {
  const { deps, table, direction } = transfer;
  const waiting = await readWaiting(transfer, direction);
  const known = new RowMemory();
  for (const { key } of waiting) known.note({ key: keyText(table, key) }, WAITING);
  let refusals = 0;

  const rowOf = (record: JsonObject) => ({
    key: rowKey(table, record).text,
    content: direction === "push" ? rowText(table, record) : JSON.stringify(record),
  });

  return {
    waiting,
    hasTried(record) {
      if (known.size === 0) return false;
      const { note, isSame } = known.find(rowOf(record));
      return note === TRIED && isSame;
    },
    async note(refused) {
      if (refused.length === 0) return;
      refusals += refused.length;
      const lastAtMs = deps.clock.nowMs();
      for (const { record } of refused) known.note(rowOf(record), TRIED);
      await deps.rejected.note(
        refused.map(({ record, message }) => ({
          table: table.name,
          direction,
          key: rowKey(table, record).columns,
          record: direction === "pull" ? record : null,
          message: cutText(message, MAX_RECORD_MESSAGE_CHARS),
          lastAtMs,
        })),
      );
      if (refusals > MAX_REFUSALS_PER_RUN) throw tooMany(transfer, refused.at(-1)?.message ?? "");
    },
    async accept(records) {
      if (known.size === 0) return;
      const cleared = records.filter((record) => {
        const row = rowOf(record);
        const isKnown = known.find(row).note > 0;
        if (isKnown) known.note(row, TRIED);
        return isKnown;
      });
      if (cleared.length === 0) return;
      const keys = cleared.map((record) => rowKey(table, record).columns);
      await deps.rejected.clear(table.name, direction, keys);
    },
  };
}

/** The records of a transfer's table that earlier runs left, the oldest first. */
export async function readWaiting(
  { deps, table }: Pick<Transfer, "deps" | "table">,
  direction: SyncDirection,
): Promise<RejectedRecord[]> {
  const waiting: RejectedRecord[] = [];
  const query = { table: table.name, direction, limit: LIST_ROWS };
  for (let beforeId: string | null = null; waiting.length < MAX_REFUSALS_PER_RUN; ) {
    const listed: readonly RejectedRecord[] = await deps.rejected.list({ ...query, beforeId });
    waiting.push(...listed);
    if (listed.length < LIST_ROWS) break;
    beforeId = listed.at(-1)?.id ?? null;
  }
  return waiting.reverse();
}

function tooMany({ table, direction }: Transfer, message: string): AppError {
  const whose = direction === "push" ? "The remote refuses" : "This deployment refuses";
  const text = `${whose} too many records of "${table.name}"; the last one: ${message}`;
  return new AppError("sync_failed", text);
}
