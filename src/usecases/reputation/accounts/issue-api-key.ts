import {
  API_KEY_RANDOM_BYTES,
  apiKeyDisplay,
  makeApiKey,
} from "../../../domain/reputation/accounts/api-key.ts";
import { readExpiry } from "../../../domain/reputation/accounts/expiry.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { StoredApiKey } from "../../../ports/accounts/api-key-store.ts";
import { type IssuedApiKey, issuedApiKey } from "./api-key-item.ts";
import type { AccountDeps } from "./deps.ts";
import { erasedMeanwhile } from "./identity.ts";

/** What making a key needs. */
export type NewKeyDeps = Pick<AccountDeps, "mac" | "ids" | "pepperMac">;

/** A key that somebody asks for. */
export interface ApiKeyRequest {
  readonly name: string;
  /** ISO 8601; null or absent for a key that does not expire. */
  readonly expiresAt?: string | null;
}

/** The text of a new key, and what is kept of it. */
export function makeKey(deps: NewKeyDeps): {
  readonly key: string;
  readonly kept: Pick<StoredApiKey, "id" | "hash" | "prefix" | "last4">;
} {
  const key = makeApiKey(deps.mac.randomBytes(API_KEY_RANDOM_BYTES));
  const hash = deps.pepperMac.hex(key);
  return { key, kept: { id: deps.ids.next(), hash, ...apiKeyDisplay(key) } };
}

/** Issues a key to an account. Throws `invalid_request` for an end that is not ahead, and `token_invalid` when the account was just erased. D-5.5. */
export async function issueApiKey(
  deps: NewKeyDeps & Pick<AccountDeps, "apiKeys" | "clock">,
  username: string,
  request: ApiKeyRequest,
): Promise<IssuedApiKey> {
  const nowMs = deps.clock.nowMs();
  const expiresAt = readExpiry(request.expiresAt, nowMs);
  const { key, kept } = makeKey(deps);
  const stored: StoredApiKey = {
    ...kept,
    username,
    name: request.name,
    createdAt: formatMs(nowMs),
    expiresAt,
    revokedAt: null,
    isRevoked: false,
  };
  if (!(await deps.apiKeys.create(stored))) throw erasedMeanwhile();
  return issuedApiKey(stored, key, nowMs);
}
