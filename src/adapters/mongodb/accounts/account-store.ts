import type { ClientSession, Collection, Db } from "mongodb";
import type { Account } from "../../../domain/reputation/accounts/account.ts";
import { emailKey } from "../../../domain/reputation/accounts/account.ts";
import { isIssuedSince } from "../../../domain/sync/people/erasure.ts";
import type {
  AccountChanges,
  AccountConflict,
  AccountStore,
  PasswordChange,
} from "../../../ports/accounts/account-store.ts";
import { COMMITTED, readCommitted, writeTogether } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { type AccountDocument, accountsOf } from "../people/name-facts.ts";
import { endSessionsOf } from "./session-store.ts";

export interface AccountStoreDeps extends VersionedDeps {
  readonly erasedNames: ErasedNames;
}

export class MongoAccountStore implements AccountStore {
  readonly #deps: AccountStoreDeps;
  readonly #accounts: Collection<AccountDocument>;

  constructor(deps: AccountStoreDeps) {
    this.#deps = deps;
    this.#accounts = accountsOf(deps.db);
  }

  async create(
    account: Account,
    by?: { readonly tokenIssuedAtMs: number | null },
  ): Promise<"created" | AccountConflict | "erased_since"> {
    const { erasedNames } = this.#deps;
    return await writeTogether(this.#deps, async (tx) => {
      const erased = by === undefined ? null : await erasedNames.find(account.username, tx);
      const isOld = erased !== null && !isIssuedSince(erased, by?.tokenIssuedAtMs ?? null);
      return isOld ? "erased_since" : await createAccount(this.#deps, account, tx);
    });
  }

  async find(username: string): Promise<Account | null> {
    const found = await readCommitted(this.#deps, () =>
      this.#accounts.findOne({ _id: username }, COMMITTED),
    );
    return found === null ? null : readAccount(found);
  }

  async update(username: string, changes: AccountChanges): Promise<Account | null> {
    const changed = await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const options = { session: tx, returnDocument: "after" } as const;
      const account = await this.#accounts.findOneAndUpdate(
        { _id: username },
        { $set: changes },
        options,
      );
      if (account !== null) await raise();
      return account;
    });
    return changed === null ? null : readAccount(changed);
  }

  async changePassword(
    username: string,
    { from, to, keptSession }: PasswordChange,
  ): Promise<boolean> {
    const isIt = { _id: username, ...(from === null ? {} : { passwordHash: from }) };
    return await writeTogether(this.#deps, async (tx) => {
      const change = { $set: { passwordHash: to } };
      const { matchedCount } = await this.#accounts.updateOne(isIt, change, { session: tx });
      if (matchedCount === 0) return false;
      await endSessionsOf(this.#deps.db, username, tx, keptSession);
      return true;
    });
  }

  async remove(username: string): Promise<boolean> {
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const isRemoved = await removeAccount(this.#deps.db, username, tx);
      if (isRemoved) await raise();
      return isRemoved;
    });
  }
}

/**
 * As `AccountStore.create()`, within the caller's transaction. Of two at once the later one fails for a conflict, and
 * finds the account of the first when it is run again.
 */
export async function createAccount(
  { db, erasedNames }: Pick<AccountStoreDeps, "db" | "erasedNames">,
  account: Account,
  tx: ClientSession,
): Promise<"created" | AccountConflict> {
  const { username: _id, ...rest } = account;
  const key = account.email === null ? {} : { emailKey: emailKey(account.email) };
  const taken = await accountsOf(db)
    .find({ $or: [{ _id }, ...("emailKey" in key ? [key] : [])] }, { session: tx })
    .project<{ _id: string }>({ _id: 1 })
    .toArray();
  if (taken.some((other) => other._id === _id)) return "username_taken";
  if (taken.length > 0) return "email_taken";
  await accountsOf(db).insertOne({ _id, ...rest, ...key }, { session: tx });
  await endSessionsOf(db, _id, tx);
  await erasedNames.begin(_id, tx);
  return "created";
}

/** Whether there is an account of that name, within the caller's transaction. */
export async function hasAccount(db: Db, username: string, tx: ClientSession): Promise<boolean> {
  return (await accountsOf(db).findOne({ _id: username }, { session: tx })) !== null;
}

/** As `AccountStore.remove()`, within the caller's transaction. */
export async function removeAccount(db: Db, username: string, tx: ClientSession): Promise<boolean> {
  await endSessionsOf(db, username, tx);
  const { deletedCount } = await accountsOf(db).deleteOne({ _id: username }, { session: tx });
  return deletedCount > 0;
}

function readAccount({
  _id,
  emailKey: _key,
  hidesProfile: _hides,
  ...rest
}: AccountDocument): Account {
  return { username: _id, ...rest };
}
