import type { AccountStore } from "../../../ports/accounts/account-store.ts";
import type { SessionStore } from "../../../ports/accounts/session-store.ts";
import type { SignInGuard } from "../../../ports/accounts/sign-in-guard.ts";
import type { Mac, PasswordHasher } from "../../../ports/crypto/crypto.ts";
import type { IdentityProvider, TokenIssuer } from "../../../ports/crypto/tokens.ts";
import type { ReputationStores } from "../../../ports/reputation-stores.ts";
import type { Clock, Ids, Timer, Turns } from "../../../ports/runtime/runtime.ts";
import type { ReputationSecrets } from "./secrets.ts";
import type { Slots } from "./slots.ts";

/** Everything the use cases of the reputation half need; each names what it takes of it. */
export interface ReputationDeps extends ReputationStores, ReputationSecrets {
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly signIns: SignInGuard;
  readonly tokens: TokenIssuer;
  readonly passwords: PasswordHasher;
  /** For all work with passwords, of which each takes a core for some 50 ms and 19 MiB. */
  readonly passwordSlots: Slots;
  /** Null when none is configured. */
  readonly identityProvider: IdentityProvider | null;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly mac: Mac;
  readonly turns: Turns;
  readonly timer: Timer;
  readonly isSignupEnabled: boolean;
}
