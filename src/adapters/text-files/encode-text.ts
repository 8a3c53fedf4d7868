import { AppError } from "../../domain/shared/errors.ts";
import type { Encoding } from "../../domain/sync/table/registry-schema.ts";

const MARK = "\ufeff";

/** Text as the bytes of a file, part by part. Throws `file_failed` for a character that the encoding does not have. D-14.1. */
export async function* encodeText(
  parts: AsyncIterable<string>,
  encoding: Encoding,
): AsyncGenerator<string | Uint8Array, void, undefined> {
  const encode = encoderOf(encoding);
  // Without its mark a file in UTF-16 is not recognized.
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

/** Of an encoding with a byte for each character. */
function bytesOf(encoding: Encoding): ReadonlyMap<string, number> {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const characters = [...new TextDecoder(encoding).decode(all)];
  return new Map(characters.map((character, byte) => [character, byte]));
}
