// The external platforms the score knows, and the accounts of people there, as rows of `platform_accounts` tell them. R-1, D-6.2.
import { parseDecimal } from "../../shared/decimal.ts";
import { compareUtf8, fieldOf, isNumber, type JsonObject, numberText } from "../../shared/json.ts";
import { compareDateTimes, parseDateTime } from "../../shared/time.ts";

/** Decides the weight of a platform's evidence. */
export type PlatformCategory =
  | "identity"
  | "finance"
  | "commerce"
  | "professional"
  | "code"
  | "knowledge"
  | "creative"
  | "content"
  | "community"
  | "contact";

export interface Platform {
  /** Lowercase identifier.. */
  readonly platform: string;
  readonly category: PlatformCategory;
  /** Activity count from which more adds nothing, 1 or more: `N_p` of the formula. */
  readonly fullActivity: number;
  /** True where counterparties rate the account, so that `rating` and `rating_count` are read. */
  readonly hasRatings: boolean;
}

/** `N_p` of a platform outside the catalogue, which counts as a community without ratings. D-6.6. */
const UNKNOWN_PLATFORM_FULL_ACTIVITY = 2000;

const WITHOUT_RATINGS: readonly (readonly [PlatformCategory, Readonly<Record<string, number>>])[] =
  [
    ["identity", { government_id: 1 }],
    ["contact", { phone: 1, email_domain: 1 }],
    ["finance", { paypal: 500, stripe: 500, dana: 500, ovo: 500 }],
    ["professional", { linkedin: 500 }],
    ["code", { github: 2000, gitlab: 2000, bitbucket: 1000, npm: 50, huggingface: 50 }],
    ["knowledge", { stackoverflow: 1000, kaggle: 50, devto: 100, medium: 100 }],
    ["creative", { dribbble: 100, behance: 100 }],
    ["content", { youtube: 500, instagram: 2000, tiktok: 1000, x: 5000 }],
    ["community", { discord: 2000, reddit: 2000 }],
  ];

const WITH_RATINGS: readonly (readonly [PlatformCategory, Readonly<Record<string, number>>])[] = [
  ["commerce", { tokopedia: 5000, shopee: 5000, bukalapak: 2000, ebay: 5000, etsy: 2000 }],
  ["professional", { upwork: 200, fiverr: 500, freelancer: 200, toptal: 50 }],
];

/** docs/reputation.md has the same table, and a test compares them. D-6.6. */
export const PLATFORM_CATALOGUE: ReadonlyMap<string, Platform> = new Map([
  ...entriesOf(WITHOUT_RATINGS, false),
  ...entriesOf(WITH_RATINGS, true),
]);

/** The platform of an identifier in any case; an unknown one is a community. D-6.6. */
export function findPlatform(identifier: string): Platform {
  const platform = identifier.toLowerCase();
  return (
    PLATFORM_CATALOGUE.get(platform) ?? {
      platform,
      category: "community",
      fullActivity: UNKNOWN_PLATFORM_FULL_ACTIVITY,
      hasRatings: false,
    }
  );
}

function entriesOf(groups: typeof WITH_RATINGS, hasRatings: boolean): [string, Platform][] {
  return groups.flatMap(([category, platforms]) =>
    Object.entries(platforms).map(([platform, fullActivity]): [string, Platform] => [
      platform,
      { platform, category, fullActivity, hasRatings },
    ]),
  );
}

export const MAX_RATING = 5;

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
 * The accounts of a person, verified or not, one per platform, ordered by platform (UTF-8 bytes). D-6.2. Of rows whose platforms
 * differ only in case the one with the latest `updated_at` counts; unknown times are the earliest. At equal times the spelling that
 * is last by UTF-8 bytes counts, so `github` before `GitHub`.
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

/** Positive when `a` counts and `b` does not. The last step tells all accounts apart. */
function compareClaims(a: PlatformAccount, b: PlatformAccount): number {
  return (
    compareDateTimes(a.updatedAt ?? "", b.updatedAt ?? "") ||
    compareUtf8(a.spelling, b.spelling) ||
    compareUtf8(JSON.stringify(a), JSON.stringify(b))
  );
}

// Reads stored values by meaning. A push leaves scalars it cannot convert as they came (S-4.2.8), so a count may be text and a
// text may be a number; nothing here fails, and what cannot be read is null.

/** Stands in a reply for an unknown time, as clients parse the field. */
export const UNKNOWN_TIME = "1970-01-01T00:00:00Z";

/** A column value as text: numbers and booleans as written in JSON; null for null, a missing value, an object or an array. */
export function readText(row: JsonObject, column: string): string | null {
  const value = fieldOf(row, column);
  if (typeof value === "string") return value;
  if (isNumber(value)) return numberText(value);
  return typeof value === "boolean" ? String(value) : null;
}

/** A column value as a boolean, by the words of S-4.2.8: `true`, `1`, `yes` are true, other texts false; null for null. */
export function readBoolean(row: JsonObject, column: string): boolean | null {
  const value = fieldOf(row, column);
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return /^(true|1|yes)$/i.test(value);
  return isNumber(value) && Number(numberText(value)) !== 0;
}

/** A number or decimal text as a number, ±Infinity beyond its range; null for anything else. */
function readNumber(row: JsonObject, column: string): number | null {
  const value = fieldOf(row, column);
  if (typeof value === "boolean") return null;
  const text = readText(row, column);
  const decimal = text === null ? null : parseDecimal(text);
  return decimal === null ? null : Number(decimal);
}

/** A whole number from 0 to 2^53-1: fractions are cut, numbers beyond take the nearer end; null where `readNumber` is. */
function readCount(row: JsonObject, column: string): number | null {
  const number = readNumber(row, column);
  if (number === null) return null;
  return Math.min(Math.max(0, Math.floor(number)), Number.MAX_SAFE_INTEGER);
}

/** A time as pages show it (D-3.3); null when the value is not ISO 8601 text. */
export function readDateTime(row: JsonObject, column: string): string | null {
  const value = fieldOf(row, column);
  return typeof value === "string" ? parseDateTime(value) : null;
}
