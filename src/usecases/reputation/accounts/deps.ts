import type { AccountStore, UsageStore } from "../../../ports/accounts/account-store.ts";
import type { Administration } from "../../../ports/accounts/administration.ts";
import type { ApiKeyStore } from "../../../ports/accounts/api-key-store.ts";
import type { ConsentStore } from "../../../ports/accounts/consent-store.ts";
import type { Membership } from "../../../ports/accounts/membership.ts";
import type { ProfileStore } from "../../../ports/accounts/profile-store.ts";
import type { Mac, PasswordHasher } from "../../../ports/crypto/crypto.ts";
import type { IdentityProvider, TokenIssuer } from "../../../ports/crypto/tokens.ts";
import type { AuditLog } from "../../../ports/lookups/audit-log.ts";
import type { AuditSearch } from "../../../ports/lookups/audit-search.ts";
import type { Clock, Ids } from "../../../ports/runtime/runtime.ts";
import type { KnownNames } from "../../../ports/tables/known-names.ts";
import type { Sessions } from "../../../repositories/accounts/sessions.ts";
import type { SignIns } from "../../../repositories/accounts/sign-ins.ts";
import type { KeyedMac } from "./secrets.ts";
import type { Semaphore } from "./semaphore.ts";

/** Dependencies of the use cases of accounts; each picks its own. Holds no readable secret. */
export interface AccountDeps {
  readonly accounts: AccountStore;
  readonly sessions: Sessions;
  readonly signIns: SignIns;
  readonly apiKeys: ApiKeyStore;
  readonly consents: ConsentStore;
  readonly profiles: ProfileStore;
  readonly membership: Membership;
  readonly administration: Administration;
  readonly names: KnownNames;
  readonly usage: UsageStore;
  readonly audit: AuditLog;
  readonly auditSearch: AuditSearch;
  readonly tokens: TokenIssuer;
  readonly passwords: PasswordHasher;
  /** Limits all work with passwords: each takes a core for about 50 ms, and 19 MiB. */
  readonly passwordSemaphore: Semaphore;
  /** Null when none is configured. */
  readonly identityProvider: IdentityProvider | null;
  readonly mac: Mac;
  readonly pepperMac: KeyedMac;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly isSignupEnabled: boolean;
  /** Changes under `/v1/me` that one account may ask for. D-8.5. */
  readonly accountWritesPerMinute: number;
  /** `ADMIN_USERNAME`, which nobody signs up; null when none is configured. D-8.1. */
  readonly adminUsername: string | null;
}
