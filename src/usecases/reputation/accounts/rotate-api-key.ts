import { checkRotation } from "../../../domain/reputation/accounts/api-key.ts";
import {
  ReputationError,
  requireValid,
} from "../../../domain/reputation/accounts/reputation-error.ts";
import { type IssuedApiKey, issuedApiKey } from "./api-key-item.ts";
import type { AccountDeps } from "./deps.ts";
import { makeKey, type NewKeyDeps } from "./issue-api-key.ts";
import { unknownKey } from "./revoke-api-key.ts";

/** Which key to rotate, and the body of the request. */
export interface RotationInput {
  readonly username: string;
  readonly id: string;
  readonly body: { readonly overlap_seconds?: unknown };
}

/**
 * Puts a new key in place of another, which is revoked after the overlap. Throws `invalid_request`, `not_found`, and
 * `conflict` for a key that is not active. D-5.5.
 */
export async function rotateApiKey(
  deps: NewKeyDeps & Pick<AccountDeps, "apiKeys" | "clock">,
  { username, id, body }: RotationInput,
): Promise<IssuedApiKey> {
  const { overlapSeconds } = requireValid(checkRotation(body));
  const nowMs = deps.clock.nowMs();
  const { key, kept } = makeKey(deps);
  const rotation = { id, successor: kept, overlapSeconds, nowMs };
  const stored = await deps.apiKeys.rotate(username, rotation);
  if (stored === null) throw unknownKey();
  if (stored === "conflict") {
    throw new ReputationError("conflict", "Only an active API key can be rotated");
  }
  return issuedApiKey(stored, key, nowMs);
}
