import type { RunStorage } from "../support/run-parts.ts";
import type { StoreHarness } from "./harness.ts";
import { lateRowsContract } from "./tables/late-rows-contract.ts";
import { tableExtrasTests } from "./tables/table-store-extras.ts";
import { tableGuardTests } from "./tables/table-store-guard.ts";
import { tableOutcomeTests } from "./tables/table-store-outcomes.ts";

type Parts = Omit<RunStorage, "ping" | "openReputation">;

/** What two live ends need of a store, each suite resting on those before it. */
export function liveEndsContract(harness: StoreHarness<Parts>): void {
  tableGuardTests(harness);
  tableOutcomeTests(harness);
  lateRowsContract(harness);
  tableExtrasTests(harness);
}
