import type { ProfileChanges } from "../../domain/reputation/score/profile.ts";
import type { JsonObject } from "../../domain/shared/json.ts";

export interface StoredPerson {
  /** Null when there is none. */
  readonly profile: JsonObject | null;
  readonly accounts: readonly JsonObject[];
}

/** Profiles as their owners see and change them. Throws `store_unavailable` or, when it writes, `commit_failed`. */
export interface ProfileStore {
  /** All rows are of one moment. */
  read(username: string): Promise<StoredPerson>;

  /**
   * Changes the given fields of the profile and sets `updated_at`, leaving the rest of the row as it is. Without any
   * field nothing is written. Resolves to the new row; null when there is no profile.
   */
  change(username: string, changes: ProfileChanges, nowMs: number): Promise<JsonObject | null>;
}
