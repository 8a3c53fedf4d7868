import type { RunStorage } from "../support/run-parts.ts";
import type { StoreHarness } from "./harness.ts";
import { liveEndsContract } from "./live-ends-contract.ts";
import { tableMarkerTests } from "./tables/table-store-markers.ts";

/** The stores that sync runs need. */
export type RunAndSignInParts = Omit<RunStorage, "ping">;

/** What every `RunStorage` does beside `storageContract`: what sync runs need. */
export function fullStorageContract(harness: StoreHarness<RunAndSignInParts>): void {
  tableMarkerTests(harness);
  liveEndsContract(harness);
}
