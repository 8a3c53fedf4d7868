import { promisify } from "node:util";
import { crc32, createGunzip, gunzip, gzip, gzipSync } from "node:zlib";
import type { Crc32 } from "../../domain/reputation/accounts/api-key.ts";
import { ERROR_KINDS } from "../../domain/shared/error-kinds.ts";
import { AppError, codeOf } from "../../domain/shared/errors.ts";
import { GZIP_LEVEL } from "../../domain/shared/limits.ts";
import type { Gzip } from "../../ports/crypto/crypto.ts";

const gzipAsync = promisify(gzip);
const gunzipAsync = promisify(gunzip);

/** Below this size the event loop compresses in at most 3 ms; a thread would take a seventh longer. */
const THREAD_THRESHOLD_BYTES = 256 * 1024;
/** Real bodies inflate less than this many times. A larger output is counted before it is kept. */
const TYPICAL_RATIO = 16;
const TYPICAL_FLOOR_BYTES = 1024 * 1024;
/** Zlib returns to its caller for each full buffer, so one buffer that fits all is faster. */
const MIN_BUFFER_BYTES = 1024;
const MAX_BUFFER_BYTES = 4 * 1024 * 1024;
/** JSON rows shrink at least this many times, and rarely twice as many. */
const SHRINKS_TIMES = 4;

export const zlibCrc32: Crc32 = (text) => crc32(text);

export class ZlibGzip implements Gzip {
  /** Counts one body after the other, as discarded output takes memory until it is collected. */
  #counted: Promise<void> = Promise.resolve();

  async compress(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    const options = { level: GZIP_LEVEL, chunkSize: bufferBytes(bytes.length / SHRINKS_TIMES) };
    return bytes.length < THREAD_THRESHOLD_BYTES
      ? gzipSync(bytes, options)
      : await gzipAsync(bytes, options);
  }

  async decompress(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const typicalBytes = Math.max(TYPICAL_FLOOR_BYTES, bytes.length * TYPICAL_RATIO);
    try {
      return await inflate(bytes, Math.min(typicalBytes, maxBytes));
    } catch (error) {
      if (codeOf(error) !== "ERR_BUFFER_TOO_LARGE") throw asIntegrityError(error);
      if (maxBytes <= typicalBytes) throw tooLarge(maxBytes);
    }
    const counting = this.#counted.then(() => countInflated(bytes, maxBytes));
    this.#counted = counting.catch(() => {});
    await counting;
    return await inflate(bytes, maxBytes);
  }
}

async function inflate(
  bytes: Uint8Array,
  maxOutputLength: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunkSize = bufferBytes(bytes.length * SHRINKS_TIMES * 2);
  const options = { maxOutputLength, chunkSize, info: true };
  const { buffer, engine } = (await gunzipAsync(bytes, options)) as unknown as InflateInfo;
  // Zlib ignores everything behind a zero byte after the last member.
  if (engine.bytesWritten < bytes.length) {
    throw new Error("something follows the compressed data");
  }
  return buffer;
}

interface InflateInfo {
  readonly buffer: Uint8Array<ArrayBuffer>;
  /** `bytesWritten` counts the input that was used. */
  readonly engine: { readonly bytesWritten: number };
}

function bufferBytes(expectedBytes: number): number {
  return Math.min(Math.max(Math.ceil(expectedBytes), MIN_BUFFER_BYTES), MAX_BUFFER_BYTES);
}

/** Inflates without keeping the output: a small bomb costs no memory. */
function countInflated(bytes: Uint8Array, maxBytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = createGunzip();
    let inflatedBytes = 0;
    stream.on("data", (chunk: Uint8Array) => {
      inflatedBytes += chunk.length;
      if (inflatedBytes > maxBytes) stream.destroy(tooLarge(maxBytes));
    });
    stream.on("end", resolve);
    stream.on("error", (error) =>
      reject(error instanceof AppError ? error : asIntegrityError(error)),
    );
    stream.end(bytes);
  });
}

function tooLarge(maxBytes: number): AppError {
  const text = `Body is larger than ${maxBytes} bytes after decompression`;
  return new AppError("body_too_large", text, { hint: ERROR_KINDS.batch_too_large.hint });
}

function asIntegrityError(error: unknown): AppError {
  const reason = error instanceof Error ? error.message : "unknown reason";
  return new AppError("integrity", `gzip decompression failed: ${reason}`, { cause: error });
}
