import type { RunStorage } from "../support/run-parts.ts";
import { accountStoreContract } from "./accounts/account-store-contract.ts";
import type { StoreHarness } from "./harness.ts";
import { liveEndsContract } from "./live-ends-contract.ts";
import { rowSourceContract } from "./tables/row-source-contract.ts";
import { tableMarkerTests } from "./tables/table-store-markers.ts";

/** The stores that sync runs and sign-in need. */
export type RunAndSignInParts = Omit<RunStorage, "ping" | "openReputation">;

/** What every `RunStorage` does beside `storageContract`: what sync runs and sign-in need. */
export function fullStorageContract(harness: StoreHarness<RunAndSignInParts>): void {
  tableMarkerTests(harness);
  liveEndsContract(harness);
  rowSourceContract(harness);
  accountStoreContract(harness);
}
