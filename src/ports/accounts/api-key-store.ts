import type { KeyRotation, StoredApiKey } from "../../domain/reputation/accounts/api-key.ts";

/** Which part of a list of keys to read. */
export interface KeyPage {
  readonly limit: number;
  /** Null for the first part. */
  readonly beforeId: string | null;
}

/** Which key or consent to revoke, and when. */
export interface Revocation<Id> {
  readonly id: Id;
  readonly nowMs: number;
}

/**
 * API keys of accounts. A change removes those that have been ended for long (`boundKeys`), in its own commit: to lookups and
 * lists they are as if they had never been. Every method throws `store_unavailable` or, when it writes,
 * `commit_failed`.
 */
export interface ApiKeyStore {
  /**
   * Keeps a new key, durably. `no_account` when the account is gone, `full` when it has as many active keys as it may have,
   * also where several keys are made at once; nothing is written then.
   */
  create(key: StoredApiKey, nowMs: number): Promise<"created" | "full" | "no_account">;

  /** Newest first; only those older than the one with this id when given, none when that id is unknown. */
  list(username: string, page: KeyPage): Promise<readonly StoredApiKey[]>;

  /**
   * Revokes a key of this account at once. Idempotent: one that is revoked stays as it is. Once it has resolved no
   * instance accepts the key. Null when the account has no such key. The alert `key.revoked` of a key that was not revoked
   * before is kept in the same commit.
   */
  revoke(username: string, target: Revocation<string>): Promise<StoredApiKey | null>;

  /**
   * Makes the successor and ends the old key in one commit. `conflict` when the old key is not active, null when the
   * account has no such key; nothing is written then. The alert `key.rotated` is kept in the same commit.
   */
  rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null>;
}
