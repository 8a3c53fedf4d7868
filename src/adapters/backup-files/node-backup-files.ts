import { createReadStream, createWriteStream } from "node:fs";
import { link, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { AppError, codeOf, NO_LINKS, systemReason } from "../../domain/shared/errors.ts";
import {
  ARCHIVE_MAGIC,
  backupDamaged,
  checkBackupFormat,
  fileFailure,
} from "../../domain/shared/store-format.ts";
import type {
  BackupFiles,
  NewBackupFile,
  NewBackupOptions,
} from "../../ports/copies/store-copies.ts";
import type { StoreKind } from "../../ports/copies/store-dump.ts";

const SQLITE_MAGIC = "SQLite format 3\0";
const OTHER_ARCHIVE = /^repsync backup (\d+)\n/;
/** Readable by the owner only: a backup holds everything of the store. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
/** Codes of a missing path, by verb: the path is named wrongly, and the disk works. */
const MISSING: Readonly<Record<string, readonly string[]>> = {
  read: ["ENOENT", "ENOTDIR"],
  listed: ["ENOENT"],
};

export class NodeBackupFiles implements BackupFiles {
  readonly writeLines = writeCompressed;
  readonly readLines = readCompressed;

  async begin(path: string, options: NewBackupOptions): Promise<NewBackupFile> {
    await refuseTaken(path, options);
    const folder = dirname(resolve(path));
    const part = `.${basename(path)}.part-`;
    const tempPath = join(folder, `${part}${process.pid}`);
    return await asFileError(path, "written", async () => {
      await removeLeftParts(folder, part);
      const file = await open(tempPath, "wx", FILE_MODE);
      await file.close();
      return {
        tempPath,
        commit: () => commit(path, tempPath, options),
        abandon: () => abandon(tempPath),
      };
    });
  }

  async ownFileOf(path: string): Promise<StoreKind | null> {
    const start = await asFileError(path, "read", async () => {
      await using file = await open(path, "r");
      const isFile = (await file.stat()).isFile();
      if (!isFile) throw new AppError("invalid_request", `"${path}" is no file`);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(32), 0, 32, 0);
      return buffer.toString("latin1", 0, bytesRead);
    });
    if (start.startsWith(SQLITE_MAGIC)) return "sqlite";
    if (start.startsWith(ARCHIVE_MAGIC)) return null;
    const [, version] = OTHER_ARCHIVE.exec(start) ?? [];
    if (version !== undefined) checkBackupFormat(Number(version));
    throw new AppError("invalid_request", `"${path}" is no backup of repsync`);
  }

  async list(folder: string): Promise<readonly string[]> {
    return await asFileError(folder, "listed", () => readdir(folder));
  }

  async makeFolder(folder: string): Promise<void> {
    await asFileError(folder, "made", () => mkdir(folder, { recursive: true, mode: FOLDER_MODE }));
  }

  async remove(path: string): Promise<void> {
    await asFileError(path, "removed", () => rm(path, { force: true }));
  }
}

async function refuseTaken(
  path: string,
  { isForced, storePaths }: NewBackupOptions,
): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null) return;
  if (!found.isFile()) throw new AppError("invalid_request", `"${path}" is there and is no file`);
  for (const storePath of storePaths) {
    const kept = await stat(storePath).catch(() => null);
    if (kept === null || kept.ino !== found.ino || kept.dev !== found.dev) continue;
    throw new AppError("invalid_request", `"${path}" is the store itself`);
  }
  if (!isForced) throw alreadyThere(path);
}

function alreadyThere(path: string): AppError {
  const hint = "Say --force to replace it";
  return new AppError("invalid_request", `"${path}" is there already`, { hint });
}

/** Removes the parts that ended processes left. A process makes one backup of a name at a time. */
async function removeLeftParts(folder: string, part: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] =
      /^(\d+)(?:-\w+)?$/.exec(name.startsWith(part) ? name.slice(part.length) : "") ?? [];
    if (pid === undefined) continue;
    const isLeft = Number(pid) === process.pid || hasProcessEnded(Number(pid));
    if (isLeft) await rm(join(folder, name), { force: true });
  }
}

/** True when no process of this machine has the number. */
export function hasProcessEnded(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // EPERM: the process exists.
    return codeOf(error) === "ESRCH";
  }
}

async function commit(path: string, tempPath: string, options: NewBackupOptions): Promise<number> {
  return await asFileError(path, "written", async () => {
    const file = await open(tempPath, "r+");
    const { size } = await file.stat();
    // Another instance may have removed the part as a leftover, and the store then made it anew with another mode.
    await file.chmod(FILE_MODE);
    await file.sync().finally(() => file.close());
    await refuseTaken(path, options);
    if (options.isForced) await rename(tempPath, path);
    else await giveName(tempPath, path);
    const folder = await open(dirname(resolve(path)), "r");
    await folder.sync().finally(() => folder.close());
    return size;
  });
}

/** Links the name, as a link fails where a file exists, and renaming would replace the file. */
async function giveName(tempPath: string, path: string): Promise<void> {
  try {
    await link(tempPath, path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") throw alreadyThere(path);
    if (!NO_LINKS.has(code)) throw error;
    return await rename(tempPath, path);
  }
  await rm(tempPath, { force: true });
}

async function abandon(tempPath: string): Promise<void> {
  for (const suffix of ["", "-journal", "-wal", "-shm"]) {
    await rm(`${tempPath}${suffix}`, { force: true }).catch(() => {});
  }
}

async function asFileError<T>(path: string, verb: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    const kind = MISSING[verb]?.includes(codeOf(error) ?? "") ? "invalid_request" : "file_failed";
    const text = `"${path}" cannot be ${verb}: ${systemReason(error)}`;
    throw new AppError(kind, text, { cause: error });
  }
}

// An archive file: a first line that marks it as one, then gzip.

const CHUNK_CHARS = 64 * 1024;
const UNPACKED_BYTES = 256 * 1024;
/** A fast level, as the disk is usually the slower part. */
const GZIP_LEVEL = 3;

async function writeCompressed(path: string, lines: AsyncIterable<string>): Promise<void> {
  try {
    // Replaces the content of an earlier attempt and keeps the mode of the file.
    await writeFile(path, ARCHIVE_MAGIC);
    const target = createWriteStream(path, { flags: "a" });
    const chunks = Readable.from(inChunks(lines));
    await pipeline(chunks, createGzip({ level: GZIP_LEVEL }), target);
  } catch (error) {
    throw fileFailure("The backup", error);
  }
}

async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_CHARS) continue;
    yield Buffer.from(chunk);
    chunk = "";
  }
  if (chunk !== "") yield Buffer.from(chunk);
}

async function* readCompressed(path: string): AsyncGenerator<string> {
  const gunzip = createGunzip({ chunkSize: UNPACKED_BYTES });
  const source = createReadStream(path, { start: ARCHIVE_MAGIC.length });
  source.once("error", (error) => gunzip.destroy(error)).pipe(gunzip);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let left = "";
  try {
    for await (const chunk of gunzip) {
      const lines = (left + decoder.decode(chunk, { stream: true })).split("\n");
      left = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    throw String(codeOf(error)).startsWith("Z_") ? backupDamaged(error) : error;
  } finally {
    source.destroy();
    gunzip.destroy();
  }
  if (left !== "") throw backupDamaged();
}
