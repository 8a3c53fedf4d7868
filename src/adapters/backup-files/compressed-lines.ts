// An archive file: a first line that marks it as one, then gzip.
import { createReadStream, createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { codeOf } from "../../domain/shared/errors.ts";
import { ARCHIVE_MAGIC, backupDamaged, fileFailure } from "../../domain/shared/store-format.ts";

const CHUNK_CHARS = 64 * 1024;
const UNPACKED_BYTES = 256 * 1024;
/** A fast level, as the disk is usually the slower part. */
const GZIP_LEVEL = 3;

export async function writeCompressed(path: string, lines: AsyncIterable<string>): Promise<void> {
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

export async function* readCompressed(path: string): AsyncGenerator<string> {
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
