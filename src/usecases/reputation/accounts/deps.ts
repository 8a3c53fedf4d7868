import type { Crc32 } from "../../../domain/reputation/accounts/api-key.ts";
import type {
  IdentityProvider,
  Mac,
  PasswordHasher,
  TokenIssuer,
} from "../../../ports/crypto/crypto.ts";
import type { Clock, Ids, Timer } from "../../../ports/runtime/runtime.ts";
import type { Accounts } from "../../../repositories/accounts/accounts.ts";
import type { Administration } from "../../../repositories/accounts/administration.ts";
import type { ApiKeys } from "../../../repositories/accounts/api-keys.ts";
import type { Consents } from "../../../repositories/accounts/consents.ts";
import type { Membership } from "../../../repositories/accounts/membership.ts";
import type { Names } from "../../../repositories/accounts/names.ts";
import type { Profiles } from "../../../repositories/accounts/profiles.ts";
import type { Sessions, SignIns } from "../../../repositories/accounts/sessions.ts";
import type { AuditLog } from "../../../repositories/lookups/audit-log.ts";
import type { AuditSearch } from "../../../repositories/lookups/audit-search.ts";
import type { Usage } from "../../../repositories/lookups/usage.ts";
import type { KeyedMac } from "./secrets.ts";
import type { Semaphore } from "./semaphore.ts";

export interface AccountStores {
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly signIns: SignIns;
  readonly apiKeys: ApiKeys;
  readonly consents: Consents;
  readonly profiles: Profiles;
  readonly membership: Membership;
  readonly administration: Administration;
  readonly names: Names;
  readonly usage: Usage;
  readonly audit: AuditLog;
  readonly auditSearch: AuditSearch;
}

/** Holds no readable secret. */
export interface AccountDeps extends AccountStores {
  readonly passwords: PasswordHasher;
  /** Limits work with passwords: each takes a core for about 50 ms, and 19 MiB. */
  readonly passwordSemaphore: Semaphore;
  readonly mac: Mac;
  readonly crc32: Crc32;
  readonly pepperMac: KeyedMac;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly isSignupEnabled: boolean;
  /** Changes under `/v1/me` that one account may ask for. D-8.5. */
  readonly accountWritesPerMinute: number;
  /** `ADMIN_USERNAME`, which nobody signs up; null when none is configured. D-8.1. */
  readonly adminUsername: string | null;
}

/** The dependencies of a service, where people sign in. */
export interface SessionDeps extends AccountDeps {
  readonly tokens: TokenIssuer;
  /** Null when none is configured. */
  readonly identityProvider: IdentityProvider | null;
}
