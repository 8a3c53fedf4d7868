// What is kept of the people whom rows name: in the documents of their accounts, and under HMACs. D-8.1, D-8.2.
import type { ClientSession, Collection, Db, FindOptions } from "mongodb";
import type { Account } from "../../../domain/reputation/accounts/account.ts";
import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import type { KnownNames } from "../../../ports/tables/known-names.ts";
import { cutBatches, type InternalCollection } from "../driver/collections.ts";
import { COMMITTED, readCommitted, type StoreDeps } from "../driver/operations.ts";
import type { ErasedNames } from "./erased-names.ts";

/** The accounts by username; of those with an address no two have the same. */
export const ACCOUNTS: InternalCollection = {
  name: "repsync_accounts",
  indexes: [
    { name: "repsync_email", key: { emailKey: 1 }, unique: true, sparse: true },
    {
      name: "repsync_administrators",
      key: { role: 1 },
      partialFilterExpression: { role: "administrator" },
    },
  ],
};

export interface AccountDocument extends Omit<Account, "username"> {
  /** Username. */
  readonly _id: string;
  /** Unique; absent without an address. */
  readonly emailKey?: string;
  /** True when the owner has set the profile's `public` to false; absent otherwise. */
  readonly hidesProfile?: true;
  /** Times that it was left as one who can still administer; written only to be written. */
  readonly timesLeft?: number;
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

/** Names that one command looks up. */
const LOOKUP = { maxItems: 10_000, maxBytes: 8 * 1024 * 1024 };

/** What is known of these people, by name, as far as anything is; within a transaction or with options of a read. */
export async function readNameFacts(
  db: Db,
  erasedNames: ErasedNames,
  usernames: readonly string[],
  options: FindOptions,
): Promise<ReadonlyMap<string, NameFacts>> {
  const erasures = await erasedNames.findAll(usernames, options);
  const facts = new Map<string, NameFacts>();
  for (const [name, erased] of erasures) {
    facts.set(name, { ownsProfile: false, hidesProfile: false, erased });
  }
  const isKnown = [{ passwordHash: { $type: "string" as const } }, { hidesProfile: true as const }];
  const fields = { passwordHash: 1, hidesProfile: 1 } as const;
  const limits = { ...LOOKUP, bytesOf: (name: string) => 3 * name.length };
  for (const $in of cutBatches(usernames, limits)) {
    const found = await accountsOf(db)
      .find({ _id: { $in }, $or: isKnown }, options)
      .project<Pick<AccountDocument, "_id" | "passwordHash" | "hidesProfile">>(fields)
      .toArray();
    for (const { _id, passwordHash, hidesProfile = false } of found) {
      const erased = erasures.get(_id) ?? null;
      facts.set(_id, { ownsProfile: passwordHash !== null, hidesProfile, erased });
    }
  }
  return facts;
}

export function accountsOf(db: Db): Collection<AccountDocument> {
  return db.collection(ACCOUNTS.name);
}

export class MongoKnownNames implements KnownNames {
  readonly #deps: StoreDeps;
  readonly #erasedNames: ErasedNames;

  constructor(deps: StoreDeps, erasedNames: ErasedNames) {
    this.#deps = deps;
    this.#erasedNames = erasedNames;
  }

  async readFacts(usernames: readonly string[]): Promise<ReadonlyMap<string, NameFacts>> {
    return await readCommitted(this.#deps, () =>
      readNameFacts(this.#deps.db, this.#erasedNames, usernames, COMMITTED),
    );
  }
}
