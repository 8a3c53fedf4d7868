// Lets others have turns at random within bodies, so that bodies meet in more ways than a quick machine shows.
import type { Answers, DocumentStore, Transaction } from "../../../src/ports/documents.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import type { DocumentsHarness } from "./documents-harness.ts";
import type { DocumentTables, DocumentTablesHarness } from "./tables-harness.ts";

/** The same stores, whose transactions have turns before and after their calls. */
export function yielding(harness: DocumentsHarness): DocumentsHarness {
  const wrapped = yieldingDocuments();
  return {
    name: `${harness.name}, yielding (SEED=${SEED})`,
    open: async () => {
      const opened = await harness.open();
      const openSecond = opened.openSecond?.bind(opened);
      const second = openSecond && { openSecond: async () => wrapped(await openSecond()) };
      return { ...opened, documents: wrapped(opened.documents), ...second };
    },
  };
}

/** The same for stores that have tables. */
export function yieldingTables(harness: DocumentTablesHarness): DocumentTablesHarness {
  const wrapped = yieldingDocuments();
  const wrappedStorage = ({ documents, tables, tombstones }: DocumentTables): DocumentTables => ({
    documents: wrapped(documents),
    tables,
    tombstones,
  });
  return {
    ...harness,
    name: `${harness.name}, yielding (SEED=${SEED})`,
    open: async () => {
      const opened = await harness.open();
      const openSecond = opened.openSecond?.bind(opened);
      const second = openSecond && { openSecond: async () => wrappedStorage(await openSecond()) };
      return { ...opened, storage: wrappedStorage(opened.storage), ...second };
    },
  };
}

function yieldingDocuments(): (documents: DocumentStore) => DocumentStore {
  const random = new SeededRandom(SEED);
  return (documents) => ({
    prepare: (collections) => documents.prepare(collections),
    read: (options, body) => documents.read(options, body),
    transact: (options, body) =>
      documents.transact(options, (tx) => body(yieldingTransaction(tx, random))),
  });
}

function yieldingTransaction(tx: Transaction, random: SeededRandom): Transaction {
  const turns = async () => {
    for (let n = random.int(0, 2); n > 0; n--) await tx.turn();
  };
  return {
    get nowMs() {
      return tx.nowMs;
    },
    read: async (...queries) => {
      await turns();
      const answers = await tx.read(...queries);
      await turns();
      return answers as Answers<typeof queries>;
    },
    put: (to, doc) => tx.put(to, doc),
    remove: (from, key) => tx.remove(from, key),
    raise: (names) => tx.raise(names),
    tables: {
      write: async (table, writes, rule) => {
        await turns();
        const written = await tx.tables.write(table, writes, rule);
        await turns();
        return written;
      },
      change: async (table, column, value, fields) => {
        await turns();
        await tx.tables.change(table, column, value, fields);
      },
      excludePushes: () => tx.tables.excludePushes(),
    },
    turn: () => tx.turn(),
  };
}
