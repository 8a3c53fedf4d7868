import { COMPRESSION_THRESHOLD_BYTES } from "../domain/shared/limits.ts";
import { toWire } from "../domain/shared/wire-names.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";

/** What a page reply needs. */
export interface PageReplyDeps {
  readonly gzip: Gzip;
  readonly digest: Digest;
}

/** The reply of a pull or a digest: compact JSON with its checksum, compressed from 1024 bytes on. S-4.1.3 to S-4.1.6. */
export async function pageReply(deps: PageReplyDeps, page: object): Promise<Response> {
  const bytes = new TextEncoder().encode(JSON.stringify(toWire(page)));
  const checksum = deps.digest.sha256Hex(bytes);
  if (bytes.length < COMPRESSION_THRESHOLD_BYTES) {
    return new Response(bytes, {
      headers: { "Content-Type": "application/json", "X-Content-SHA256": await checksum },
    });
  }
  const [hash, compressed] = await Promise.all([checksum, deps.gzip.compress(bytes)]);
  return new Response(compressed, {
    headers: {
      "Content-Type": "application/json",
      "X-Content-SHA256": hash,
      "Content-Encoding": "gzip",
      "X-Original-Size": String(bytes.length),
      "Content-Length": String(compressed.length),
    },
  });
}
