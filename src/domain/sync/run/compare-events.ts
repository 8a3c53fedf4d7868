// Differences of rows between both ends, and what a comparison tells its watchers. D-4.10, D-9.5.
import type { JsonObject } from "../../shared/json.ts";
import { MAX_COMPARE_EXAMPLES, MAX_SHOWN_ROW_CHARS } from "../../shared/limits.ts";
import { wireName } from "../../shared/wire-names.ts";
import { shownRow } from "../by-hand/shown-rows.ts";
import { rowText } from "../rows/row-key.ts";
import type { Row, Table } from "../table/table.ts";
import type { CompareCounts, CompareRepair, FinishedEvent } from "./run.ts";

/** A row as both ends have it; not both null. */
export interface RowPair {
  readonly here: Row | null;
  /** The row as the remote sent it. */
  readonly there: JsonObject | null;
}

export type Difference = "different" | "missingHere" | "missingThere";

/** The difference of a pair; null when there is none. A column that the remote did not send is not compared. */
export function differenceOf(table: Table, here: Row | null, there: Row | null): Difference | null {
  if (here === null) return "missingHere";
  if (there === null) return "missingThere";
  return rowText(table, here) === rowText(table, { ...here, ...there }) ? null : "different";
}

/**
 * Why a row stayed: its end does not update the columns that differ, refused the row, or has a newer row or a tombstone by now; the
 * versions differ only in columns of the owner (D-8.1); or neither is known to be newer (D-11.9).
 */
export type KeptReason =
  | "update_columns"
  | "refused"
  | "newer"
  | "deletes_unknown"
  | "owner"
  | "no_owner";

export interface KeptRow {
  readonly key: JsonObject;
  readonly reason: KeptReason;
}

/** Rows that stay as they are: their number, and the first of them. */
export class KeptRows {
  count = 0;
  readonly examples: KeptRow[] = [];

  /** `count`: where not all of them are named. */
  add(rows: readonly KeptRow[], count = rows.length): void {
    this.count += count;
    const room = MAX_COMPARE_EXAMPLES - this.examples.length;
    this.examples.push(...rows.slice(0, room));
  }
}

/** Keys of the first rows of each kind. D-4.10. */
export interface CompareExamples {
  readonly different: readonly JsonObject[];
  readonly missingHere: readonly JsonObject[];
  readonly missingThere: readonly JsonObject[];
  /** Rows that stay as they are; only with a repair or where there are any. */
  readonly kept?: readonly KeptRow[];
}

export type CompareEvent =
  | {
      readonly type: "start";
      readonly table: string;
      readonly repair: CompareRepair | null;
      /** Rows of the table here when it began; null when they could not be counted. */
      readonly totalRecords: number | null;
    }
  /** Rows of either end that were looked at so far. */
  | { readonly type: "progress"; readonly rows: number }
  | DifferenceEvent
  | CompareDoneEvent
  /** As in an error of a run. S-6.1. */
  | { readonly type: "error"; readonly table: string; readonly error: string }
  | FinishedEvent;

/** A row as it was found to differ. Only the result counts, as the row may be told again in another state. */
interface DifferenceEvent {
  readonly type: "difference";
  /** The kind as examples name it. */
  readonly kind: "different" | "missing_here" | "missing_there";
  readonly key: JsonObject;
  /** Null at the end that does not have the row. */
  readonly here: JsonObject | null;
  readonly there: JsonObject | null;
}

interface CompareDoneEvent extends CompareCounts {
  readonly type: "done";
  readonly table: string;
  readonly examples: CompareExamples;
}

/** Cuts long values, so that a kept comparison stays small. */
export function differenceEvent(
  difference: Difference,
  key: JsonObject,
  { here, there }: RowPair,
): DifferenceEvent {
  const shown = (row: JsonObject) => shownRow(row, MAX_SHOWN_ROW_CHARS);
  return {
    type: "difference",
    kind: wireName(difference) as DifferenceEvent["kind"],
    key: shown(key),
    here: here && shown(here),
    there: there && shown(there),
  };
}
