import { COMPRESSION_THRESHOLD_BYTES } from "../domain/shared/limits.ts";
import { toWire } from "../domain/shared/wire-names.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";

/** The reply of a pull or a digest: compact JSON with its checksum, compressed from 1024 bytes on. S-4.1.3 to S-4.1.6. */
export async function pageReply(
  deps: { readonly gzip: Gzip; readonly digest: Digest },
  page: object,
): Promise<Response> {
  const bytes = new TextEncoder().encode(JSON.stringify(toWire(page)));
  const headers: Record<string, string> = {
    "Content-Type": "application/json",
    "X-Content-SHA256": deps.digest.sha256Hex(bytes),
  };
  if (bytes.length < COMPRESSION_THRESHOLD_BYTES) return new Response(bytes, { headers });
  const compressed = await deps.gzip.compress(bytes);
  return new Response(compressed, {
    headers: {
      ...headers,
      "Content-Encoding": "gzip",
      "X-Original-Size": String(bytes.length),
      "Content-Length": String(compressed.length),
    },
  });
}
