// The repair of rows in which two ends differ: the direction of each, and the results. D-4.10, D-7.5, D-7.6.
import { assert } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { rowText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, FIRST_STAMP, rankTimes, rowTime } from "../../../domain/sync/rows/row-time.ts";
import {
  type KeptReason,
  KeptRows,
  type RowPair,
} from "../../../domain/sync/run/compare-events.ts";
import type { CompareRepair } from "../../../domain/sync/run/run.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { REPAIR_ROWS, type RepairEnd } from "./repair-ends.ts";

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
  readonly #kept = new KeptRows();

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
    else if (target !== null) this.#kept.add([{ key, reason: target }]);
    if (this.#waiting >= REPAIR_ROWS) await this.#flush();
  }

  /**
   * Resolves to the number of rows changed or removed, and adds those that stayed to `kept`. Throws `sync_failed` when more would be
   * removed than allowed.
   */
  async finish(kept: KeptRows): Promise<number> {
    await this.#flush();
    let repaired = 0;
    for (const end of this.#ends) {
      await end.settle(this.#kept);
      await end.removeQueued();
      repaired += end.changed;
    }
    kept.add(this.#kept.examples, this.#kept.count);
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
      this.#kept.add([{ key, reason: "update_columns" }]);
    } else if (present !== null && end.keeps(present, wanted)) {
      this.#kept.add([{ key, reason: "newer" }]);
    } else {
      end.queueWrite({ row: wanted, key, present });
      this.#waiting++;
    }
  }

  async #flush(): Promise<void> {
    this.#waiting = 0;
    for (const end of this.#ends) await end.writeQueued(this.#kept);
  }
}
