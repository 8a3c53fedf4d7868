// A stored `platform_accounts` row, and which of several rows of one platform counts. D-6.2.
import { compareUtf8, type JsonObject } from "../../shared/json.ts";
import { compareDateTimes } from "../../shared/time.ts";
import { readBoolean, readCount, readDateTime, readNumber, readText } from "./value-readers.ts";

const MAX_RATING = 5;

/** An account on an external platform. Times are canonical text; null means not known. D-6.2. */
export interface PlatformAccount {
  /** Lowercase. */
  readonly platform: string;
  /** The spelling as stored. */
  readonly spelling: string;
  readonly handle: string;
  readonly isVerified: boolean;
  readonly createdAt: string | null;
  /** 0 or more. */
  readonly activityCount: number | null;
  /** Clamped to 0..5. */
  readonly rating: number | null;
  /** 0 or more. */
  readonly ratingCount: number | null;
  /** Verified disputes in the last year, 0 or more; 0 when not known. */
  readonly disputes: number;
  readonly lastActiveAt: string | null;
  readonly lastSyncedAt: string | null;
  readonly updatedAt: string | null;
}

/** Reads a stored row. Odd values read as unknown; it never fails. D-6.2. */
function readPlatformAccount(row: JsonObject): PlatformAccount {
  const spelling = readText(row, "platform") ?? "";
  const rating = readNumber(row, "rating");
  return {
    platform: spelling.toLowerCase(),
    spelling,
    handle: readText(row, "handle") ?? "",
    isVerified: readBoolean(row, "verified") ?? false,
    createdAt: readDateTime(row, "account_created_at"),
    activityCount: readCount(row, "activity_count"),
    rating: rating === null ? null : Math.min(Math.max(0, rating), MAX_RATING),
    ratingCount: readCount(row, "rating_count"),
    disputes: readCount(row, "disputes") ?? 0,
    lastActiveAt: readDateTime(row, "last_active_at"),
    lastSyncedAt: readDateTime(row, "last_synced_at"),
    updatedAt: readDateTime(row, "updated_at"),
  };
}

/**
 * The accounts of a person, verified or not, one per platform, ordered by platform (UTF-8 bytes). D-6.2. Of
 * rows whose platforms differ only in case the later `updated_at` counts, verified or not; unknown
 * times come before all others. At equal times the spelling that is later by UTF-8 bytes counts, so
 * `github` before `GitHub`.
 */
export function countingAccounts(rows: readonly JsonObject[]): readonly PlatformAccount[] {
  const counting = new Map<string, PlatformAccount>();
  for (const account of rows.map(readPlatformAccount)) {
    const other = counting.get(account.platform);
    if (other === undefined || compareClaims(account, other) > 0) {
      counting.set(account.platform, account);
    }
  }
  return [...counting.values()].sort((a, b) => compareUtf8(a.platform, b.platform));
}

/** The counting accounts that are verified. */
export function verifiedAccounts(rows: readonly JsonObject[]): readonly PlatformAccount[] {
  return countingAccounts(rows).filter(({ isVerified }) => isVerified);
}

/** Positive when `a` is the account that counts, and not `b`. The last step tells all accounts apart. */
function compareClaims(a: PlatformAccount, b: PlatformAccount): number {
  return (
    compareDateTimes(a.updatedAt ?? "", b.updatedAt ?? "") ||
    compareUtf8(a.spelling, b.spelling) ||
    compareUtf8(JSON.stringify(a), JSON.stringify(b))
  );
}
