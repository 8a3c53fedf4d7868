import { AppError } from "../../../domain/shared/errors.ts";
import { type ApiKeyItem, apiKeyItem } from "./api-key-item.ts";
import type { AccountDeps } from "./deps.ts";

/** Revokes a key at once. Idempotent. Throws `not_found` for a key that is not the account's. D-5.5, D-6.3. */
export async function revokeApiKey(
  deps: Pick<AccountDeps, "apiKeys" | "clock">,
  username: string,
  id: string,
): Promise<ApiKeyItem> {
  const nowMs = deps.clock.nowMs();
  const key = await deps.apiKeys.revoke(username, { id, nowMs });
  if (key === null) throw unknownKey();
  return apiKeyItem(key, nowMs);
}

/** The error for a key that is unknown or somebody else's. */
export function unknownKey(): AppError {
  return new AppError("not_found", "There is no such API key");
}
