import type {
  Consent,
  ConsentFilter,
  ConsentGrant,
} from "../../domain/reputation/accounts/consent.ts";
import type { Revocation } from "./api-key-store.ts";

export interface ConsentQuery {
  readonly filter: ConsentFilter;
  /** The time for which statuses are derived. */
  readonly nowMs: number;
  /** 1 or more. */
  readonly limit: number;
  /** Only consents with a smaller id; null for all. */
  readonly beforeId: number | null;
}

/**
 * Consents by the username of their owner. A change removes those that have been ended for long (`forgottenConsents`), in its
 * own commit. Throws `store_unavailable` or, when it writes, `commit_failed`.
 */
export interface ConsentStore {
  /**
   * Keeps a new consent under the next id, and ends the active ones of the same purpose (`supersededBy`), in one
   * commit. Ids grow with every grant over all owners and are never used again. Of two grants at once, one is
   * superseded. Null when the owner has no account, or none any more; nothing is written then.
   */
  grant(username: string, grant: ConsentGrant): Promise<Consent | null>;

  /**
   * Revokes a consent of this owner (`revokeConsent`). Idempotent. Once it has resolved no instance answers from it.
   * Null when the owner has no such consent.
   */
  revoke(username: string, target: Revocation<number>): Promise<Consent | null>;

  /** Newest first. */
  list(username: string, query: ConsentQuery): Promise<readonly Consent[]>;
}
