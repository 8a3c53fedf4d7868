import type { FullStorage } from "../../src/ports/storage.ts";
import { accountStoreContract } from "./account-store-contract.ts";
import { leaseStoreContract } from "./lease-store-contract.ts";
import type { PartsHarness } from "./parts-harness.ts";
import { rejectedRecordsContract } from "./rejected-records-contract.ts";
import { rowSourceContract } from "./row-source-contract.ts";
import { runStoreContract } from "./run-store-contract.ts";
import { secretStoreContract } from "./secret-store-contract.ts";
import { sessionStoreContract } from "./session-store-contract.ts";
import { signInGuardContract } from "./sign-in-guard-contract.ts";
import { tableMarkerTests } from "./table-store-markers.ts";

/** The stores that sync runs and sign-in need. */
export type RunAndSignInParts = Omit<FullStorage, "ping" | "openReputation">;

/** What every `FullStorage` does beside `storageContract`: what sync runs and sign-in need. */
export function fullStorageContract(harness: PartsHarness<RunAndSignInParts>): void {
  tableMarkerTests(harness);
  rowSourceContract(harness);
  leaseStoreContract(harness);
  runStoreContract(harness);
  rejectedRecordsContract(harness);
  accountStoreContract(harness);
  sessionStoreContract(harness);
  signInGuardContract(harness);
  secretStoreContract(harness);
}
