// A file or standard input as text: decompressed where it is gzip, and strictly UTF-8.
import { open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { FileProblem } from "../failure.ts";
import { STANDARD_STREAM } from "./file-arguments.ts";

/** A file that is being read. */
export interface TextSource {
  /** The text without byte order mark, in parts. Throws `FileProblem`. Read it once. */
  readonly chunks: AsyncIterable<string>;
  /** Length of the file; null for what has none that is known. */
  readonly totalBytes: number | null;
  /** Bytes of the file read so far. */
  bytesRead(): number;
  /** Ends the reading, also while it waits for a pipe: `chunks` throws. */
  close(): void;
}

const GZIP_MAGIC = [0x1f, 0x8b];
const CHUNK_BYTES = 64 * 1024;

/** Opens a file, or standard input for `-`. Throws `FileProblem` when there is none that can be read. */
export async function readText(path: string): Promise<TextSource> {
  const { input, totalBytes } =
    path === STANDARD_STREAM ? { input: process.stdin, totalBytes: null } : await openFile(path);
  let bytes = 0;
  const counted = count(input, (length) => {
    bytes += length;
  });
  return {
    chunks: decode(path, inflate(counted)),
    totalBytes,
    bytesRead: () => bytes,
    close: () => void input.destroy(new FileProblem("Reading was ended")),
  };
}

/** Opened once, as a pipe that is closed has lost its writer. Pipes and devices have no length. */
async function openFile(path: string) {
  try {
    const file = await open(path, "r");
    const stat = await file.stat();
    if (stat.isDirectory()) {
      await file.close();
      throw new FileProblem(`"${path}" is a folder`);
    }
    const input = file.createReadStream({ highWaterMark: CHUNK_BYTES });
    return { input, totalBytes: stat.isFile() ? stat.size : null };
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    throw new FileProblem(`"${path}" cannot be read: ${systemReason(error)}`, { cause: error });
  }
}

async function* count(
  input: NodeJS.ReadableStream,
  onBytes: (length: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of input) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    onBytes(bytes.length);
    yield bytes;
  }
}

/** Gzip is known by its first bytes, whatever the file is called. */
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
  path: string,
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const name = path === STANDARD_STREAM ? "Standard input" : `"${path}"`;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const toText = (chunk?: Uint8Array) => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new FileProblem(`${name} is not text in UTF-8`, { cause });
    }
  };
  try {
    for await (const chunk of bytes) yield toText(chunk);
    yield toText();
  } catch (error) {
    if (error instanceof FileProblem) throw error;
    throw new FileProblem(`${name} cannot be read on: ${systemReason(error)}`, { cause: error });
  }
}

/** Why the system refused, without its words about places in the program. */
export function systemReason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
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
