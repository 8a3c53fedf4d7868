// Writes files whole or not at all.
import { createWriteStream } from "node:fs";
import { link, lstat, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { SystemIds } from "../adapters/system/system.ts";
import { AppError, codeOf, NO_LINKS, systemReason } from "../domain/shared/errors.ts";
import { GZIP_LEVEL } from "../domain/shared/limits.ts";

/** Names standard input and output. */
export const STANDARD_STREAM = "-";

/** Before the umask. */
const NEW_FILE_MODE = 0o666;
/** For files with secrets, or with rows of people. */
export const OWNER_ONLY = 0o600;

/**
 * Writes text to a file, compressed for a name that ends in .gz, or to standard output. A file is replaced only when the new one is
 * complete. Waits for slow readers. `newMode`: of a new file. Throws `file_failed`, and what the parts throw; then no part is left.
 */
export async function writeText(
  path: string,
  parts: Iterable<string> | AsyncIterable<string | Uint8Array>,
  newMode = NEW_FILE_MODE,
): Promise<void> {
  let problem: unknown = null;
  const source = Readable.from(
    (async function* () {
      let isWriting = false;
      try {
        for await (const part of parts) {
          // A failed write is thrown here, too, and is no failure of the parts.
          isWriting = true;
          yield part;
          isWriting = false;
        }
      } catch (error) {
        if (!isWriting) problem = error;
        throw error;
      }
    })(),
  );
  // A file behind standard output is not replaced, as others write there, too.
  const isStandard = path === STANDARD_STREAM || path === "/dev/stdout";
  try {
    if (isStandard) await pipeline(source, process.stdout, { end: false });
    else await writeFile(path, source, newMode);
  } catch (error) {
    if (problem !== null) throw problem;
    const name = isStandard ? "Standard output" : `"${path}"`;
    throw unwritable(name, error);
  }
}

export function unwritable(name: string, cause: unknown): AppError {
  const message = `${name} cannot be written: ${systemReason(cause)}`;
  return new AppError("file_failed", message, { cause });
}

async function writeFile(path: string, source: Readable, newMode: number): Promise<void> {
  const { path: realPath, isReplaceable, mode } = await inspect(path, newMode);
  const target = isReplaceable ? `${realPath}.part-${process.pid}` : realPath;
  try {
    // Left by a killed process, or a link that somebody made.
    if (isReplaceable) await rm(target, { force: true });
    const file = createWriteStream(target, { mode, flags: isReplaceable ? "wx" : "w" });
    if (/\.gz$/i.test(path)) await pipeline(source, createGzip({ level: GZIP_LEVEL }), file);
    else await pipeline(source, file);
    if (isReplaceable) await rename(target, realPath);
  } catch (error) {
    if (isReplaceable) await rm(target, { force: true });
    throw error;
  }
}

/** Pipes and devices are written in place; a link stays a link, and a file keeps its mode. */
async function inspect(path: string, newMode: number) {
  try {
    const found = await stat(path);
    return { path: await realpath(path), isReplaceable: found.isFile(), mode: found.mode & 0o777 };
  } catch {
    return { path, isReplaceable: true, mode: newMode };
  }
}

interface NewFile {
  readonly text: string;
  /** Permissions, whatever the umask; absent: the usual ones. */
  readonly mode?: number;
}

/**
 * Makes a new file. Resolves to false, without a change, when the path is taken: by a file, a folder or a link that leads nowhere.
 * Of several processes at once one makes the file, as a hard link gives it its name. Throws `file_failed`.
 */
export async function createFile(path: string, file: NewFile): Promise<boolean> {
  const draft = join(dirname(path), `.repsync-${process.pid}-${new SystemIds().next()}`);
  try {
    if (await isTaken(path)) return false;
    await writeNew(draft, file);
    // The name appears with the whole text, and only where it is free.
    await link(draft, path).catch(async (error: unknown) => {
      if (!NO_LINKS.has(codeOf(error))) throw error;
      await writeNew(path, file);
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unwritable(`"${path}"`, error);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** Makes the folder and those above it. Throws `invalid_request` and `file_failed`. */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = codeOf(error);
    throw code === "EEXIST" || code === "ENOTDIR"
      ? new AppError("invalid_request", `"${folder}" cannot be a folder: a file is in its place`)
      : new AppError("file_failed", `"${folder}" cannot be made: ${systemReason(error)}`);
  }
}

/** True also for a link that leads nowhere. */
export async function isTaken(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Leaves no file behind when it cannot be written whole. */
async function writeNew(path: string, { text, mode }: NewFile): Promise<void> {
  await using file = await open(path, "wx", mode);
  try {
    if (mode !== undefined) await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
