// API keys of an account: issued, listed, revoked and rotated. D-5.5.
import {
  API_KEY_RANDOM_BYTES,
  apiKeyDisplay,
  apiKeyStatus,
  firstEnd,
  makeApiKey,
  type StoredApiKey,
} from "../../../domain/reputation/accounts/api-key.ts";
import { readExpiry } from "../../../domain/reputation/accounts/consent.ts";
import { AppError, refuse } from "../../../domain/shared/errors.ts";
import { MAX_ACTIVE_API_KEYS } from "../../../domain/shared/limits.ts";
import {
  BAD_CURSOR,
  type ListParameters,
  listPart,
  requireListQuery,
} from "../../../domain/shared/list-query.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { AccountDeps } from "./deps.ts";
import { erasedMeanwhile } from "./identity.ts";

interface ApiKeyRequest {
  readonly name: string;
  /** ISO 8601; null or absent: it does not expire. */
  readonly expiresAt?: string | null;
}

const CURSOR = /^[\w-]{8,64}$/;

/** Throws `invalid_request` for an expiry in the past, `conflict` beyond 100 active keys, `token_invalid` after an erasure. */
export async function issueApiKey(deps: AccountDeps, username: string, request: ApiKeyRequest) {
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
  const outcome = await deps.apiKeys.create(stored, nowMs);
  if (outcome === "no_account") throw erasedMeanwhile();
  if (outcome === "full") throw tooManyKeys();
  return issuedApiKey(stored, key, nowMs);
}

/** Lists an account's keys, newest first. Throws `invalid_request`. */
export async function listApiKeys(deps: AccountDeps, username: string, query: ListParameters) {
  const { limit, cursor } = requireListQuery(query, CURSOR);
  const nowMs = deps.clock.nowMs();
  const found = await deps.apiKeys.list(username, { limit: limit + 1, beforeId: cursor });
  const uses = await deps.usage.keyUses(username);
  // A cursor is given only where another key follows, which stays listed until long after its end.
  if (cursor !== null && found.length === 0) refuse([BAD_CURSOR]);
  return listPart(found, limit, {
    toItem: (key) => apiKeyItem(key, uses, nowMs),
    cursorOf: ({ id }) => id,
  });
}

/** Revokes a key at once. Idempotent. Throws `not_found` for a key that is not the account's. D-6.3. */
export async function revokeApiKey(deps: AccountDeps, username: string, id: string) {
  const nowMs = deps.clock.nowMs();
  const key = await deps.apiKeys.revoke(username, { id, nowMs });
  if (key === null) throw unknownKey();
  return apiKeyItem(key, await deps.usage.keyUses(username), nowMs);
}

/** The other key is revoked after the overlap. Throws `not_found`, and `conflict` for an inactive key. */
export async function rotateApiKey(
  deps: AccountDeps,
  username: string,
  id: string,
  overlapSeconds: number,
) {
  const nowMs = deps.clock.nowMs();
  const { key, kept } = makeKey(deps);
  const rotation = { id, successor: kept, overlapSeconds, nowMs };
  const stored = await deps.apiKeys.rotate(username, rotation);
  if (stored === null) throw unknownKey();
  if (stored === "conflict") {
    throw new AppError("conflict", "Only an active API key can be rotated");
  }
  return issuedApiKey(stored, key, nowMs);
}

function makeKey({ mac, crc32, pepperMac, ids }: AccountDeps) {
  const key = makeApiKey(mac.randomBytes(API_KEY_RANDOM_BYTES), crc32);
  return { key, kept: { id: ids.next(), hash: pepperMac.hex(key), ...apiKeyDisplay(key) } };
}

/** A key as its owner sees it. D-5.5. */
export type ApiKeyItem = ReturnType<typeof apiKeyItem>;

/** `uses`: times of last use by key id, to the minute. D-8.11. */
function apiKeyItem(stored: StoredApiKey, uses: ReadonlyMap<string, string>, nowMs: number) {
  const { id, name, prefix, last4, createdAt } = stored;
  const status = apiKeyStatus(stored, nowMs);
  // A rotation's overlap ends a key too.
  const expiresAt = stored.isRevoked ? stored.expiresAt : firstEnd(stored);
  const lastUsedAt = uses.get(id) ?? null;
  return { id, name, prefix, last4, status, createdAt, expiresAt, lastUsedAt };
}

/** A new key with its text, which is shown this once. */
function issuedApiKey(stored: StoredApiKey, key: string, nowMs: number) {
  const { id, name, ...rest } = apiKeyItem(stored, new Map(), nowMs);
  return { id, name, key, ...rest };
}

function tooManyKeys(): AppError {
  const message = `There are ${MAX_ACTIVE_API_KEYS} active API keys, as many as an account may have`;
  return new AppError("conflict", message, { hint: "Revoke one first" });
}

function unknownKey(): AppError {
  return new AppError("not_found", "There is no such API key");
}
