// Reads a file or standard input as text: gzip is decompressed, and invalid UTF-8 refused.
import { open, readFile } from "node:fs/promises";
import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError, isAppError } from "../../domain/shared/errors.ts";
import { STANDARD_STREAM } from "./file-arguments.ts";

const GZIP_MAGIC = [0x1f, 0x8b];
const CHUNK_BYTES = 64 * 1024;

export class TextSource {
  /** Length of the file; null when it is unknown, as of a pipe. */
  readonly totalBytes: number | null;
  /** The text without byte order mark, in parts. Throws `file_failed`. Read it once. */
  readonly chunks: AsyncIterable<string>;
  readonly #input: Readable;
  #bytesRead = 0;

  private constructor(name: string, input: Readable, totalBytes: number | null) {
    this.totalBytes = totalBytes;
    this.#input = input;
    this.chunks = decode(name, inflate(this.#bytes()));
  }

  /** Opens a file, or standard input for `-`. Throws `invalid_request` when it cannot be opened. */
  static async open(path: string): Promise<TextSource> {
    if (path === STANDARD_STREAM) return new TextSource("Standard input", process.stdin, null);
    const { input, totalBytes } = await openFile(path);
    return new TextSource(`"${path}"`, input, totalBytes);
  }

  /** Bytes of the file read so far. */
  bytesRead(): number {
    return this.#bytesRead;
  }

  /** Ends the reading, also while it waits for a pipe: `chunks` throws. */
  close(): void {
    this.#input.destroy(new AppError("file_failed", "Reading was stopped"));
  }

  async *#bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of this.#input) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
      this.#bytesRead += bytes.length;
      yield bytes;
    }
  }
}

/** Opens only once: a pipe that is closed loses its writer. Pipes and devices have no length. */
async function openFile(path: string) {
  try {
    const file = await open(path, "r");
    const stat = await file.stat();
    if (stat.isDirectory()) {
      await file.close();
      throw new AppError("invalid_request", `"${path}" is a folder`);
    }
    const input = file.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { input, totalBytes: stat.isFile() ? stat.size : null };
  } catch (error) {
    if (isAppError(error)) throw error;
    throw unreadable(path, error);
  }
}

/** Recognizes gzip by its first bytes, not by the file name. */
async function* inflate(
  source: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let head: Uint8Array = new Uint8Array();
  while (head.length < GZIP_MAGIC.length) {
    const next = await source.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const whole = startingWith(head, source);
  if (!GZIP_MAGIC.every((byte, i) => head[i] === byte)) {
    yield* whole;
    return;
  }
  const gunzip = createGunzip();
  pipeline(whole, gunzip, () => {});
  yield* gunzip;
}

async function* startingWith(head: Uint8Array, rest: AsyncIterable<Uint8Array>) {
  if (head.length > 0) yield head;
  yield* rest;
}

async function* decode(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const toText = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new AppError("file_failed", `${name} is not text in UTF-8`, { cause });
    }
  };
  try {
    for await (const chunk of bytes) yield toText(chunk);
    yield toText();
  } catch (error) {
    if (isAppError(error)) throw error;
    throw new AppError("file_failed", `${name} cannot be read further: ${systemReason(error)}`, {
      cause: error,
    });
  }
}

/** The text of a short file. Throws `invalid_request`. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
}

export function unreadable(path: string, cause: unknown): AppError {
  const message = `"${path}" cannot be read: ${systemReason(cause)}`;
  return new AppError("invalid_request", message, { cause });
}

/** The code of what the system refuses, such as `ENOENT`; null for any other error. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error ? String(error.code) : null;
}

/** The reason in plain words; the system's own message would name paths. */
export function systemReason(error: unknown): string {
  const code = codeOf(error) ?? "unknown reason";
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file or folder",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
    EPIPE: "the reader has gone",
    Z_DATA_ERROR: "its gzip data is damaged",
    Z_BUF_ERROR: "its gzip data is cut short",
  };
  return reasons[code] ?? code;
}
