import type { MakeAlert } from "../domain/alerts/alert.ts";
import type { UsageStore } from "./accounts/account-store.ts";
import type { Administration } from "./accounts/administration.ts";
import type { ApiKeyStore } from "./accounts/api-key-store.ts";
import type { ConsentStore } from "./accounts/consent-store.ts";
import type { Membership } from "./accounts/membership.ts";
import type { ProfileStore } from "./accounts/profile-store.ts";
import type { Mac } from "./crypto/crypto.ts";
import type { AuditLog } from "./lookups/audit-log.ts";
import type { AuditSearch } from "./lookups/audit-search.ts";
import type { LookupProcessor } from "./lookups/lookup-processor.ts";
import type { VersionedCache } from "./lookups/versioned-cache.ts";

export interface ReputationStores {
  readonly apiKeys: ApiKeyStore;
  readonly consents: ConsentStore;
  readonly profiles: ProfileStore;
  readonly membership: Membership;
  readonly administration: Administration;
  readonly usage: UsageStore;
  readonly audit: AuditLog;
  readonly auditSearch: AuditSearch;
  readonly lookupProcessor: LookupProcessor;
}

export interface ReputationOptions {
  readonly mac: Mac;
  /** Key of the audit's hashes and signatures, the same for all instances. */
  readonly auditKey: Uint8Array;
  /** Key of the HMACs of erased names, the same for all instances and for ever. D-8.2. */
  readonly nameKey: Uint8Array;
  /**
   * Makes the alerts that are kept in the commits of what they tell: a key that ends, a quota that is used up. Absent or
   * null: nobody is to be told. D-10.12.
   */
  readonly makeAlert?: MakeAlert | null;
  /** Makes a cache of at most so many entries; one that remembers nothing will do. */
  readonly makeCache: <Value>(maxEntries: number) => VersionedCache<Value>;
}
