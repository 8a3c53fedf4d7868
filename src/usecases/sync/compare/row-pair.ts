import type { JsonObject } from "../../../domain/shared/json.ts";
import { rowText } from "../../../domain/sync/rows/row-text.ts";
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
