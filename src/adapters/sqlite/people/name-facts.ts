// What is kept of the people whom rows name. D-8.1, D-8.2.
import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import type { KnownNames } from "../../../ports/tables/known-names.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { ErasedNames } from "./erased-names.ts";

/** The people who have set their profile's `public` to false. */
export const NAME_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_hidden_profiles (username TEXT PRIMARY KEY) WITHOUT ROWID`,
];

const FACTS =
  "SELECT EXISTS (SELECT 1 FROM repsync_accounts WHERE username = ?1 AND password_hash IS NOT NULL)" +
  " AS owns, EXISTS (SELECT 1 FROM repsync_hidden_profiles WHERE username = ?1) AS hides," +
  // Of any name: an HMAC for each would cost more.
  " EXISTS (SELECT 1 FROM repsync_erased_names) AS erased";
const HIDE = "INSERT INTO repsync_hidden_profiles (username) VALUES (?) ON CONFLICT DO NOTHING";
const SHOW = "DELETE FROM repsync_hidden_profiles WHERE username = ?";

/** Within a read or a write; null when nothing is known of the name. */
export function readNameFacts(
  database: Pick<SqliteDatabase, "all">,
  erasedNames: ErasedNames,
  username: string,
): NameFacts | null {
  const [row] = database.all(FACTS, [username]);
  const ownsProfile = row?.["owns"] === 1;
  const hidesProfile = row?.["hides"] === 1;
  const erased = row?.["erased"] === 1 ? erasedNames.find(username) : null;
  const isKnown = ownsProfile || hidesProfile || erased !== null;
  return isKnown ? { ownsProfile, hidesProfile, erased } : null;
}

/** Keeps whether the owner has hidden the profile, within the caller's write. */
export function noteHidden(database: SqliteDatabase, username: string, isHidden: boolean): void {
  database.run(isHidden ? HIDE : SHOW, [username]);
}

export class SqliteKnownNames implements KnownNames {
  readonly #database: SqliteDatabase;
  readonly #erasedNames: ErasedNames;

  constructor(database: SqliteDatabase, erasedNames: ErasedNames) {
    this.#database = database;
    this.#erasedNames = erasedNames;
  }

  async readFacts(usernames: readonly string[]): Promise<ReadonlyMap<string, NameFacts>> {
    return this.#database.read(() => {
      const factsOf = (name: string) => readNameFacts(this.#database, this.#erasedNames, name);
      const facts = usernames.map((name) => [name, factsOf(name)] as const);
      return new Map(facts.filter((known): known is [string, NameFacts] => known[1] !== null));
    });
  }
}
