import type { StoreHarness } from "../../harness.ts";
import { stampWriteTests } from "../stamp-writes.ts";
import { tombstoneErasureTests } from "./tombstone-erasure.ts";
import { tombstoneFeedTests } from "./tombstone-feed.ts";
import { tombstoneHistoryTests } from "./tombstone-histories.ts";
import { tombstoneProgramTests } from "./tombstone-programs.ts";
import type { TombstoneParts } from "./tombstone-table.ts";
import { tombstoneWriteTests } from "./tombstone-writes.ts";

/**
 * What every `Tombstones` does, and `TableWrites.write` with them. The store and the programs beside it go by the clock of
 * this machine: `nowMs` is its time.
 */
export function tombstonesContract(harness: StoreHarness<TombstoneParts>): void {
  tombstoneProgramTests(harness);
  tombstoneWriteTests(harness);
  stampWriteTests(harness);
  tombstoneFeedTests(harness);
  tombstoneErasureTests(harness);
  tombstoneHistoryTests(harness);
}
