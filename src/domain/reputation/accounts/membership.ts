// What a signup makes, and what an erasure removes. D-5.4, D-5.5.
import type { JsonObject } from "../../shared/json.ts";
import { formatMs } from "../../shared/time.ts";
import type { Account } from "./account.ts";

/** Records of a person beside the account with its sessions and the rows in synchronized tables; an erasure removes all. */
export type PersonalData = "apiKeys" | "consents" | "usage" | "attempts" | "subject";

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
