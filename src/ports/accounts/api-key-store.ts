import type { KeptApiKey } from "../../domain/reputation/accounts/api-key.ts";

/** An API key as kept: everything but its text. */
export interface StoredApiKey extends KeptApiKey {
  /** Its account. */
  readonly username: string;
  readonly name: string;
  /** The HMAC of its text with `API_KEY_PEPPER`. Unique. */
  readonly hash: string;
  readonly prefix: string;
  readonly last4: string;
  /** Canonical time. */
  readonly createdAt: string;
}

/** What a rotation needs. */
export interface KeyRotation {
  readonly id: string;
  /** The key that takes its place, complete but for what it keeps of the old one: name, expiry and account. */
  readonly successor: Pick<StoredApiKey, "id" | "hash" | "prefix" | "last4">;
  /** Seconds the old key stays usable; 0 revokes it at once. */
  readonly overlapSeconds: number;
  readonly nowMs: number;
}

/** API keys of accounts. Every method throws `store_unavailable` or, when it writes, `commit_failed`. */
export interface ApiKeyStore {
  /** Keeps a new key, durably. False when the account is gone; nothing is written then. */
  create(key: StoredApiKey): Promise<boolean>;

  /** Newest first; only those older than the one with this id when given, none when that id is unknown. */
  list(
    username: string,
    page: { readonly limit: number; readonly beforeId: string | null },
  ): Promise<readonly StoredApiKey[]>;

  /**
   * Revokes a key of this account at once. Idempotent: one that is revoked stays as it is. Once it has resolved no
   * instance accepts the key. Null when the account has no such key.
   */
  revoke(
    username: string,
    target: { readonly id: string; readonly nowMs: number },
  ): Promise<StoredApiKey | null>;

  /**
   * Makes the successor and ends the old key in one commit. `conflict` when the old key is not active, null when the
   * account has no such key; nothing is written then.
   */
  rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null>;
}
