import type { StoreHarness } from "../../harness.ts";
import { readingCursorTests } from "./reading-cursors.ts";
import { readingDirectionTests } from "./reading-directions.ts";
import { readingHistoryTests } from "./reading-histories.ts";
import { readingKeyTests } from "./reading-keys.ts";
import { readingOffsetTests } from "./reading-offsets.ts";
import { readingOrderTests } from "./reading-order.ts";
import { readingPositionTests } from "./reading-positions.ts";
import { readingRowTests } from "./reading-rows.ts";
import { readingSinceTests } from "./reading-since.ts";
import type { ReadingParts } from "./reading-ways.ts";

/** How every `TableStore` reads. */
export function readingContract(harness: StoreHarness<ReadingParts>): void {
  readingOrderTests(harness);
  readingSinceTests(harness);
  readingOffsetTests(harness);
  readingCursorTests(harness);
  readingDirectionTests(harness);
  readingPositionTests(harness);
  readingKeyTests(harness);
  readingRowTests(harness);
  readingHistoryTests(harness);
}
