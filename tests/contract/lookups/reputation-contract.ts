import { administrationContract } from "../accounts/administration-contract.ts";
import { apiKeyStoreContract } from "../accounts/api-key-store-contract.ts";
import { consentStoreContract } from "../accounts/consent-store-contract.ts";
import { erasureContract } from "../accounts/erasure-contract.ts";
import { membershipContract } from "../accounts/membership-contract.ts";
import { ownedProfileContract } from "../accounts/owned-profile-contract.ts";
import { accountAlertsContract } from "../alerts/account-alerts-contract.ts";
import { auditLogContract } from "./audit-log-contract.ts";
import { auditSearchContract } from "./audit-search-contract.ts";
import { lookupProcessorContract } from "./lookup-processor-contract.ts";
import type { ReputationHarness } from "./reputation-harness.ts";

/** What the reputation half of every store does. */
export function reputationContract(harness: ReputationHarness): void {
  consentStoreContract(harness);
  apiKeyStoreContract(harness);
  membershipContract(harness);
  ownedProfileContract(harness);
  erasureContract(harness);
  administrationContract(harness);
  lookupProcessorContract(harness);
  accountAlertsContract(harness);
  auditLogContract(harness);
  auditSearchContract(harness);
}
