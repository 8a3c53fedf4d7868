import {
  type DocumentStore,
  type Reader,
  SYNC_CALLS,
  type Transaction,
} from "../ports/documents.ts";

/** The documents of a store, with the patience of runs. `name` is that of `CallOptions`. */
export class RunDocuments {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  read<T>(name: string, body: (at: Reader) => Promise<T>): Promise<T> {
    return this.#documents.read({ name, limit: SYNC_CALLS }, body);
  }

  transact<T>(name: string, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#documents.transact({ name, limit: SYNC_CALLS }, body);
  }
}
