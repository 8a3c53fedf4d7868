// Lets others have turns at random within bodies, so that bodies meet in more ways than a quick machine shows.
import type { Answers, DocumentStore, Transaction } from "../../../src/ports/documents.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import type { DocumentsHarness } from "./documents-harness.ts";

/** The same store, whose transactions have turns before and after their reads. */
export function yielding(harness: DocumentsHarness): DocumentsHarness {
  const random = new SeededRandom(SEED);
  const wrapped = (documents: DocumentStore): DocumentStore => ({
    prepare: (collections) => documents.prepare(collections),
    read: (options, body) => documents.read(options, body),
    transact: (options, body) =>
      documents.transact(options, (tx) => body(yieldingTransaction(tx, random))),
  });
  return {
    name: `${harness.name}, yielding (SEED=${SEED})`,
    open: async () => {
      const opened = await harness.open();
      const { openSecond } = opened;
      return {
        ...opened,
        documents: wrapped(opened.documents),
        ...(openSecond === undefined
          ? {}
          : { openSecond: async () => wrapped(await openSecond.call(opened)) }),
      };
    },
  };
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
    turn: () => tx.turn(),
  };
}
