// Hashes and compression by the runtime, not by the code under test.
import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";

/** Lowercase hexadecimal SHA-256. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Gzip of a text or of bytes. */
export function gzip(body: Uint8Array | string, level = 6): Uint8Array<ArrayBuffer> {
  return gzipSync(body, { level });
}

/** What was compressed. Throws when the input is damaged. */
export function gunzip(bytes: Uint8Array): Uint8Array {
  return gunzipSync(bytes);
}

/** UTF-8 bytes of a text. */
export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Text of UTF-8 bytes; throws when they are not UTF-8. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** All the bytes, one after the other. */
export function joinBytes(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
