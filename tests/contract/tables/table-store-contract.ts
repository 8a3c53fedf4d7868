import type { StoreHarness } from "../harness.ts";
import { readingContract } from "./reading/reading-contract.ts";
import { tablePrepareTests } from "./table-store-prepare.ts";
import { tableSharingTests } from "./table-store-sharing.ts";
import { tableValueTests } from "./table-store-values.ts";
import { tableWriteTests } from "./table-store-writes.ts";

/** What every `TableStore` does; the comments of the port are the contract. */
export function tableStoreContract(harness: StoreHarness): void {
  readingContract(harness);
  tableWriteTests(harness);
  tableValueTests(harness);
  tablePrepareTests(harness);
  if (harness.options.isShared) tableSharingTests(harness);
}
