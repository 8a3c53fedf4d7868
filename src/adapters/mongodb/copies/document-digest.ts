import { createHash } from "node:crypto";

const HASH_BYTES = 32;

/** Tells documents in whatever order, as each of them has another `_id`. */
export class DocumentDigest {
  #documents = 0;
  readonly #sum = new Uint8Array(HASH_BYTES);

  /** Takes a document as BSON. */
  add(bson: Uint8Array): void {
    const hash = createHash("sha256").update(bson).digest();
    for (let n = 0; n < HASH_BYTES; n++) this.#sum[n] = (this.#sum[n] ?? 0) ^ (hash[n] ?? 0);
    this.#documents++;
  }

  get documents(): number {
    return this.#documents;
  }

  /** The number of documents and their digest. */
  get text(): string {
    return `${this.#documents} ${this.#sum.toHex()}`;
  }
}
