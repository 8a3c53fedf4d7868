// The facts that a file tells about itself. D-10.4, D-10.7.
import { stat } from "node:fs/promises";
import {
  checkFormat,
  STORE_FORMAT,
  type StoreFactName,
  type StoreFacts,
  type StoreIdentity,
} from "../../../domain/shared/store-format.ts";
import type { OpenSqlite } from "./connection.ts";
import { SqliteDatabase, type SqliteOptions } from "./database.ts";
import { openFileReadOnly } from "./database-file.ts";
import type { SqliteWork } from "./run-body.ts";

const STORE_FACTS_TABLE = `CREATE TABLE IF NOT EXISTS repsync_store (
    name TEXT PRIMARY KEY, value TEXT NOT NULL
  ) WITHOUT ROWID`;

/** Finds no row in a new file. */
const HAS_OWN_TABLES =
  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name GLOB 'repsync_*' LIMIT 1";
const HAS_FACTS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'repsync_store'";
const READ = "SELECT name, value FROM repsync_store";
const KEEP_ID = `INSERT INTO repsync_store (name, value) VALUES ('deployment_id', lower(hex(randomblob(16))))`;
const KEEP_FORMAT = "INSERT INTO repsync_store (name, value) VALUES ('format', ?)";

/** Within a read; empty for a file that is no store. */
export function readFacts(database: Pick<SqliteWork, "all">): StoreFacts {
  if (database.all(HAS_FACTS).length === 0) return new Map();
  const rows = database.all(READ);
  return new Map(rows.map((row) => [row["name"] as StoreFactName, String(row["value"])]));
}

function checkedFacts(database: SqliteDatabase): StoreFacts {
  const facts = readFacts(database);
  checkFormat(facts, database.all(HAS_OWN_TABLES).length === 0);
  return facts;
}

/**
 * Checks the format before any change, and then keeps missing facts, within the write that opens the store. Throws
 * `invalid_request` for a store that this program must not use.
 */
export function prepareFacts(database: SqliteDatabase): StoreIdentity {
  const found = checkedFacts(database);
  const isNew = !found.has("format");
  database.run(STORE_FACTS_TABLE);
  if (!found.has("deployment_id")) database.run(KEEP_ID);
  if (isNew) database.run(KEEP_FORMAT, [String(STORE_FORMAT)]);
  const deploymentId = readFacts(database).get("deployment_id") ?? "";
  return { deploymentId, isNew };
}

interface ExamineOptions extends SqliteOptions {
  /** Checks what else has to fit, within a read. */
  readonly examine: (database: SqliteDatabase) => void;
}

/**
 * Checks that this program may use a file, before a byte of the file or beside it changes. D-11.4. Nothing is converted, so nobody needs
 * to know which processes have the file open. Throws `invalid_request` for an unknown format, and what `examine` throws.
 */
export async function examineFile(
  openSqlite: OpenSqlite,
  path: string,
  { examine, ...options }: ExamineOptions,
): Promise<void> {
  const found = await stat(path).catch(() => null);
  // An empty file is a new store.
  if (found === null || found.size === 0) return;
  const database = new SqliteDatabase(await openFileReadOnly(openSqlite, path), options);
  try {
    await database.read(() => {
      checkedFacts(database);
      examine(database);
    });
  } finally {
    await database.close();
  }
}
