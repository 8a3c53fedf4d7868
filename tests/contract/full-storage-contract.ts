import type { FullStorage } from "../../src/ports/storage.ts";
import { accountStoreContract } from "./accounts/account-store-contract.ts";
import type { StoreHarness } from "./harness.ts";
import { liveEndsContract } from "./live-ends-contract.ts";
import { leaseStoreContract } from "./runs/lease-store-contract.ts";
import { rejectedRecordsContract } from "./runs/rejected-records-contract.ts";
import { rowSourceContract } from "./tables/row-source-contract.ts";
import { tableMarkerTests } from "./tables/table-store-markers.ts";

/** The stores that sync runs and sign-in need. */
export type RunAndSignInParts = Omit<FullStorage, "ping" | "openReputation">;

/** What every `FullStorage` does beside `storageContract`: what sync runs and sign-in need. */
export function fullStorageContract(harness: StoreHarness<RunAndSignInParts>): void {
  tableMarkerTests(harness);
  liveEndsContract(harness);
  rowSourceContract(harness);
  leaseStoreContract(harness);
  rejectedRecordsContract(harness);
  accountStoreContract(harness);
}
