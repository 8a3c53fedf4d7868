import { BSON, type Collection, type Document } from "mongodb";
import { DURABLE } from "../driver/collections.ts";
import type { DocumentDigest } from "./document-digest.ts";

/** What one message holds at most. */
const MAX_DOCUMENTS = 2_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Inserts documents in messages of bounded size, and digests what it sends. */
export class DocumentWriter {
  readonly #collection: Collection;
  readonly #digest: DocumentDigest;
  #waiting: Document[] = [];
  #bytes = 0;

  constructor(collection: Collection, digest: DocumentDigest) {
    this.#collection = collection;
    this.#digest = digest;
  }

  /** A document with each number in the type that it has. */
  static read(bson: Uint8Array): Document {
    const promote = { promoteValues: false, promoteLongs: false, promoteBuffers: false };
    return BSON.deserialize(bson, { ...promote, bsonRegExp: true });
  }

  async write(document: Document): Promise<void> {
    const bson = BSON.serialize(document);
    this.#digest.add(bson);
    this.#waiting.push(document);
    this.#bytes += bson.length;
    if (this.#waiting.length >= MAX_DOCUMENTS || this.#bytes >= MAX_BYTES) await this.end();
  }

  /** Sends what waits. */
  async end(): Promise<void> {
    if (this.#waiting.length === 0) return;
    const documents = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    await this.#collection.insertMany(documents, { ordered: false, writeConcern: DURABLE });
  }
}
