// What documents of repositories tell of the people whom rows name, within the transaction of a push. D-8.1, D-8.2.
import type { Collection, Db, Document, FindOptions } from "mongodb";
import type { Account } from "../../../domain/reputation/accounts/account.ts";
import type { Erasure } from "../../../domain/sync/people/erasure.ts";
import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import { cutBatches } from "../driver/collections.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import { beginTurns } from "../driver/turns.ts";

/** Keys that one command looks up. */
const LOOKUP = { maxItems: 10_000, maxBytes: 8 * 1024 * 1024 };

interface AccountDocument extends Account {
  readonly hidesProfile?: true;
}

/** The names that were erased. */
export class ErasedNames {
  readonly #collection: Collection;
  readonly #clock: Stopwatch;
  #hmacOf: ((username: string) => string) | null = null;

  constructor(db: Db, clock: Stopwatch) {
    this.#collection = db.collection("repsync_erased_names");
    this.#clock = clock;
  }

  /** Until then no name may have been erased. */
  open(hmacOf: (username: string) => string): void {
    this.#hmacOf = hmacOf;
  }

  /** The erasures of those of these names that were erased. */
  async findAll(
    usernames: readonly string[],
    options: FindOptions,
  ): Promise<ReadonlyMap<string, Erasure>> {
    const found = new Map<string, Erasure>();
    const isAny = (await this.#collection.findOne({}, options)) !== null;
    if (usernames.length === 0 || !isAny) return found;
    if (this.#hmacOf === null)
      throw new Error("Erased names cannot be told before they are opened");
    const names = new Map<string, string>();
    const turns = beginTurns(this.#clock);
    for (const name of usernames) {
      if (turns.isOver) await turns.next();
      names.set(this.#hmacOf(name), name);
    }
    for (const { hmac, at, isTaken } of await findByKey(this.#collection, names.keys(), options)) {
      found.set(names.get(String(hmac)) ?? "", { at, isTaken });
    }
    return found;
  }
}

/** What is known of these people, by name, as far as anything is. */
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
  const accounts = db.collection("repsync_accounts");
  for (const found of await findByKey(accounts, usernames, options)) {
    const { username, passwordHash, hidesProfile = false } = found as unknown as AccountDocument;
    const ownsProfile = passwordHash !== null;
    const erased = erasures.get(username) ?? null;
    if (ownsProfile || hidesProfile) facts.set(username, { ownsProfile, hidesProfile, erased });
  }
  return facts;
}

/** The documents whose key is one of these texts. */
async function findByKey(
  collection: Collection,
  keys: Iterable<string>,
  options: FindOptions,
): Promise<readonly Document[]> {
  const found: Document[] = [];
  const limits = { ...LOOKUP, bytesOf: (key: string) => 3 * key.length };
  for (const part of cutBatches([...keys], limits)) {
    const isAny = { _id: { $in: part.map((key) => ({ 0: key })) } } as Document;
    found.push(...(await collection.find(isAny, options).toArray()));
  }
  return found;
}
