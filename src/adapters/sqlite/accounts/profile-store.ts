import { changedColumns, type ProfileChanges } from "../../../domain/reputation/score/profile.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import type { ProfileStore, StoredPerson } from "../../../ports/accounts/profile-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import { noteHidden } from "../people/name-facts.ts";
import type { PersonRows } from "./person-rows.ts";

export class SqliteProfileStore implements ProfileStore {
  readonly #database: SqliteDatabase;
  readonly #profiles: PersonRows;
  readonly #platformAccounts: PersonRows;

  constructor(database: SqliteDatabase, profiles: PersonRows, platformAccounts: PersonRows) {
    this.#database = database;
    this.#profiles = profiles;
    this.#platformAccounts = platformAccounts;
  }

  async read(username: string): Promise<StoredPerson> {
    return this.#database.read(() => {
      const [profile = null] = this.#profiles.read(username);
      return { profile, accounts: this.#platformAccounts.read(username) };
    });
  }

  async change(
    username: string,
    changes: ProfileChanges,
    nowMs: number,
  ): Promise<JsonObject | null> {
    return this.#database.write(() => {
      const [profile] = this.#profiles.read(username);
      if (profile === undefined) return null;
      const columns = changedColumns(profile, changes, nowMs);
      if (Object.keys(columns).length === 0) return profile;
      if (changes.public !== undefined) noteHidden(this.#database, username, !changes.public);
      this.#profiles.update(username, columns);
      return this.#profiles.read(username)[0] ?? null;
    }, [this.#profiles.tableName]);
  }
}
