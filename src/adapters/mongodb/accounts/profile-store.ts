import { changedColumns, type ProfileChanges } from "../../../domain/reputation/score/profile.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import type { ProfileStore, StoredPerson } from "../../../ports/accounts/profile-store.ts";
import { readSnapshot, SNAPSHOT } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
import { noteHidden } from "../people/name-facts.ts";
import type { PersonRows } from "./person-rows.ts";

export interface ProfileDeps extends VersionedDeps {
  readonly profiles: PersonRows;
  readonly platformAccounts: PersonRows;
}

export class MongoProfileStore implements ProfileStore {
  readonly #deps: ProfileDeps;

  constructor(deps: ProfileDeps) {
    this.#deps = deps;
  }

  async read(username: string): Promise<StoredPerson> {
    const { profiles, platformAccounts } = this.#deps;
    return await readSnapshot(this.#deps, async (tx) => {
      const options = { ...SNAPSHOT, session: tx };
      const [profile = null] = await profiles.read(username, options);
      return { profile, accounts: await platformAccounts.read(username, options) };
    });
  }

  async change(
    username: string,
    changes: ProfileChanges,
    nowMs: number,
  ): Promise<JsonObject | null> {
    const { profiles } = this.#deps;
    return await changePerson(this.#deps, username, async (change) => {
      const { tx } = change;
      const [profile] = await profiles.read(username, { session: tx });
      if (profile === undefined) return null;
      const columns = changedColumns(profile, changes, nowMs);
      if (Object.keys(columns).length === 0) return profile;
      if (changes.public !== undefined) {
        await noteHidden(this.#deps.db, username, !changes.public, tx);
      }
      await profiles.update(username, columns, change);
      await change.raise();
      const [row = null] = await profiles.read(username, { session: tx });
      return row;
    });
  }
}
