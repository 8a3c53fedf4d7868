// Facts about the people whom rows and tokens name: from their accounts, and from HMACs of erased names.
import type { ErasedName } from "../../domain/reputation/accounts/account.ts";
import { isKey } from "../../domain/shared/document-key.ts";
import type { FactsByName } from "../../domain/sync/people/arrivals.ts";
import type { NameFacts } from "../../domain/sync/people/name-facts.ts";
import type { DocumentStore, Reader, Transaction } from "../../ports/documents.ts";
import { ACCOUNTS, ERASED_NAMES, type ErasedNameDocument } from "../account-collections.ts";
import { Repository } from "../repository.ts";

/** The HMAC that stands for an erased name, the same on all instances for ever. D-8.2. */
export type HmacOfName = (username: string) => string;

const NAMES_AT_ONCE = 1_000;

/** Facts about people by name. D-8.1, D-8.2. */
export class Names extends Repository {
  readonly #hmacOf: HmacOfName;

  constructor(documents: DocumentStore, hmacOf: HmacOfName) {
    super(documents);
    this.#hmacOf = hmacOf;
  }

  async readFacts(usernames: readonly string[]): Promise<FactsByName> {
    return await this.reading("names.read_facts", (at) => this.#read(at, usernames));
  }

  /** As `readFacts`, in a body that writes rows of these people, and runs again where one is erased meanwhile. D-8.2. */
  async readFactsWithin(tx: Transaction, usernames: readonly string[]): Promise<FactsByName> {
    return await this.#read(tx, usernames, () => tx.turn());
  }

  /** Those of these people whose names an erasure has taken. Nothing stored names them. */
  async erasedAmong(usernames: readonly string[], tx?: Transaction): Promise<ReadonlySet<string>> {
    const facts = await (tx ? this.readFactsWithin(tx, usernames) : this.readFacts(usernames));
    return new Set(usernames.filter((name) => facts.get(name)?.erased?.isTaken));
  }

  /** The last erasure of a name; null for one that was never erased here. */
  async findErased(username: string): Promise<ErasedName | null> {
    const [[erased]] = await this.ask("names.find_erased", {
      from: ERASED_NAMES,
      keys: [[this.#hmacOf(username)]],
    });
    return erased ?? null;
  }

  /** `turn` is called between parts of many names. */
  async #read(
    at: Reader,
    usernames: readonly string[],
    turn?: () => Promise<void>,
  ): Promise<FactsByName> {
    const facts = new Map<string, NameFacts>();
    const names = [...new Set(usernames)].filter((name) => isKey([name]));
    for (let start = 0; start < names.length; start += NAMES_AT_ONCE) {
      if (start > 0) await turn?.();
      const part = names.slice(start, start + NAMES_AT_ONCE);
      const [accounts, anyErased] = await at.read(
        { from: ACCOUNTS, keys: part.map((name) => [name]) },
        { from: ERASED_NAMES, count: { limit: 1 } },
      );
      // An HMAC for each name would cost more than all of the rest.
      const erased = anyErased === 0 ? new Map() : await this.#readErasures(at, part);
      for (const [name, { at: erasedAt, isTaken }] of erased) {
        const erasure = { at: erasedAt, isTaken };
        facts.set(name, { ownsProfile: false, hidesProfile: false, erased: erasure });
      }
      for (const { username, passwordHash, hidesProfile = false } of accounts) {
        const ownsProfile = passwordHash !== null;
        if (!ownsProfile && !hidesProfile) continue;
        const known = facts.get(username)?.erased ?? null;
        facts.set(username, { ownsProfile, hidesProfile, erased: known });
      }
    }
    return facts;
  }

  async #readErasures(
    at: Reader,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, ErasedNameDocument>> {
    const nameOf = new Map(names.map((name) => [this.#hmacOf(name), name]));
    const keys = Array.from(nameOf.keys(), (hmac) => [hmac]);
    const [found] = await at.read({ from: ERASED_NAMES, keys });
    return new Map(found.map((erased) => [nameOf.get(erased.hmac) ?? "", erased]));
  }
}
