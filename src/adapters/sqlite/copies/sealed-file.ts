// A backup is a SQLite file: the tables of the store, one that describes the backup, and a digest behind the last page. D-10.7.
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { appendFile, open, stat } from "node:fs/promises";
import type { AppErrorKind } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  backupDamaged,
  checkBackupFormat,
  fileFailure,
  STORE_FORMAT,
} from "../../../domain/shared/store-format.ts";
import type {
  BackUpJob,
  Backup,
  BackupFacts,
  CheckedBackup,
  CopyCounts,
  CopyJob,
} from "../../../ports/copies/store-copies.ts";
import type { AnyCollection } from "../../../ports/documents.ts";
import { OpenConnection, type OpenSqlite } from "../driver/connection.ts";
import { storeError } from "../driver/errors.ts";
import { countItems, dumpFile, isRowTable, tableNames } from "./file-dump.ts";

export const BACKUP_TABLE = "repsync_backup";
const BACKUP_VERSION = "2";
const BUSY_MS = 10_000;
const CHUNK_BYTES = 1024 * 1024;
/** A line feed and the digest. SQLite ignores bytes behind the last page. */
export const SEAL_BYTES = 65;
const WORKER = new URL("./copy-worker.ts", import.meta.url);
const LOOK_EVERY_MS = 200;

/** The last message of the thread. */
export type WorkerEnd =
  | { readonly counts: CopyCounts }
  | { readonly kind: AppErrorKind | null; readonly message: string; readonly hint: string | null };

/** Copies in another thread, where the driver has threads. */
export async function backUp(
  { openSqlite, path }: { readonly openSqlite: OpenSqlite; readonly path: string },
  job: BackUpJob,
): Promise<CopyCounts> {
  const { facts, stop } = job;
  stop?.throwIfAborted();
  const order = { source: path, target: job.path, facts };
  const probe = await openSqlite(path);
  try {
    if (probe.runAside === undefined) return await copyFile(openSqlite, order);
    const work = probe.runAside(WORKER, order);
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    const onStop = () => {
      work.stop();
      reject(stop?.reason);
    };
    stop?.addEventListener("abort", onStop, { once: true });
    const looking = setInterval(() => void tellBytes(path, job), LOOK_EVERY_MS);
    try {
      return resultOf((await Promise.race([work.ended, stopped])) as WorkerEnd);
    } finally {
      clearInterval(looking);
      work.ended.catch(() => {});
      stop?.removeEventListener("abort", onStop);
    }
  } finally {
    probe.close();
  }
}

function resultOf(end: WorkerEnd): CopyCounts {
  if ("counts" in end) return end.counts;
  if (end.kind === null) throw new Error(end.message);
  throw new AppError(end.kind, end.message, { hint: end.hint });
}

/** Watches the size of the copy, as SQLite copies in one call and reports nothing. */
async function tellBytes(source: string, { path, onProgress }: BackUpJob): Promise<void> {
  const [whole, copied] = await Promise.all(
    [source, path].map((file) => stat(file).catch(() => null)),
  );
  if (!whole || !copied) return;
  onProgress?.({ rows: 0, part: Math.min(1, copied.size / Math.max(1, whole.size)) });
}

export interface CopyOrder {
  readonly source: string;
  /** An empty file. */
  readonly target: string;
  readonly facts: Omit<BackupFacts, "store" | "format">;
}

/** Copies a file as of one moment, and checks the copy. Blocks for long. Throws `store_unavailable`, `file_failed`. */
export async function copyFile(
  openSqlite: OpenSqlite,
  { source, target, facts }: CopyOrder,
): Promise<CopyCounts> {
  await withBackup(openSqlite, source, (connection) => {
    connection.set({ busy_timeout: BUSY_MS });
    // Leaves out free pages, where erased rows may be.
    connection.run("VACUUM INTO ?", [target]);
  });
  const counts = await withBackup(openSqlite, target, (connection) => {
    connection.set({ journal_mode: "DELETE" });
    const [verdict] = connection.all("PRAGMA integrity_check(1)");
    if (Object.values(verdict ?? {})[0] !== "ok") throw backupDamaged();
    const counted = countsOf(connection);
    const own: BackupFacts = { store: "sqlite", format: STORE_FORMAT, ...facts };
    const content: CheckedBackup = { counts: counted, facts: own };
    connection.run(`CREATE TABLE ${BACKUP_TABLE} (version TEXT NOT NULL, content TEXT NOT NULL)`);
    const insert = `INSERT INTO ${BACKUP_TABLE} VALUES (?, ?)`;
    connection.run(insert, [BACKUP_VERSION, JSON.stringify(content)]);
    return counted;
  });
  try {
    await appendFile(target, await sealOf(target, (await stat(target)).size));
  } catch (error) {
    throw fileFailure("The backup", error);
  }
  return counts;
}

export function sealedFile(
  openSqlite: OpenSqlite,
  path: string,
  collections: readonly AnyCollection[],
): Backup {
  return {
    ownFileOf: "sqlite",
    async check(job) {
      await withBackup(openSqlite, path, checkIsBackup, UNREAD);
      const bytes = (await stat(path)).size - SEAL_BYTES;
      const seal = await sealOf(path, bytes, job);
      await using file = await open(path, "r");
      const { buffer } = await file.read(Buffer.alloc(SEAL_BYTES), 0, SEAL_BYTES, bytes);
      if (buffer.toString("latin1") !== seal) throw backupDamaged();
      return await withBackup(openSqlite, path, readContent, UNREAD);
    },
    dump: () => dumpFile(openSqlite, path, collections),
  };
}

const UNREAD = "The backup cannot be read";

/** Opens a backup, does the work and closes it. Throws `file_failed` with the problem for errors of the driver. */
async function withBackup<T>(
  openSqlite: OpenSqlite,
  path: string,
  work: (connection: OpenConnection) => T | Promise<T>,
  problem = "The backup failed",
): Promise<T> {
  const connection = new OpenConnection(await openSqlite(path));
  try {
    return await work(connection);
  } catch (error) {
    const told = storeError("store_unavailable", connection.driver.resultCode(error), error);
    if (!(told instanceof AppError) || told === error) throw told;
    const text = told.message.replace("The database is unavailable", problem);
    throw new AppError("file_failed", text, { cause: error });
  } finally {
    connection.close();
  }
}

function checkIsBackup(connection: OpenConnection): void {
  const isThere = `SELECT 1 FROM sqlite_schema WHERE name = '${BACKUP_TABLE}'`;
  if (connection.all(isThere).length === 0) {
    const text =
      "The file is a SQLite database and no backup of repsync: to take over a store, use repsync move";
    throw new AppError("invalid_request", text);
  }
  const hasVersion = `SELECT 1 FROM pragma_table_info('${BACKUP_TABLE}') WHERE name = 'version'`;
  // Earlier programs kept facts in columns.
  if (connection.all(hasVersion).length === 0) checkBackupFormat(1);
}

function readContent(connection: OpenConnection): CheckedBackup {
  const [row] = connection.all(`SELECT version, content FROM ${BACKUP_TABLE}`);
  const content = JSON.parse(String(row?.["content"])) as CheckedBackup;
  checkBackupFormat(row?.["version"] === BACKUP_VERSION ? content.facts.format : Infinity);
  return content;
}

function countsOf(connection: OpenConnection): CopyCounts {
  const tables = tableNames(connection).filter(isRowTable);
  const accounts = countItems(connection, ["repsync_accounts"]);
  return { tables: tables.length, rows: countItems(connection, tables), accounts };
}

async function sealOf(path: string, bytes: number, job: CopyJob = {}): Promise<string> {
  const hash = createHash("sha256");
  let read = 0;
  const options = { end: Math.max(0, bytes - 1), highWaterMark: CHUNK_BYTES };
  for await (const chunk of createReadStream(path, options)) {
    job.stop?.throwIfAborted();
    hash.update(chunk);
    read += chunk.length;
    job.onProgress?.({ rows: 0, part: Math.min(1, read / bytes) });
  }
  return `\n${hash.digest("hex")}`;
}
