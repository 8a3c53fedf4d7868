// Bodies of the three lookups from stored rows, and what owners may change., D-5.5, D-6.2.
import type { JsonObject } from "../../shared/json.ts";
import { parseDateTime } from "../../shared/time.ts";
import { changeTime } from "../../sync/rows/row-time.ts";
import { countingAccounts, readBoolean, readText, UNKNOWN_TIME } from "./platforms.ts";
import type { Score } from "./score.ts";

/** In the field order of. */
export interface ReputationBody {
  readonly username: string;
  /** 0 to 100. */
  readonly score: number;
  /** 1 to 5. */
  readonly starLevel: number;
  readonly verifiedPlatforms: number;
  /** ISO 8601, UTC. */
  readonly updatedAt: string;
}

/** In the field order of. */
export interface ProfileBody {
  readonly username: string;
  readonly displayName: string;
  readonly bio: string;
  readonly profession: string;
  readonly location: string;
  readonly verified: boolean;
}

/** In the field order of. */
export interface PlatformEntry {
  readonly platform: string;
  readonly handle: string;
  readonly verified: boolean;
  /** ISO 8601, UTC; `""` when it is not known. */
  readonly lastSyncedAt: string;
}

/** True when a stored profile may be looked up: `public` is true or null. D-6.2. */
export function isPublicProfile(profile: JsonObject): boolean {
  return readBoolean(profile, "public") ?? true;
}

export function reputationBody(
  username: string,
  { score, starLevel, verifiedPlatforms, updatedAt }: Score,
): ReputationBody {
  return { username, score, starLevel, verifiedPlatforms, updatedAt };
}

/** The body of the profile lookup from a row of `profiles`; null texts become `""`, a null `verified` false.. */
export function profileBody(profile: JsonObject): ProfileBody {
  return {
    username: readText(profile, "username") ?? "",
    displayName: readText(profile, "display_name") ?? "",
    bio: readText(profile, "bio") ?? "",
    profession: readText(profile, "profession") ?? "",
    location: readText(profile, "location") ?? "",
    verified: readBoolean(profile, "verified") ?? false,
  };
}

/** The verified platforms by name. `lastSyncedAt` is `last_synced_at`, else `updated_at`, else 1970., D-6.2. */
export function platformEntries(accounts: readonly JsonObject[]): readonly PlatformEntry[] {
  const verified = countingAccounts(accounts).filter(({ isVerified }) => isVerified);
  return verified.map((account) => ({
    platform: account.platform,
    handle: account.handle,
    verified: account.isVerified,
    lastSyncedAt: account.lastSyncedAt ?? account.updatedAt ?? UNKNOWN_TIME,
  }));
}

/** The fields to change; absent ones stay. A null text is cleared. */
export interface ProfileChanges {
  readonly displayName?: string | null;
  readonly bio?: string | null;
  readonly profession?: string | null;
  readonly location?: string | null;
  readonly public?: boolean;
}

/** The columns to change; none without a field. The row's time grows, so that it travels; another name ends `verified`. D-8.1. */
export function changedProfile(
  profile: JsonObject,
  changes: ProfileChanges,
  nowMs: number,
): JsonObject {
  const { displayName, ...others } = changes;
  if (Object.keys(changes).length === 0) return {};
  const { updated_at: before } = profile;
  const time = typeof before === "string" ? parseDateTime(before) : null;
  const updatedAt = { updated_at: changeTime(time, nowMs) };
  if (displayName === undefined) return { ...others, ...updatedAt };
  const isRenamed = (profile["display_name"] ?? null) !== displayName;
  const isVerified = readBoolean(profile, "verified") ?? false;
  const verified = isRenamed && isVerified ? { verified: false } : {};
  return { ...others, display_name: displayName, ...verified, ...updatedAt };
}
