import { type ApiKeyStatus, keptKeyStatus } from "../../../domain/reputation/accounts/api-key.ts";
import type { StoredApiKey } from "../../../ports/accounts/api-key-store.ts";

/** A key as its owner sees it, in the field order of D-5.5. */
export interface ApiKeyItem {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly last4: string;
  readonly status: ApiKeyStatus;
  readonly createdAt: string;
  readonly expiresAt: string | null;
}

/** A new key with its text, which is shown this once. D-5.5. */
export interface IssuedApiKey extends ApiKeyItem {
  readonly key: string;
}

/** What lists show of a key. */
export function apiKeyItem(stored: StoredApiKey, nowMs: number): ApiKeyItem {
  return {
    id: stored.id,
    name: stored.name,
    prefix: stored.prefix,
    last4: stored.last4,
    status: keptKeyStatus(stored, nowMs),
    createdAt: stored.createdAt,
    expiresAt: stored.expiresAt,
  };
}

/** What the reply to a new key shows. */
export function issuedApiKey(stored: StoredApiKey, key: string, nowMs: number): IssuedApiKey {
  const { id, name, ...rest } = apiKeyItem(stored, nowMs);
  return { id, name, key, ...rest };
}
