import type { FullStorage } from "../../src/ports/storage.ts";
import type { StoreHarness } from "./harness.ts";
import { agreedRowsContract } from "./runs/agreed-rows-contract.ts";
import { droppedRecordsContract } from "./runs/dropped-records-contract.ts";
import { lateRowsContract } from "./tables/late-rows-contract.ts";
import { tableExtrasTests } from "./tables/table-store-extras.ts";
import { tableGuardTests } from "./tables/table-store-guard.ts";
import { tableOutcomeTests } from "./tables/table-store-outcomes.ts";

type Parts = Omit<FullStorage, "ping" | "openReputation">;

/** What two live ends need of a store, each suite resting on those before it. */
export function liveEndsContract(harness: StoreHarness<Parts>): void {
  tableGuardTests(harness);
  tableOutcomeTests(harness);
  agreedRowsContract(harness);
  droppedRecordsContract(harness);
  lateRowsContract(harness);
  tableExtrasTests(harness);
}
