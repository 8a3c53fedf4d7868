import { changedColumns, type ProfileChanges } from "../../../domain/reputation/score/profile.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import type { ProfileStore, StoredPerson } from "../../../ports/accounts/profile-store.ts";
import { readSnapshot, SNAPSHOT } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
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
    const columns = changedColumns(changes, nowMs);
    return await changePerson(this.#deps, username, async (change) => {
      if (Object.keys(columns).length > 0) {
        await profiles.update(username, columns, change);
        await change.raise();
      }
      const [row = null] = await profiles.read(username, { session: change.tx });
      return row;
    });
  }
}
