// What a comparison finds, and what it does about it. D-4.10.

import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { rowText } from "../../../domain/sync/rows/row-text.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { applyRecords } from "../transfer/apply-records.ts";
import type { RefusalBook } from "../transfer/refusal-book.ts";
import { sendRows } from "../transfer/send-rows.ts";
import type { Transfer } from "../transfer/transfer.ts";

/** How a row differs between the two ends. */
export type Difference = "different" | "missingHere" | "missingThere";

/** The result of a comparison. D-4.10. */
export interface CompareResult {
  readonly matched: number;
  readonly different: number;
  readonly missingHere: number;
  readonly missingThere: number;
  /** Keys of the first rows of each kind. */
  readonly examples: Readonly<Record<Difference, readonly JsonObject[]>>;
  /** Rows written by the repair; only with one. */
  readonly repaired?: number;
}

/** One row as both ends have it; not both null. */
export interface RowPair {
  readonly here: Row | null;
  /** As the remote sent it. */
  readonly there: JsonObject | null;
}

/** Counts what a comparison finds, and repairs it where that is asked. */
export interface Findings {
  match(rows: number): void;
  /** Takes back a row that was counted, as it has come again in another state. */
  takeBack(as: Difference | "matched", key: JsonObject): void;
  /** Counts a row that differs; `key` has its key columns. */
  differ(difference: Difference, found: RowPair & { readonly key: JsonObject }): Promise<void>;
  /** Finishes the repair. */
  finish(): Promise<CompareResult>;
}

/** A repair under way. */
export interface Repair {
  readonly transfer: Transfer;
  readonly refusals: RefusalBook;
}

/** Rows that are repaired together. */
const REPAIR_ROWS = 500;

/** How a pair differs; null when it does not. A column that the remote did not send is not compared. */
export function differenceOf(table: Table, here: Row | null, there: Row | null): Difference | null {
  if (here === null) return "missingHere";
  if (there === null) return "missingThere";
  return rowText(table, here) === rowText(table, { ...here, ...there }) ? null : "different";
}

/** Starts counting. `repair` is null when nothing is to be changed. */
export function startFindings(repair: Repair | null): Findings {
  const counts = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
  const examples = startExamples();
  let waiting: RowPair[] = [];
  let repaired = 0;
  const size = new BatchSize(REPAIR_ROWS, REPAIR_ROWS);

  async function repairWaiting({ transfer, refusals }: Repair): Promise<void> {
    const pairs = waiting;
    waiting = [];
    if (transfer.direction === "pull") {
      const records = pairs.flatMap(({ there }) => (there === null ? [] : [there]));
      if (records.length === 0) return;
      const arrival = { records, markers: new Map() };
      repaired += records.length - (await applyRecords(transfer, refusals, arrival));
      return;
    }
    const rows = pairs.flatMap(({ here }) => (here === null ? [] : [here]));
    const { accepted, refused } = await sendRows(transfer, size, rows);
    await refusals.note(refused);
    await refusals.accept(accepted);
    repaired += accepted.length;
  }

  return {
    match(rows) {
      counts.matched += rows;
    },
    takeBack(as, key) {
      counts[as]--;
      if (as !== "matched") examples.takeBack(as, key);
    },
    async differ(difference, { here, there, key }) {
      counts[difference]++;
      examples.add(difference, key);
      if (repair === null) return;
      waiting.push({ here, there });
      if (waiting.length >= REPAIR_ROWS) await repairWaiting(repair);
    },
    async finish() {
      if (repair === null) return { ...counts, examples: examples.all };
      await repairWaiting(repair);
      return { ...counts, examples: examples.all, repaired };
    },
  };
}

function startExamples() {
  const all: Record<Difference, JsonObject[]> = {
    different: [],
    missingHere: [],
    missingThere: [],
  };
  return {
    all,
    add(difference: Difference, key: JsonObject) {
      if (all[difference].length < MAX_COMPARE_EXAMPLES) all[difference].push(key);
    },
    takeBack(difference: Difference, key: JsonObject) {
      const text = JSON.stringify(key);
      all[difference] = all[difference].filter((other) => JSON.stringify(other) !== text);
    },
  };
}
