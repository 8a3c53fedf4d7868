// Puts a backup in the place of an empty file: by renaming, so that a store is never half of one. D-10.7.
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { AppError } from "../../../domain/shared/errors.ts";
import type { KeptPepper, Restored, RestoreJob } from "../../../ports/copies/store-copies.ts";
import { makeDatabaseFile } from "../driver/database-file.ts";
import type { OpenSqlite, SqliteConnection } from "../driver/driver.ts";
import { checkContent, readContent, run, using } from "./backup-file.ts";
import { claimEmptyFile, removeRemains } from "./claim-empty-file.ts";
import { allRows, BACKUP_TABLE } from "./row-digests.ts";

/** What belongs to the deployment that was, and not to the one that begins. */
const LEFT_OUT = [
  "DELETE FROM repsync_leases",
  "DELETE FROM repsync_moment",
  "UPDATE repsync_store SET value = lower(hex(randomblob(16))) WHERE name = 'deployment_id'",
  "DELETE FROM repsync_store WHERE name = 'filled_by'",
  `DROP TABLE ${BACKUP_TABLE}`,
];
const IS_OF_ACCOUNT = "doc ->> 'username' <> ''";
/** All but the sign-outs of tokens of an identity provider, which are of no account. */
const END_SESSIONS = `DELETE FROM repsync_sessions WHERE ${IS_OF_ACCOUNT}`;

/** As `RestoreStore`. */
export async function restoreFile(
  openSqlite: OpenSqlite,
  storePath: string,
  job: RestoreJob,
): Promise<Restored> {
  if (storePath === ":memory:") {
    const text = "STORAGE_URL is sqlite::memory:, which ends with its process: name a file";
    throw new AppError("invalid_request", text);
  }
  const target = resolve(storePath);
  const isNew = (await stat(target).catch(() => null)) === null;
  await makeFile(target);
  // Who is refused here removes nothing: the file may be what another restore has filled by now.
  const claim = await claimEmptyFile(openSqlite, target, job.adminUsername);
  const temp = join(dirname(target), `.${basename(target)}.restore-${process.pid}`);
  await removeRemains(target, "restore");
  let isDone = false;
  try {
    await copyBytes(job.path, temp, job.stop);
    const restored = await using(openSqlite, temp, "file_failed", (copy) => prepare(copy, job));
    job.stop?.throwIfAborted();
    await giveName(temp, target);
    isDone = true;
    return restored;
  } catch (error) {
    throw error instanceof AppError ? error : fileFailure(error);
  } finally {
    for (const suffix of ["", "-journal"]) await rm(`${temp}${suffix}`, { force: true });
    // Before anybody else can claim it.
    if (isNew && !isDone) await rm(target, { force: true });
    claim.release();
  }
}

function prepare(copy: SqliteConnection, job: RestoreJob): Restored {
  const content = readContent(copy);
  job.check(content.facts, keptPepper(copy));
  const counts = checkContent(copy, content, job.onProgress ?? (() => {}));
  run(copy, "PRAGMA synchronous = FULL");
  const [found] = allRows(
    copy,
    `SELECT count(*) AS n FROM repsync_sessions WHERE ${IS_OF_ACCOUNT}`,
  );
  for (const sql of ["BEGIN IMMEDIATE", END_SESSIONS, ...LEFT_OUT, "COMMIT"]) run(copy, sql);
  return { ...counts, facts: content.facts, sessions: Number(found?.["n"]) };
}

function keptPepper(copy: SqliteConnection): KeptPepper {
  const secrets = allRows(
    copy,
    "SELECT doc ->> 'name' AS name, doc ->> 'secret' AS secret FROM repsync_secrets",
  );
  const values = new Map(secrets.map((row) => [row["name"], String(row["secret"])]));
  return {
    pepper: values.get("api_key_pepper") ?? null,
    mark: values.get("api_key_pepper_mark") ?? null,
  };
}

async function makeFile(path: string): Promise<void> {
  try {
    await makeDatabaseFile(path);
  } catch (cause) {
    const text = "The file of STORAGE_URL cannot be made: check its folder";
    throw new AppError("store_unavailable", text, { cause });
  }
}

async function copyBytes(from: string, to: string, stop: AbortSignal | undefined): Promise<void> {
  await rm(to, { force: true });
  const target = createWriteStream(to, { flags: "wx", mode: 0o600 });
  const options = stop === undefined ? {} : { signal: stop };
  try {
    await pipeline(createReadStream(from), target, options);
  } catch (error) {
    throw stop?.aborted ? stop.reason : error;
  }
}

async function giveName(temp: string, target: string): Promise<void> {
  const file = await open(temp, "r+");
  await file.sync().finally(() => file.close());
  await rename(temp, target);
  const folder = await open(dirname(target), "r");
  await folder.sync().finally(() => folder.close());
}

function fileFailure(cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  if (code === null) return cause;
  const reason = code === "ENOSPC" || code === "EDQUOT" ? "the disk is full" : code;
  return new AppError("file_failed", `The store cannot be written: ${reason}`, { cause });
}
