import {
  type CallLimit,
  type CallOptions,
  type DocumentStore,
  type Query,
  type Reader,
  SYNC_CALLS,
  type Transaction,
} from "../ports/documents.ts";
import { SEQUENCES } from "./collections.ts";

/** The options of a call, or its name alone. */
type Call = string | CallOptions;

/** Some documents of a store. Every method of every repository throws `store_unavailable`. */
export abstract class Repository {
  readonly #documents: DocumentStore;
  readonly #limit: CallLimit | undefined;

  /** Without `limit` calls have the time of requests. */
  constructor(documents: DocumentStore, limit?: CallLimit) {
    this.#documents = documents;
    this.#limit = limit;
  }

  /** The answers of a read that asks at once. */
  protected ask<const Queries extends readonly Query[]>(call: Call, ...queries: Queries) {
    return this.reading(call, (at) => at.read(...queries));
  }

  protected reading<T>(call: Call, body: (at: Reader) => Promise<T>): Promise<T> {
    return this.#documents.read(this.#optionsOf(call), body);
  }

  protected writing<T>(call: Call, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#documents.transact(this.#optionsOf(call), body);
  }

  #optionsOf(call: Call): CallOptions {
    return typeof call === "string" ? { name: call, limit: this.#limit } : call;
  }
}

/** With the time of runs. */
export abstract class RunRepository extends Repository {
  constructor(documents: DocumentStore) {
    super(documents, SYNC_CALLS);
  }
}

/** The store's clock, in milliseconds since 1970. Throws `store_unavailable`. */
export async function storeNowMs(documents: DocumentStore): Promise<number> {
  return await documents.read({ name: "store.now", limit: SYNC_CALLS }, async (at) => {
    await at.read({ from: SEQUENCES, keys: [] });
    return at.nowMs;
  });
}
