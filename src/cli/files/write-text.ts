// Text into a file or standard output, compressed where the name says so; a file is replaced only when it is whole.
import { createWriteStream } from "node:fs";
import { realpath, rename, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { GZIP_LEVEL } from "../../domain/shared/limits.ts";
import { isGzipName, STANDARD_STREAM } from "./file-format.ts";
import { FileProblem } from "./file-problem.ts";
import { systemReason } from "./read-text.ts";

/** Less what the umask takes. */
const NEW_FILE_MODE = 0o666;

/** Writes all parts, waiting for slow readers. Throws `FileProblem`, and what the parts throw; no half file is left. */
export async function writeText(path: string, parts: AsyncIterable<string>): Promise<void> {
  let problem: { readonly error: unknown } | null = null;
  const next = async (iterator: AsyncIterator<string>) => {
    try {
      return await iterator.next();
    } catch (error) {
      problem = { error };
      throw error;
    }
  };
  const source = Readable.from(
    (async function* () {
      const iterator = parts[Symbol.asyncIterator]();
      try {
        for (let part = await next(iterator); part.done !== true; part = await next(iterator)) {
          // What cannot be written is thrown here, and is no problem of the parts.
          yield part.value;
        }
      } finally {
        await iterator.return?.();
      }
    })(),
  );
  try {
    if (path === STANDARD_STREAM) await pipeline(source, process.stdout, { end: false });
    else await writeFile(path, source);
  } catch (error) {
    if (problem !== null) throw (problem as { readonly error: unknown }).error;
    const name = path === STANDARD_STREAM ? "Standard output" : `"${path}"`;
    throw new FileProblem(`${name} cannot be written: ${systemReason(error)}`, { cause: error });
  }
}

async function writeFile(path: string, source: Readable): Promise<void> {
  const { path: realPath, isReplaceable, mode } = await inspect(path);
  const target = isReplaceable ? `${realPath}.part-${process.pid}` : realPath;
  try {
    const file = createWriteStream(target, { mode });
    if (isGzipName(path)) await pipeline(source, createGzip({ level: GZIP_LEVEL }), file);
    else await pipeline(source, file);
    if (isReplaceable) await rename(target, realPath);
  } catch (error) {
    if (isReplaceable) await rm(target, { force: true });
    throw error;
  }
}

/** Pipes and devices are written to as they are; a link stays one, and what is private stays so. */
async function inspect(path: string) {
  try {
    const found = await stat(path);
    return { path: await realpath(path), isReplaceable: found.isFile(), mode: found.mode & 0o777 };
  } catch {
    return { path, isReplaceable: true, mode: NEW_FILE_MODE };
  }
}
