import type { ClientSession, Collection } from "mongodb";
import type { Account } from "../../domain/account.ts";
import { emailKey } from "../../domain/reputation/account.ts";
import type { AccountChanges, AccountConflict, AccountStore } from "../../ports/account-store.ts";
import type { InternalCollection } from "./internal-collections.ts";
import { endSessionsOf } from "./session-store.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreParts,
  writeOne,
  writeTogether,
} from "./store-calls.ts";

/** The accounts by username; of those with an address no two have the same. */
export const ACCOUNTS: InternalCollection = {
  name: "repsync_accounts",
  indexes: [{ name: "repsync_email", key: { emailKey: 1 }, unique: true, sparse: true }],
};

interface AccountDocument extends Omit<Account, "username"> {
  /** Username. */
  readonly _id: string;
  /** What makes addresses unique; absent without one. */
  readonly emailKey?: string;
}

/** Accounts as documents. */
export class MongoAccountStore implements AccountStore {
  readonly #parts: StoreParts;
  readonly #accounts: Collection<AccountDocument>;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#accounts = parts.db.collection(ACCOUNTS.name);
  }

  async create(account: Account): Promise<"created" | AccountConflict> {
    return await writeTogether(this.#parts, (session) => this.#create(account, session));
  }

  async find(username: string): Promise<Account | null> {
    const found = await readCommitted(this.#parts, () =>
      this.#accounts.findOne({ _id: username }, COMMITTED),
    );
    return found === null ? null : readAccount(found);
  }

  async update(username: string, changes: AccountChanges): Promise<Account | null> {
    const changed = await writeOne(this.#parts, (options) =>
      this.#accounts.findOneAndUpdate(
        { _id: username },
        { $set: changes },
        { ...options, returnDocument: "after" },
      ),
    );
    return changed === null ? null : readAccount(changed);
  }

  async remove(username: string): Promise<boolean> {
    return await writeTogether(this.#parts, async (session) => {
      await endSessionsOf(this.#parts.db, { username, session });
      const { deletedCount } = await this.#accounts.deleteOne({ _id: username }, { session });
      return deletedCount > 0;
    });
  }

  /** Of two at once the later one fails for a conflict, and finds the account of the first when it is run again. */
  async #create(account: Account, session: ClientSession): Promise<"created" | AccountConflict> {
    const { username: _id, ...rest } = account;
    const key = account.email === null ? {} : { emailKey: emailKey(account.email) };
    const taken = await this.#accounts
      .find({ $or: [{ _id }, ...("emailKey" in key ? [key] : [])] }, { session })
      .project<{ _id: string }>({ _id: 1 })
      .toArray();
    if (taken.some((other) => other._id === _id)) return "username_taken";
    if (taken.length > 0) return "email_taken";
    await this.#accounts.insertOne({ _id, ...rest, ...key }, { session });
    await endSessionsOf(this.#parts.db, { username: _id, session });
    return "created";
  }
}

function readAccount({ _id, emailKey: _key, ...rest }: AccountDocument): Account {
  return { username: _id, ...rest };
}
