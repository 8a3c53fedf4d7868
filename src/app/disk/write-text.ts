// Writes text to a file or standard output, compressed for a name that ends in .gz. A file is replaced only when the new one is
// complete.
import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { AppError, systemReason } from "../../domain/shared/errors.ts";
import { GZIP_LEVEL } from "../../domain/shared/limits.ts";

/** Names standard input and output. */
export const STANDARD_STREAM = "-";

/** Before the umask. */
const NEW_FILE_MODE = 0o666;
/** For files with secrets, or with rows of people. */
export const OWNER_ONLY = 0o600;

/** Waits for slow readers. `newMode`: of a new file. Throws `file_failed`, and what the parts throw; then no part is left. */
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
