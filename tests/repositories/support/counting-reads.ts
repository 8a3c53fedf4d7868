import type { Answers, DocumentStore, Query, Reader } from "../../../src/ports/documents.ts";

/** The same documents, of which those that reads bring are counted. */
export function countingReads(documents: DocumentStore) {
  const readOf =
    (at: Reader) =>
    async <const Queries extends readonly Query[]>(...queries: Queries) => {
      const answers = await at.read(...queries);
      counted.read += answers.flat().length;
      return answers as Answers<Queries>;
    };
  const counted = {
    read: 0,
    documents: {
      prepare: (collections) => documents.prepare(collections),
      transact: (options, body) =>
        documents.transact(options, (tx) =>
          body({
            get nowMs() {
              return tx.nowMs;
            },
            read: readOf(tx),
            put: (to, doc) => tx.put(to, doc),
            remove: (from, key) => tx.remove(from, key),
            raise: (names) => tx.raise(names),
            tables: tx.tables,
            turn: () => tx.turn(),
          }),
        ),
      read: (options, body) =>
        documents.read(options, (at) =>
          body({
            get nowMs() {
              return at.nowMs;
            },
            read: readOf(at),
          }),
        ),
    } satisfies DocumentStore as DocumentStore,
  };
  return counted;
}
