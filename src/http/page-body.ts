// The body of a pull or a digest. S-4.1.3 to S-4.1.6.
import { COMPRESSION_THRESHOLD_BYTES } from "../domain/shared/limits.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";
import type { Clock, Timer } from "../ports/runtime/runtime.ts";
import { Turns } from "../ports/runtime/turns.ts";
import { joinBytes } from "./bodies.ts";

/** Records that are written at once, first and in bytes of JSON. */
const FIRST_SLICE_ROWS = 16;
const SLICE_BYTES = 2 * 1024 * 1024;

interface PageBodyDeps {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly gzip: Gzip;
  readonly digest: Digest;
}

/** A page with the names of the wire; its records are its last field. */
interface Page {
  readonly records?: readonly object[];
}

/** Compact JSON with its checksum, compressed from 1024 bytes on. */
export async function pageBody(
  { clock, timer, gzip, digest }: PageBodyDeps,
  page: object,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly headers: Record<string, string> }> {
  const plain = await pageBytes(page, new Turns(clock, () => timer.sleep(0)));
  const checksum = digest.sha256Hex(plain);
  const isLarge = plain.length >= COMPRESSION_THRESHOLD_BYTES;
  const [hash, bytes] = await Promise.all([checksum, isLarge ? gzip.compress(plain) : plain]);
  const headers = { "Content-Type": "application/json", "X-Content-SHA256": hash };
  if (!isLarge) return { bytes, headers };
  const encoding = { "Content-Encoding": "gzip", "X-Original-Size": String(plain.length) };
  return { bytes, headers: { ...headers, ...encoding, "Content-Length": String(bytes.length) } };
}

/** Records are written in slices, as a page may have 32 MiB of them. D-7.9. */
async function pageBytes(
  { records, ...head }: Page,
  turns: Turns,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const headText = JSON.stringify(head);
  if (records === undefined) return encoder.encode(headText);
  const parts = [encoder.encode(`${headText.slice(0, -1)},"records":[`)];
  let sliceRows = FIRST_SLICE_ROWS;
  for (let from = 0; from < records.length; ) {
    if (turns.isOver) await turns.next();
    const slice = records.slice(from, from + sliceRows);
    const comma = from === 0 ? "" : ",";
    const bytes = encoder.encode(`${comma}${JSON.stringify(slice).slice(1, -1)}`);
    parts.push(bytes);
    from += slice.length;
    sliceRows = Math.max(1, Math.floor((SLICE_BYTES / bytes.length) * slice.length));
  }
  parts.push(encoder.encode("]}"));
  return joinBytes(parts);
}
