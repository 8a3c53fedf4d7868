import type { StoreHarness } from "../harness.ts";
import { rowHistoryTests } from "./row-source-histories.ts";
import { type RowParts, rowReadingTests } from "./row-source-reading.ts";

/** What every `RowSource` does. */
export function rowSourceContract(harness: StoreHarness<RowParts>): void {
  rowReadingTests(harness);
  rowHistoryTests(harness);
}
