import {
  FIRST_LOOKUP,
  type SecretName,
  type SecretStore,
} from "../../../ports/accounts/api-key-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";

export const SECRET_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_secrets (
    name TEXT PRIMARY KEY, secret TEXT NOT NULL
  ) WITHOUT ROWID`,
];

const FIND = "SELECT secret FROM repsync_secrets WHERE name = ?";
const KEEP =
  "INSERT INTO repsync_secrets (name, secret) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";

/** Within a read. */
export function hadFirstLookup(database: SqliteDatabase): boolean {
  return database.all(FIND, [FIRST_LOOKUP.name]).length > 0;
}

/** Within a write. */
export function noteFirstLookup(database: SqliteDatabase): void {
  database.run(KEEP, [FIRST_LOOKUP.name, FIRST_LOOKUP.value]);
}

/** Secrets in a table; the file is not for others to read. */
export class SqliteSecretStore implements SecretStore {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async getOrCreate(name: SecretName, fresh: string): Promise<string> {
    return this.#database.keep(() => {
      this.#database.run(KEEP, [name, fresh]);
      return String(this.#database.all(FIND, [name])[0]?.["secret"]);
    });
  }
}
