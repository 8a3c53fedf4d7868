// What a store hands to the suites of documents: one store for all cases, each of which has collections of its own.
import { afterAll, beforeAll } from "bun:test";
import type { Key } from "../../../src/domain/shared/document-key.ts";
import type { AnyCollection, Collection, DocumentStore } from "../../../src/ports/documents.ts";

export interface DocumentsHarness {
  /** Stands before the test names. */
  readonly name: string;
  open(): Promise<OpenedDocuments>;
}

export interface OpenedDocuments {
  readonly documents: DocumentStore;
  /** The store's time, as `nowMs` tells it, in milliseconds since 1970. */
  nowMs(): number;
  /** Another instance on the same store, as another process has; absent where a store has one. */
  openSecond?(): Promise<DocumentStore>;
  /**
   * Changes a stored document as another program would, so that it tells another key than the one at which it stands: every read of it
   * fails. Absent, as the three below, where nobody else gets at the store.
   */
  damage?(from: AnyCollection, key: Key): Promise<void>;
  /**
   * Other changes, one for each way in which the store can hold what `put` would not have stored: another spelling or type, a field
   * twice, a place in an index. The key stays, and other reads may well take the document: `asStored` gives it as `Damaged`.
   */
  readonly damages?: readonly ((from: AnyCollection, key: Key) => Promise<void>)[];
  /** Such a change of one field, which is there or is added. */
  spoil?(from: AnyCollection, key: Key, field: string): Promise<void>;
  /** Adds documents at keys that `Key` has not, before and after all others in the store's order; resolves to their number. */
  addStrange?(from: AnyCollection): Promise<number>;
  dispose(): Promise<void>;
}

/** An item of the suites. */
export interface Item {
  readonly key: Key;
  readonly value: unknown;
  /** Where it stands in the index `place`; absent: nowhere. */
  readonly place?: Key;
  readonly bytes?: Uint8Array;
}

let collections = 0;

/** A collection of items that no other case has. Without `bytes` its items have none. */
export function itemsCollection(bytes: readonly "bytes"[] = []): Collection<Item> {
  const letters = [...String(++collections)].map((digit) => "abcdefghij"[Number(digit)]).join("");
  return {
    name: `case_${letters}`,
    keyOf: ({ key }) => key,
    bytes,
    indexes: { place: ({ place }) => place ?? null },
  };
}

/** Opens the store before the cases of a suite, and closes it after them. */
export class StoreOfSuite {
  #opened: OpenedDocuments | null = null;

  constructor(harness: DocumentsHarness) {
    beforeAll(async () => {
      this.#opened = await harness.open();
    });
    afterAll(async () => {
      await this.#opened?.dispose();
    });
  }

  get opened(): OpenedDocuments {
    if (this.#opened === null) throw new Error("The store is not open yet");
    return this.#opened;
  }

  get documents(): DocumentStore {
    return this.opened.documents;
  }

  /** A new collection with these items. */
  async itemsWith(...items: readonly Item[]): Promise<Collection<Item>> {
    return await this.#makeWith(itemsCollection(), items);
  }

  /** A new collection with these items, which may have bytes. */
  async itemsWithBytes(...items: readonly Item[]): Promise<Collection<Item>> {
    return await this.#makeWith(itemsCollection(["bytes"]), items);
  }

  async #makeWith(from: Collection<Item>, items: readonly Item[]): Promise<Collection<Item>> {
    await this.documents.prepare([from]);
    await this.put(from, ...items);
    return from;
  }

  /** Commits items. */
  async put(to: Collection<Item>, ...items: readonly Item[]): Promise<void> {
    await this.documents.transact({ name: "test.put" }, async (tx) => {
      for (const item of items) tx.put(to, item);
    });
  }

  /** Everything in a collection, in the order of its keys. */
  async all(from: Collection<Item>): Promise<readonly Item[]> {
    return await this.documents.read({ name: "test.all" }, async (at) => {
      const [items] = await at.read({ from, stretch: {} });
      return items;
    });
  }
}
