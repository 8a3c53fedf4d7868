// What is kept of the people whom rows name. D-8.1.
import type { NameFacts } from "../../../domain/sync/people/owned-row.ts";
import type { KnownNames } from "../../../ports/tables/known-names.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** The people who have set their profile's `public` to false. */
export const NAME_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_hidden_profiles (username TEXT PRIMARY KEY) WITHOUT ROWID`,
];

const FACTS =
  "SELECT EXISTS (SELECT 1 FROM repsync_accounts WHERE username = ?1 AND password_hash IS NOT NULL)" +
  " AS owns, EXISTS (SELECT 1 FROM repsync_hidden_profiles WHERE username = ?1) AS hides";
const HIDE = "INSERT INTO repsync_hidden_profiles (username) VALUES (?) ON CONFLICT DO NOTHING";
const SHOW = "DELETE FROM repsync_hidden_profiles WHERE username = ?";

/** Within a read or a write; null when nothing is known of the name. */
export function readNameFacts(database: SqliteDatabase, username: string): NameFacts | null {
  const [row] = database.all(FACTS, [username]);
  const facts = { ownsProfile: row?.["owns"] === 1, hidesProfile: row?.["hides"] === 1 };
  return facts.ownsProfile || facts.hidesProfile ? facts : null;
}

/** Keeps whether the owner has hidden the profile, within the caller's write. */
export function noteHidden(database: SqliteDatabase, username: string, isHidden: boolean): void {
  database.run(isHidden ? HIDE : SHOW, [username]);
}

export class SqliteKnownNames implements KnownNames {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async readFacts(usernames: readonly string[]): Promise<ReadonlyMap<string, NameFacts>> {
    return this.#database.read(() => {
      const facts = usernames.map((name) => [name, readNameFacts(this.#database, name)] as const);
      return new Map(facts.filter((known): known is [string, NameFacts] => known[1] !== null));
    });
  }
}
