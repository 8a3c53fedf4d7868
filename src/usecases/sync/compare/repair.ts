// The repair of rows in which two ends differ: the direction of each, what waits for an end, and the results. D-4.10, D-7.5, D-7.6.
import { assert } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { rowText } from "../../../domain/sync/rows/row-key.ts";
import {
  aheadLimit,
  changeTime,
  FIRST_STAMP,
  rankTimes,
  rowTime,
} from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import {
  type KeptReason,
  KeptRows,
  type RowPair,
} from "../../../domain/sync/run/compare-events.ts";
import { deleteLimit } from "../../../domain/sync/run/remote-memory.ts";
import type { CompareRepair } from "../../../domain/sync/run/run.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import { DeleteBudget } from "../pages/delete-rows.ts";
import { TOMBSTONES_AT_ONCE } from "../transfer/delete-places.ts";
import type { Transfer } from "../transfer/open-transfer.ts";

/** Rows of one batch. */
export const REPAIR_ROWS = 500;

interface RepairPlan {
  readonly repair: CompareRepair;
  /** Removes rows that only the repaired end has. Not with `newest`. */
  readonly deletes: boolean;
  /** False when deletes may have been missed: then `newest` copies no missing rows. D-7.6. */
  readonly copiesMissing: boolean;
  /** False when nothing tells the newer of two rows: then `newest` changes nothing. D-11.9. */
  readonly ranksRows: boolean;
}

export class Repair {
  readonly #table: Table;
  readonly #plan: RepairPlan;
  readonly #ends: readonly RepairEnd[];
  readonly #aheadLimit: string;
  #waiting = 0;
  /** Rows that stay as they are. */
  readonly kept = new KeptRows();

  constructor(table: Table, plan: RepairPlan, ends: readonly RepairEnd[], nowMs: number) {
    this.#table = table;
    this.#plan = plan;
    this.#ends = ends;
    this.#aheadLimit = aheadLimit(nowMs);
  }

  /** True where the remote is made like this end. */
  get isPush(): boolean {
    return this.#plan.repair === "push";
  }

  /** `key` has the key columns. */
  async add(pair: RowPair, key: JsonObject): Promise<void> {
    const target = this.#targetOf(pair);
    if (target === "here" || target === "there") this.#enqueue(target, pair, key);
    else if (target !== null) this.kept.add([{ key, reason: target }]);
    if (this.#waiting >= REPAIR_ROWS) await this.#flush();
  }

  /** Resolves to the number of rows changed or removed. Throws `sync_failed` when more would be removed than allowed. */
  async finish(): Promise<number> {
    await this.#flush();
    let repaired = 0;
    for (const end of this.#ends) {
      await end.settle(this.kept);
      await end.removeQueued();
      repaired += end.changed;
    }
    return repaired;
  }

  /** The end that gets the other's row, or loses its own; null for neither, or why both stay. */
  #targetOf({ here, there }: RowPair): "here" | "there" | KeptReason | null {
    const { repair, deletes, copiesMissing, ranksRows } = this.#plan;
    if (repair === "push") return here !== null || deletes ? "there" : null;
    if (repair === "pull") return there !== null || deletes ? "here" : null;
    if (!ranksRows) return "no_owner";
    if (here !== null && there !== null) return this.#olderOf(here, there);
    if (!copiesMissing) return "deletes_unknown";
    return here === null ? "here" : "there";
  }

  /** The end with the older row, or why that is unknown; at equal times with the smaller text, so that both ends decide alike. */
  #olderOf(here: Row, there: JsonObject): "here" | "there" | KeptReason {
    const table = this.#table;
    const sent = convertRecord(table, { ...here, ...there }).row ?? there;
    const order = rankTimes(rowTime(table, here), rowTime(table, sent), this.#aheadLimit);
    if (order !== 0) return order < 0 ? "here" : "there";
    if (table.stamped && rowTime(table, here) === FIRST_STAMP) return "no_owner";
    return rowText(table, here) < rowText(table, { ...here, ...sent }) ? "here" : "there";
  }

  #enqueue(target: "here" | "there", pair: RowPair, key: JsonObject): void {
    const end = this.#ends.find(({ where }) => where === target);
    assert(end !== undefined, "A repair writes only to the ends that it holds the leases of");
    const wanted = target === "here" ? pair.there : pair.here;
    const present = target === "here" ? pair.here : pair.there;
    if (wanted === null) end.queueRemoval(key, present as Row);
    else if (present !== null && !end.wouldChange(present, wanted)) {
      this.kept.add([{ key, reason: "update_columns" }]);
    } else if (present !== null && end.keeps(present, wanted)) {
      this.kept.add([{ key, reason: "newer" }]);
    } else {
      end.queueWrite({ row: wanted, key, present });
      this.#waiting++;
    }
  }

  async #flush(): Promise<void> {
    this.#waiting = 0;
    for (const end of this.#ends) await end.writeQueued(this.kept);
  }
}

export interface QueuedRow {
  /** The row of the other end. */
  readonly row: JsonObject;
  readonly key: JsonObject;
  /** The row that it replaces; null where there is none. */
  readonly present: JsonObject | null;
}

/** An end that a repair writes to: rows in batches, removals at the end. */
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
