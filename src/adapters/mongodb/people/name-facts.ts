// What is kept of the people whom rows name: in the documents of their accounts. D-8.1.
import type { ClientSession, Collection, Db, FindOptions } from "mongodb";
import type { Account } from "../../../domain/reputation/accounts/account.ts";
import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import type { KnownNames } from "../../../ports/tables/known-names.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { COMMITTED, readCommitted, type StoreDeps } from "../driver/operations.ts";

/** The accounts by username; of those with an address no two have the same. */
export const ACCOUNTS: InternalCollection = {
  name: "repsync_accounts",
  indexes: [{ name: "repsync_email", key: { emailKey: 1 }, unique: true, sparse: true }],
};

export interface AccountDocument extends Omit<Account, "username"> {
  /** Username. */
  readonly _id: string;
  /** Unique; absent without an address. */
  readonly emailKey?: string;
  /** True when the owner has set the profile's `public` to false; absent otherwise. */
  readonly hidesProfile?: true;
}

/** Keeps whether the owner has hidden the profile, within the caller's transaction. */
export async function noteHidden(
  db: Db,
  username: string,
  isHidden: boolean,
  tx: ClientSession,
): Promise<void> {
  const change = isHidden
    ? { $set: { hidesProfile: true as const } }
    : { $unset: { hidesProfile: 1 as const } };
  await accountsOf(db).updateOne({ _id: username }, change, { session: tx });
}

/** What is known of these people, by name, as far as anything is; within a transaction or with options of a read. */
export async function readNameFacts(
  db: Db,
  usernames: readonly string[],
  options: FindOptions,
): Promise<ReadonlyMap<string, NameFacts>> {
  const known = [{ passwordHash: { $type: "string" as const } }, { hidesProfile: true as const }];
  const found = await accountsOf(db)
    .find({ _id: { $in: [...usernames] }, $or: known }, options)
    .project<Pick<AccountDocument, "_id" | "passwordHash" | "hidesProfile">>({
      passwordHash: 1,
      hidesProfile: 1,
    })
    .toArray();
  const facts = found.map(({ _id, passwordHash, hidesProfile = false }) => {
    return [_id, { ownsProfile: passwordHash !== null, hidesProfile }] as const;
  });
  return new Map(facts);
}

export function accountsOf(db: Db): Collection<AccountDocument> {
  return db.collection(ACCOUNTS.name);
}

export class MongoKnownNames implements KnownNames {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async readFacts(usernames: readonly string[]): Promise<ReadonlyMap<string, NameFacts>> {
    return await readCommitted(this.#deps, () =>
      readNameFacts(this.#deps.db, usernames, COMMITTED),
    );
  }
}
