// A row as both ends have it, how it differs, and rows that a repair left as they were. D-4.10.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { rowText } from "../../../domain/sync/rows/row-text.ts";
import type { KeptRow } from "../../../domain/sync/run/compare-events.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";

/** One row as both ends have it; not both null. */
export interface RowPair {
  readonly here: Row | null;
  /** As the remote sent it. */
  readonly there: JsonObject | null;
}

export type Difference = "different" | "missingHere" | "missingThere";

/** How a pair differs; null when it does not. A column that the remote did not send is not compared. */
export function differenceOf(table: Table, here: Row | null, there: Row | null): Difference | null {
  if (here === null) return "missingHere";
  if (there === null) return "missingThere";
  return rowText(table, here) === rowText(table, { ...here, ...there }) ? null : "different";
}

/** Rows that stayed, and the first of them as far as they are known. */
export interface KeptRows {
  readonly count: number;
  readonly examples: readonly KeptRow[];
}

export const NONE_KEPT: KeptRows = { count: 0, examples: [] };
