// A backup is a SQLite file with all tables of the store, and one that says what it is. D-10.7.
import { createHash } from "node:crypto";
import { AppError } from "../../../domain/shared/errors.ts";
import { checkBackupFormat, STORE_FORMAT } from "../../../domain/shared/store-format.ts";
import type { BackupFacts, CopyCounts, CopyProgress } from "../../../ports/copies/store-copies.ts";
import type { OpenSqlite, SqliteConnection } from "../driver/driver.ts";
import { storeError } from "../driver/result-codes.ts";
import {
  allRows,
  BACKUP_TABLE,
  digestTables,
  isRowTable,
  type TableDigests,
} from "./row-digests.ts";

/** How a backup says what it is; a later program may have others. */
const BACKUP_VERSION = "1";
const BUSY_MS = 10_000;

export interface BackupContent {
  readonly facts: BackupFacts;
  readonly digests: TableDigests;
}

export interface CopyOrder {
  readonly source: string;
  /** An empty file. */
  readonly target: string;
  readonly facts: Omit<BackupFacts, "store" | "format">;
}

/**
 * Copies a file, as it is at one moment, and checks the copy. Blocks for long. Throws `store_unavailable`, and
 * `file_failed` for what goes wrong with the copy.
 */
export async function copyFile(
  openSqlite: OpenSqlite,
  { source, target, facts }: CopyOrder,
  onProgress: (progress: CopyProgress) => void,
): Promise<CopyCounts> {
  await using(openSqlite, source, "file_failed", (connection) => {
    run(connection, `PRAGMA busy_timeout = ${BUSY_MS}`);
    // Without the free pages, where erased rows may be.
    run(connection, "VACUUM INTO ?", [target]);
  });
  return await using(openSqlite, target, "file_failed", (connection) => {
    run(connection, "PRAGMA journal_mode = DELETE");
    const digests = check(connection, onProgress);
    const format = Number(
      allRows(connection, "SELECT value FROM repsync_store WHERE name = 'format'")[0]?.["value"] ??
        STORE_FORMAT,
    );
    run(connection, `CREATE TABLE ${BACKUP_TABLE} (name TEXT PRIMARY KEY, value TEXT NOT NULL)`);
    const content = {
      version: BACKUP_VERSION,
      facts: JSON.stringify({ store: "sqlite", format, ...facts } satisfies BackupFacts),
      digests: JSON.stringify(digests),
    };
    const all = { ...content, check: checkSum(content) };
    for (const [name, value] of Object.entries(all)) {
      run(connection, `INSERT INTO ${BACKUP_TABLE} VALUES (?, ?)`, [name, value]);
    }
    return countsOf(connection, digests);
  });
}

/** What a backup says of itself. Throws `invalid_request` for a file that is none, or one of a later program. */
export function readContent(connection: SqliteConnection): BackupContent {
  const isThere = `SELECT 1 FROM sqlite_schema WHERE name = '${BACKUP_TABLE}'`;
  if (allRows(connection, isThere).length === 0) {
    const text =
      "The file is a SQLite database and no backup of repsync: to take over a store, use repsync move";
    throw new AppError("invalid_request", text);
  }
  const rows = allRows(connection, `SELECT name, value FROM ${BACKUP_TABLE}`);
  const values = new Map(rows.map((row) => [String(row["name"]), String(row["value"])]));
  const { version, ...stated } = Object.fromEntries(values);
  const facts = parse(values.get("facts")) as BackupFacts | null;
  checkBackupFormat(version === BACKUP_VERSION, facts?.format ?? STORE_FORMAT);
  const digests = parse(values.get("digests")) as TableDigests | null;
  const { check: sum, ...others } = stated;
  const isWhole = sum === checkSum({ version, ...others });
  if (facts === null || digests === null || !isWhole) throw damaged();
  return { facts, digests };
}

/** Throws `file_failed` when the file does not hold exactly these rows. */
export function checkContent(
  connection: SqliteConnection,
  { digests }: BackupContent,
  onProgress: (progress: CopyProgress) => void,
): CopyCounts {
  const total = Object.values(digests).reduce((sum, [rows]) => sum + rows, 0);
  const found = check(connection, ({ rows }) =>
    onProgress({ rows, part: Math.min(1, rows / Math.max(1, total)) }),
  );
  if (JSON.stringify(found) !== JSON.stringify(digests)) throw damaged();
  return countsOf(connection, digests);
}

/** Opens a file for some work and closes it. Throws an `AppError` of this kind for what the driver throws. */
export async function using<T>(
  openSqlite: OpenSqlite,
  path: string,
  kind: "store_unavailable" | "file_failed",
  work: (connection: SqliteConnection) => T,
): Promise<T> {
  const connection = await openSqlite(path);
  try {
    return work(connection);
  } catch (error) {
    const told = storeError("store_unavailable", connection.resultCode(error), error);
    if (kind === "store_unavailable" || !(told instanceof AppError) || told === error) throw told;
    const text = told.message.replace("The database is unavailable", "The backup failed");
    throw new AppError("file_failed", text, { cause: error });
  } finally {
    connection.close();
  }
}

export function run(
  connection: SqliteConnection,
  sql: string,
  values: readonly string[] = [],
): void {
  const statement = connection.prepare(sql);
  try {
    statement.run(values);
  } finally {
    statement.finalize();
  }
}

function check(
  connection: SqliteConnection,
  onProgress: (progress: CopyProgress) => void,
): TableDigests {
  const [verdict] = allRows(connection, "PRAGMA integrity_check(1)");
  if (Object.values(verdict ?? {})[0] !== "ok") throw damaged();
  const reading = digestTables(connection);
  let step = reading.next();
  for (; !step.done; step = reading.next()) onProgress({ rows: step.value, part: null });
  return step.value;
}

function countsOf(connection: SqliteConnection, digests: TableDigests): CopyCounts {
  const tables = Object.entries(digests).filter(([name]) => isRowTable(name));
  const rows = tables.reduce((sum, [, [count]]) => sum + count, 0);
  const [found] = allRows(connection, "SELECT count(*) AS n FROM repsync_accounts");
  return { tables: tables.length, rows, accounts: Number(found?.["n"]) };
}

/** What a backup says of itself is not in the digests of its tables. */
function checkSum(content: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(content).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(entries)).digest("hex");
}

function damaged(): AppError {
  return new AppError(
    "file_failed",
    "The backup is damaged: it does not hold what it held at first",
  );
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return null;
  }
}
