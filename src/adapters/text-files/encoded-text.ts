// Text of files in any encoding, compressed or not, one chunk at a time. D-14.1.
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { AppError, codeOf } from "../../domain/shared/errors.ts";
import type { Encoding } from "../../domain/sync/table/registry-schema.ts";
import { type DecodeOptions, startingWith } from "../../ports/files.ts";

const GZIP_MAGIC = [0x1f, 0x8b];
/** A byte order mark overrides the given encoding. */
const MARKS: readonly (readonly [mark: readonly number[], encoding: Encoding])[] = [
  [[0xef, 0xbb, 0xbf], "utf-8"],
  [[0xff, 0xfe], "utf-16le"],
  [[0xfe, 0xff], "utf-16be"],
];
const LONGEST_MARK = 3;

const GZIP_PROBLEMS: Readonly<Record<string, string>> = {
  Z_DATA_ERROR: "its gzip data is damaged",
  Z_BUF_ERROR: "its gzip data is cut short",
};

/** Recognizes gzip and byte order marks. Throws `file_failed`, and the errors of `bytes`. */
export async function* decodeText(
  bytes: AsyncIterable<Uint8Array>,
  { name, encoding }: DecodeOptions,
): AsyncGenerator<string, void, undefined> {
  try {
    const { head, whole } = await begin(inflate(bytes), LONGEST_MARK);
    const first = head.subarray(0, LONGEST_MARK);
    const marked = MARKS.find(([mark]) => mark.every((byte, i) => first[i] === byte))?.[1];
    // `TextDecoder` reads latin1 as windows-1252, and utf-16 as little-endian.
    const label = marked ?? encoding ?? "utf-8";
    const decoder = new TextDecoder(label, { fatal: true });
    try {
      // Unmarked UTF-16 would pass as UTF-8 with a NUL behind each letter.
      const isUnsaid = marked === undefined && encoding === null;
      if (isUnsaid && first.includes(0)) throw new TypeError("It begins with a NUL");
      for await (const chunk of whole) yield decoder.decode(chunk, { stream: true });
      yield decoder.decode();
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      const advice = encoding === null ? ": name its encoding, such as latin1 or utf-16" : "";
      const problem = `${name} is not text in ${label.toUpperCase()}${advice}`;
      throw new AppError("file_failed", problem, { cause });
    }
  } catch (error) {
    const problem = GZIP_PROBLEMS[codeOf(error) ?? ""];
    if (problem === undefined) throw error;
    throw new AppError("file_failed", `${name} cannot be read further: ${problem}`, {
      cause: error,
    });
  }
}

async function* inflate(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const { head, whole } = await begin(source, GZIP_MAGIC.length);
  if (!GZIP_MAGIC.every((byte, i) => head[i] === byte)) {
    yield* whole;
    return;
  }
  const gunzip = createGunzip();
  pipeline(whole, gunzip, () => {});
  yield* gunzip;
}

/** Reads at least `bytes` bytes, or all; `whole` yields them again before the rest. */
async function begin(source: AsyncIterable<Uint8Array>, bytes: number) {
  const rest = source[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array();
  while (head.length < bytes) {
    const next = await rest.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, whole: startingWith(head.length > 0 ? [head] : [], rest) };
}

const MARK = "\ufeff";

/** Throws `file_failed` for a character that the encoding lacks. D-14.1. */
export async function* encodeText(
  parts: AsyncIterable<string>,
  encoding: Encoding,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const encode = encoderOf(encoding);
  // Readers recognize UTF-16 by its mark.
  if (encoding.startsWith("utf-16")) yield encode(MARK);
  for await (const part of parts) yield encode(part);
}

function encoderOf(encoding: Encoding): (text: string) => string | Uint8Array {
  switch (encoding) {
    case "utf-8":
      return (text) => text;
    case "utf-16":
    case "utf-16le":
      return (text) => Buffer.from(text, "utf16le");
    case "utf-16be":
      return (text) => Buffer.from(text, "utf16le").swap16();
    default: {
      const bytes = bytesOf(encoding);
      return (text) =>
        Uint8Array.from([...text], (character) => byteOf(character, bytes, encoding));
    }
  }
}

function byteOf(character: string, bytes: ReadonlyMap<string, number>, encoding: string): number {
  const byte = bytes.get(character);
  if (byte !== undefined) return byte;
  throw new AppError(
    "file_failed",
    `The character ${JSON.stringify(character)} cannot be written in ${encoding}: export NDJSON, or change "encoding" in the registry`,
  );
}

/** The byte of each character, in a single-byte encoding. */
function bytesOf(encoding: Encoding): ReadonlyMap<string, number> {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const characters = [...new TextDecoder(encoding).decode(all)];
  return new Map(characters.map((character, byte) => [character, byte]));
}
