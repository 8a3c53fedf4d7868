import type { ClientSession, Collection, Db, Document } from "mongodb";
import {
  type Account,
  emailKey,
  isActiveAdministrator,
  NEW_ACCOUNT,
} from "../../../domain/reputation/accounts/account.ts";
import { isIssuedSince } from "../../../domain/sync/people/erasure.ts";
import type {
  AccountConflict,
  AccountPage,
  AccountStore,
  PasswordChange,
} from "../../../ports/accounts/account-store.ts";
import { COMMITTED, readCommitted, writeOne, writeTogether } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
import type { ErasedNames } from "../people/erased-names.ts";
import { type AccountDocument, accountsOf } from "../people/name-facts.ts";
import { endSessionsOf } from "./own-documents.ts";

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

  async hasAdministrator(): Promise<boolean> {
    const found = await readCommitted(this.#deps, () =>
      this.#accounts.findOne({ role: "administrator" }, COMMITTED),
    );
    return found !== null;
  }

  async find(username: string): Promise<Account | null> {
    const found = await readCommitted(this.#deps, () =>
      this.#accounts.findOne({ _id: username }, COMMITTED),
    );
    return found === null ? null : readAccount(found);
  }

  async list({ text, limit, afterUsername }: AccountPage): Promise<readonly Account[]> {
    const isAfter = afterUsername === null ? {} : { _id: { $gt: afterUsername } };
    const filter = { ...isAfter, ...(text === null ? {} : { $expr: containsText(text) }) };
    const found = await readCommitted(this.#deps, () =>
      this.#accounts.find(filter, COMMITTED).sort({ _id: 1 }).limit(limit).toArray(),
    );
    return found.map(readAccount);
  }

  async noteSignIn(username: string, nowMs: number): Promise<void> {
    await writeOne(this.#deps, (options) =>
      this.#accounts.updateOne({ _id: username }, { $set: { lastSignInAtMs: nowMs } }, options),
    );
  }

  async changePassword(
    username: string,
    { from, to, keptSession }: PasswordChange,
  ): Promise<boolean> {
    const isIt = { _id: username, passwordHash: from };
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

/**
 * Whether nobody else could administer without this account, within the caller's transaction. Where somebody could, their
 * document is written: of two that remove each other at once one starts again, and is then the last.
 */
export async function isLastAdministrator(
  db: Db,
  account: Account,
  tx: ClientSession,
): Promise<boolean> {
  if (!isActiveAdministrator(account)) return false;
  const isOther = {
    role: "administrator",
    suspendedAtMs: null,
    _id: { $ne: account.username },
  } as const;
  const other = await accountsOf(db).findOne(isOther, { session: tx });
  if (other === null) return true;
  await accountsOf(db).updateOne({ _id: other._id }, { $inc: { timesLeft: 1 } }, { session: tx });
  return false;
}

/** The account as it is within a transaction; null when there is none. */
export async function findAccount(
  db: Db,
  username: string,
  tx: ClientSession,
): Promise<Account | null> {
  const found = await accountsOf(db).findOne({ _id: username }, { session: tx });
  return found === null ? null : readAccount(found);
}

/** An expression that is true where the name or the address contains a text, whatever the case of A to Z. */
function containsText(text: string): Document {
  const wanted = { $toLower: { $literal: text } };
  const has = (field: unknown) => ({ $gte: [{ $indexOfBytes: [{ $toLower: field }, wanted] }, 0] });
  return { $or: [has("$_id"), has({ $ifNull: ["$email", ""] })] };
}

/** Documents of earlier versions have neither of both times. */
function readAccount({
  _id,
  emailKey: _key,
  hidesProfile: _hides,
  timesLeft: _times,
  ...rest
}: AccountDocument): Account {
  return { ...NEW_ACCOUNT, username: _id, ...rest };
}
