import { formatMs } from "../../../domain/shared/time.ts";
import type { AccountConflict } from "../../../ports/accounts/account-store.ts";
import type { Enrolment, Membership } from "../../../ports/accounts/membership.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { lookupLogOf } from "../driver/lookup-log.ts";
import { changePerson } from "../driver/person-changes.ts";
import { createAccount, removeAccount } from "./account-store.ts";
import { type UsageDocument, usageId } from "./account-usage.ts";
import { API_KEYS } from "./api-key-store.ts";
import { CONSENTS } from "./consent-store.ts";
import type { ProfileDeps } from "./profile-store.ts";
import type { Subjects } from "./subjects.ts";

/** What goes with an account, by its username. */
const REMOVED_BY_NAME = [API_KEYS.name, CONSENTS.name];

export class MongoMembership implements Membership {
  readonly #deps: ProfileDeps & { readonly subjects: Subjects };

  constructor(deps: ProfileDeps & { readonly subjects: Subjects }) {
    this.#deps = deps;
  }

  async enrol(enrolment: Enrolment): Promise<"enrolled" | AccountConflict> {
    const { account, displayName } = enrolment;
    const { db, profiles } = this.#deps;
    const { username } = account;
    const now = formatMs(account.createdAtMs);
    const times = { created_at: now, updated_at: now };
    const profile = { username, display_name: displayName, verified: false, ...times };
    const id = await profiles.takeId();
    const outcome = await changePerson(this.#deps, username, async (change) => {
      const { tx } = change;
      const found = await profiles.find([username], { session: tx });
      if (found.length > 0) return "username_taken";
      const created = await createAccount(db, account, tx);
      if (created !== "created") return created;
      await profiles.insert(profile, id, change);
      await change.raise();
      return "enrolled";
    });
    if (outcome !== "enrolled") await profiles.giveBack(id);
    return outcome;
  }

  async erase(username: string): Promise<boolean> {
    const { db, profiles, platformAccounts, subjects } = this.#deps;
    return await changePerson(this.#deps, username, async (change) => {
      const { tx } = change;
      if (!(await removeAccount(db, username, tx))) return false;
      const accountId = await subjects.remove(username, tx);
      // An account without an id has made no call.
      const usages = lookupLogOf<UsageDocument>(db);
      await usages.deleteOne({ _id: usageId(accountId ?? "") }, { session: tx });
      for (const name of REMOVED_BY_NAME) {
        // A call that adds one takes a number too: of both, one starts again and sees the other.
        await takeNumbers(db, name, 1, tx);
        await db.collection(name).deleteMany({ username }, { session: tx });
      }
      await platformAccounts.remove(username, change);
      await profiles.remove(username, change);
      await change.raise();
      return true;
    });
  }
}
