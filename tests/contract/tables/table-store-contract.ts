import type { StoreHarness } from "../harness.ts";
import { tableHistoryTests } from "./table-store-histories.ts";
import { tablePageTests } from "./table-store-pages.ts";
import { tablePartTests } from "./table-store-parts.ts";
import { tablePrepareTests } from "./table-store-prepare.ts";
import { tableSharingTests } from "./table-store-sharing.ts";
import { tableValueTests } from "./table-store-values.ts";
import { tableWriteTests } from "./table-store-writes.ts";

/** What every `TableStore` does; the comments of the port are the contract. */
export function tableStoreContract(harness: StoreHarness): void {
  tablePageTests(harness);
  tablePartTests(harness);
  tableWriteTests(harness);
  tableValueTests(harness);
  tablePrepareTests(harness);
  tableHistoryTests(harness);
  if (harness.options.isShared) tableSharingTests(harness);
}
