import type { PushRequest } from "../../ports/remote-peer.ts";
import { sha256Hex } from "./sha256-hex.ts";

/** The body of a push, ready to be sent. */
export interface EncodedBatch {
  /** Gzip of the JSON. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the JSON. Peers verify it for gzip bodies only, so every body is one. S-4.2.5. */
  readonly checksum: string;
  /** Bytes of the JSON. */
  readonly bytesUncompressed: number;
}

/** Encodes the push request body of S-2.3. A `RawNumber` is written with the digits it has. */
export async function encodeBatch(request: PushRequest): Promise<EncodedBatch> {
  const { records, syncTimestamp } = request;
  const json = new TextEncoder().encode(JSON.stringify({ records, sync_timestamp: syncTimestamp }));
  const [checksum, body] = await Promise.all([sha256Hex(json), gzip(json)]);
  return { body, checksum, bytesUncompressed: json.byteLength };
}

/** The standard offers no choice of level; the runtimes use 6, as S-8 has it. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}
