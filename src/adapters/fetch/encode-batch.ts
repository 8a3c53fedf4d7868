import type { PushRequest } from "../../ports/tables/remote-peer.ts";
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

/** Encodes push request bodies, some of them ahead of time. */
export class BatchEncoder {
  readonly #prepared = new WeakMap<PushRequest["records"], Encoding>();

  /** Begins to encode records that do not change until they are sent. */
  prepare({ records, syncTimestamp }: PushRequest): void {
    const batch = encodeBatch(records, syncTimestamp);
    // Whoever sends it meets the same failure.
    batch.catch(() => {});
    this.#prepared.set(records, { syncTimestamp, batch });
  }

  /** The body of S-2.3. A `RawNumber` is written with the digits it has. */
  encode({ records, syncTimestamp }: PushRequest): Promise<EncodedBatch> {
    const prepared = this.#prepared.get(records);
    // The caller may change the array from now on, and send it again.
    this.#prepared.delete(records);
    if (prepared !== undefined && prepared.syncTimestamp === syncTimestamp) return prepared.batch;
    return encodeBatch(records, syncTimestamp);
  }
}

interface Encoding {
  readonly syncTimestamp: string | undefined;
  readonly batch: Promise<EncodedBatch>;
}

async function encodeBatch(
  records: PushRequest["records"],
  syncTimestamp: string | undefined,
): Promise<EncodedBatch> {
  const json = new TextEncoder().encode(JSON.stringify({ records, sync_timestamp: syncTimestamp }));
  const [checksum, body] = await Promise.all([sha256Hex(json), gzip(json)]);
  return { body, checksum, bytesUncompressed: json.byteLength };
}

/** The standard offers no choice of level; the runtimes use 6, as S-8 has it. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}
