import { AppError } from "../../../domain/shared/errors.ts";
import { type IssuedApiKey, issuedApiKey } from "./api-key-item.ts";
import type { AccountDeps } from "./deps.ts";
import { makeKey, type NewKeyDeps } from "./issue-api-key.ts";
import { unknownKey } from "./revoke-api-key.ts";

/** Which key to rotate, and for how long both work. */
export interface RotationInput {
  readonly username: string;
  readonly id: string;
  /** 0 or more. */
  readonly overlapSeconds: number;
}

/**
 * Puts a new key in place of another, which is revoked after the overlap. Throws `not_found`, and
 * `conflict` for a key that is not active. D-5.5.
 */
export async function rotateApiKey(
  deps: NewKeyDeps & Pick<AccountDeps, "apiKeys" | "clock">,
  { username, id, overlapSeconds }: RotationInput,
): Promise<IssuedApiKey> {
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
