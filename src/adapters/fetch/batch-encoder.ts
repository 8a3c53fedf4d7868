import type { Digest } from "../../ports/crypto/crypto.ts";
import type { PushRequest } from "../../ports/tables/remote-peer.ts";

interface EncodedBatch {
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the JSON. Peers verify it only for gzip bodies, so every body is gzip. S-4.2.5. */
  readonly checksum: string;
  readonly bytesUncompressed: number;
}

interface PreparedBatch {
  readonly syncTimestamp: string | undefined;
  readonly batch: Promise<EncodedBatch>;
}

export class BatchEncoder {
  readonly #digest: Digest;
  readonly #prepared = new WeakMap<PushRequest["records"], PreparedBatch>();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  /** Starts to encode records, without tombstones. They must not change until they are sent. */
  prepare(request: PushRequest): void {
    const batch = this.#encodeBatch(request);
    // The failure is reported when the batch is sent.
    batch.catch(() => {});
    this.#prepared.set(request.records, { syncTimestamp: request.syncTimestamp, batch });
  }

  /** The body of S-2.3. A `RawNumber` is written with the digits it has. */
  encode(request: PushRequest): Promise<EncodedBatch> {
    const { records, syncTimestamp, deleted = [] } = request;
    const prepared = this.#prepared.get(records);
    // The caller may change the array and send it again.
    this.#prepared.delete(records);
    const isSame = prepared?.syncTimestamp === syncTimestamp && deleted.length === 0;
    if (prepared !== undefined && isSame) return prepared.batch;
    return this.#encodeBatch(request);
  }

  async #encodeBatch({ records, syncTimestamp, deleted = [] }: PushRequest): Promise<EncodedBatch> {
    const tombstones = deleted.map(({ key, deletedAt }) => ({ key, deleted_at: deletedAt }));
    const text = JSON.stringify({
      records,
      ...(tombstones.length === 0 ? {} : { deleted: tombstones }),
      sync_timestamp: syncTimestamp,
    });
    const json = new TextEncoder().encode(text);
    const [checksum, body] = await Promise.all([this.#digest.sha256Hex(json), gzip(json)]);
    return { body, checksum, bytesUncompressed: json.byteLength };
  }
}

/** `CompressionStream` has no level option; runtimes use 6, as S-8 asks. */
async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const compressed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(compressed).arrayBuffer());
}
