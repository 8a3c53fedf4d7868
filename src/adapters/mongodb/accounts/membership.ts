import type { ClientSession } from "mongodb";
import { firstProfile, type PersonalData } from "../../../domain/reputation/accounts/membership.ts";
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { AccountConflict } from "../../../ports/accounts/account-store.ts";
import type { Enrolment, Membership } from "../../../ports/accounts/membership.ts";
import { dropAlertsOf, forgetRejected } from "../documents/own-documents.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { lookupLogOf } from "../driver/lookup-log.ts";
import { changePerson } from "../driver/person-changes.ts";
import { meetEveryPush } from "../driver/person-versions.ts";
import { readNowMs } from "../driver/server-clock.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { createAccount, findAccount, isLastAdministrator, removeAccount } from "./account-store.ts";
import { type UsageDocument, usageId, usageOf } from "./account-usage.ts";
import type { NoteAdminAct } from "./administration.ts";
import { API_KEYS } from "./api-key-store.ts";
import { CONSENTS } from "./consent-store.ts";
import { forgetAttempts } from "./own-documents.ts";
import type { ProfileDeps } from "./profile-store.ts";
import { dropQuotaMarks } from "./quota-marks.ts";
import type { Subjects } from "./subjects.ts";

interface MembershipDeps extends ProfileDeps {
  readonly erasedNames: ErasedNames;
  readonly noteAdminAct: NoteAdminAct;
  readonly subjects: Subjects;
}

export class MongoMembership implements Membership {
  readonly #deps: MembershipDeps;

  constructor(deps: MembershipDeps) {
    this.#deps = deps;
  }

  async enrol(enrolment: Enrolment): Promise<"enrolled" | AccountConflict> {
    const { account, displayName } = enrolment;
    const { erasedNames, profiles, platformAccounts } = this.#deps;
    const { username } = account;
    const id = await profiles.takeId();
    const outcome = await changePerson(this.#deps, username, async (change) => {
      const { tx } = change;
      for (const table of [profiles, platformAccounts]) {
        const found = await table.find([username], { session: tx });
        if (found.length > 0) return "username_taken";
      }
      if ((await erasedNames.find(username, tx))?.isTaken) return "username_taken";
      const created = await createAccount(this.#deps, account, tx);
      if (created !== "created") return created;
      await profiles.insert(firstProfile(account, displayName), id, change);
      await change.raise();
      return "enrolled";
    });
    if (outcome !== "enrolled") await profiles.giveBack(id);
    return outcome;
  }

  async erase(
    username: string,
    request?: AdminRequest,
  ): Promise<"erased" | "last_administrator" | "absent"> {
    const { db, profiles, platformAccounts, subjects, noteAdminAct } = this.#deps;
    await Promise.all([profiles.awaitTombstones(), platformAccounts.awaitTombstones()]);
    return await changePerson(this.#deps, username, async (change) => {
      const { tx } = change;
      const account = await findAccount(db, username, tx);
      if (account === null) return "absent";
      if (await isLastAdministrator(db, account, tx)) return "last_administrator";
      if (request !== undefined) await noteAdminAct({ action: "erase", username, ...request }, tx);
      await removeAccount(db, username, tx);
      const accountId = await subjects.remove(username, tx);
      await this.#remember(username, accountId ?? "", tx);
      await meetEveryPush(db, tx);
      const erase: Record<Exclude<PersonalData, "subject">, () => Promise<void>> = {
        apiKeys: () => this.#removeNumbered(API_KEYS.name, username, tx),
        consents: () => this.#removeNumbered(CONSENTS.name, username, tx),
        // An account without an id has made no call.
        usage: () => this.#removeUsage(accountId ?? "", tx),
        attempts: () => forgetAttempts(db, username, tx),
      };
      for (const eraseOne of Object.values(erase)) await eraseOne();
      const tables = [profiles.tableName, platformAccounts.tableName];
      await dropAlertsOf(db, username, tx);
      await forgetRejected(db, tables, username, tx);
      await platformAccounts.remove(username, change);
      await profiles.remove(username, change);
      await change.raise();
      return "erased";
    });
  }

  async #remember(username: string, accountId: string, tx: ClientSession): Promise<void> {
    const { db, erasedNames } = this.#deps;
    const nowMs = await readNowMs(this.#deps);
    const usages = lookupLogOf<UsageDocument>(db);
    const usage = await usages.findOne({ _id: usageId(accountId) }, { session: tx });
    const earlier = await erasedNames.find(username, tx);
    const month = usageOf(usage ?? undefined, nowMs).month ?? earlier?.month ?? null;
    await erasedNames.keep(username, { at: formatMs(nowMs), month }, tx);
  }

  /** A call that adds a document takes a number too: of both, one starts again and sees the other. */
  async #removeNumbered(name: string, username: string, tx: ClientSession): Promise<void> {
    await takeNumbers(this.#deps.db, name, 1, tx);
    await this.#deps.db.collection(name).deleteMany({ username }, { session: tx });
  }

  async #removeUsage(accountId: string, tx: ClientSession): Promise<void> {
    const usages = lookupLogOf<UsageDocument>(this.#deps.db);
    await usages.deleteOne({ _id: usageId(accountId) }, { session: tx });
    await dropQuotaMarks(this.#deps.db, accountId, tx);
  }
}
