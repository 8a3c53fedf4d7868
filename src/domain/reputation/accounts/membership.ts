// What a signup makes, and what an erasure removes. D-5.4, D-5.5.
import type { JsonObject } from "../../shared/json.ts";
import { formatMs } from "../../shared/time.ts";
import type { Erasure } from "../../sync/people/erasure.ts";
import type { Account } from "./account.ts";
import type { MonthUsage } from "./quota.ts";

/** The profile's row of a new account. */
export function firstProfile(account: Account, displayName: string | null): JsonObject {
  const now = formatMs(account.createdAtMs);
  return {
    username: account.username,
    display_name: displayName,
    verified: false,
    created_at: now,
    updated_at: now,
  };
}

/** An erasure as stores keep it, under an HMAC of the name. D-8.2. */
export interface ErasedName extends Erasure {
  /** The calls of the name until then, which go on counting; null for none. */
  readonly month: MonthUsage | null;
}
