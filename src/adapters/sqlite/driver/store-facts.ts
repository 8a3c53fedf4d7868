// The facts that the file tells about itself. D-10.4, D-10.7.
import { stat } from "node:fs/promises";
import {
  checkFormat,
  STORE_FORMAT,
  type StoreFactName,
  type StoreFacts,
  type StoreIdentity,
} from "../../../domain/shared/store-format.ts";
import { SqliteDatabase, type SqliteOptions } from "./database.ts";
import type { OpenSqlite } from "./driver.ts";
import type { SqliteWork } from "./run-body.ts";

const STORE_FACTS_TABLE = `CREATE TABLE IF NOT EXISTS repsync_store (
    name TEXT PRIMARY KEY, value TEXT NOT NULL
  ) WITHOUT ROWID`;

/** A row unless a file is new. */
const HAS_OWN_TABLES =
  "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name GLOB 'repsync_*' LIMIT 1";
const HAS_FACTS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'repsync_store'";
const READ = "SELECT name, value FROM repsync_store";
const KEEP_ID = `INSERT INTO repsync_store (name, value) VALUES ('deployment_id', lower(hex(randomblob(16))))`;
const KEEP_FORMAT = "INSERT INTO repsync_store (name, value) VALUES ('format', ?)";

/** Within a read; none of a file that is no store. */
export function readFacts(database: Pick<SqliteWork, "all">): StoreFacts {
  if (database.all(HAS_FACTS).length === 0) return new Map();
  const rows = database.all(READ);
  return new Map(rows.map((row) => [row["name"] as StoreFactName, String(row["value"])]));
}

/** As `checkFormat`, of a file before it is changed; within a read or a write. */
function checkFileFormat(database: SqliteDatabase): void {
  checkFormat(readFacts(database), database.all(HAS_OWN_TABLES).length === 0);
}

/**
 * Reads them before anything is changed, and keeps those that are missing, within the write that opens the store. Throws
 * `invalid_request` when this program must not use the store.
 */
export function prepareFacts(database: SqliteDatabase): StoreIdentity {
  checkFileFormat(database);
  const found = readFacts(database);
  const isNew = !found.has("format");
  database.run(STORE_FACTS_TABLE);
  if (!found.has("deployment_id")) database.run(KEEP_ID);
  if (isNew) database.run(KEEP_FORMAT, [String(STORE_FORMAT)]);
  const deploymentId = readFacts(database).get("deployment_id") ?? "";
  return { deploymentId, isNew };
}

// The check that this program may use a file, made before a byte of it or beside it is changed. D-11.4. Where there is a log the
// look is read-only, since whoever closes a log last copies it into the file; where there is none, only a connection that may
// write removes the log that reading makes. Nothing is converted, so nobody has to know who has the file open.

interface ExamineOptions extends SqliteOptions {
  /** Looks at what else has to fit, within a read. */
  readonly examine: (database: SqliteDatabase) => void;
}

/** Throws `invalid_request` for a format that this program does not know, and what `examine` throws. */
export async function examineFile(
  openSqlite: OpenSqlite,
  path: string,
  { examine, ...options }: ExamineOptions,
): Promise<void> {
  const found = await stat(path).catch(() => null);
  // A file without a byte is a new store.
  if (found === null || found.size === 0) return;
  const database = await SqliteDatabase.look(openSqlite, path, options);
  try {
    await database.read(() => {
      checkFileFormat(database);
      examine(database);
    });
  } finally {
    await database.close();
  }
}
