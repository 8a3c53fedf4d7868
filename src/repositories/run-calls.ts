import type { CallLimit, DocumentStore, Reader, Transaction } from "../ports/documents.ts";

/** Longer than an election of the store, which a run survives. */
export const RUN_CALLS: CallLimit = { triesMs: 20_000, endMs: 120_000 };

/** The documents of a store, with the patience of runs. `name` is that of `CallOptions`. */
export class RunDocuments {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    this.#documents = documents;
  }

  read<T>(name: string, body: (at: Reader) => Promise<T>): Promise<T> {
    return this.#documents.read({ name, limit: RUN_CALLS }, body);
  }

  transact<T>(name: string, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#documents.transact({ name, limit: RUN_CALLS }, body);
  }
}
