import type { Table } from "../domain/sync/table.ts";
import type { ApiKeyStore } from "./api-key-store.ts";
import type { AuditLog } from "./audit-log.ts";
import type { ConsentStore } from "./consent-store.ts";
import type { LookupLedger } from "./lookup-ledger.ts";
import type { Mac } from "./mac.ts";
import type { Membership } from "./membership.ts";
import type { ProfileStore } from "./profile-store.ts";
import type { UsageStore } from "./usage-store.ts";
import type { VersionedCache } from "./versioned-cache.ts";

/** What the reputation half keeps in a store. */
export interface ReputationStores {
  readonly apiKeys: ApiKeyStore;
  readonly consents: ConsentStore;
  readonly profiles: ProfileStore;
  readonly membership: Membership;
  readonly usage: UsageStore;
  readonly audit: AuditLog;
  readonly ledger: LookupLedger;
}

/** What opening the reputation half needs beside the store. */
export interface ReputationOptions {
  /** The registry's `profiles` and `platform_accounts`, prepared. */
  readonly profiles: Table;
  readonly platformAccounts: Table;
  readonly mac: Mac;
  /** Key of the audit's hashes and signatures, the same for all instances. */
  readonly auditKey: Uint8Array;
  /** Makes the memories that answers may come from; one that remembers nothing will do. */
  readonly makeCache: <Value>() => VersionedCache<Value>;
}
