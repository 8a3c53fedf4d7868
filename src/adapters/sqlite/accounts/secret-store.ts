import type { SecretName, SecretStore } from "../../../ports/accounts/api-key-store.ts";
import type { SqliteDatabase } from "../driver/database.ts";

export const SECRET_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_secrets (
    name TEXT PRIMARY KEY, secret TEXT NOT NULL
  ) WITHOUT ROWID`,
];

const FIND = "SELECT secret FROM repsync_secrets WHERE name = ?";
const KEEP =
  "INSERT INTO repsync_secrets (name, secret) VALUES (?, ?) ON CONFLICT (name) DO NOTHING";

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
