import type { Key } from "../domain/shared/document-key.ts";
import { blockParts } from "../domain/sync/run/exchanged-rows.ts";
import type { DocumentStore, Transaction } from "../ports/documents.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import { RunRepository } from "./repository.ts";
import { EXCHANGED } from "./run-collections.ts";

/** The exchanged rows of each table, in blocks that only the domain can read (`ExchangedRows`). D-7.1. */
export class ExchangedBlocks extends RunRepository {
  readonly #ids: Ids;

  constructor(documents: DocumentStore, ids: Ids) {
    super(documents);
    this.#ids = ids;
  }

  /** The blocks of a table, the oldest first, and where they stand, for `replace`. */
  async read(table: string) {
    const [found] = await this.ask("exchanged.read", {
      from: EXCHANGED,
      stretch: { within: [[table]] },
    });
    return {
      blocks: found.map(({ versions }) => versions),
      keys: found.map((block) => EXCHANGED.keyOf(block)),
    };
  }

  /** Adds a block in a commit that has read `lastBlockQuery`. Commits at once get the same number and do not meet. */
  add(tx: Transaction, table: string, block: Uint8Array, [last]: readonly Key[]): void {
    const number = last === undefined ? 0 : numberOf(last) + 1;
    for (const [i, versions] of blockParts(block).entries()) {
      tx.put(EXCHANGED, { table, number: number + i, id: this.#ids.next(), versions });
    }
  }

  /** Puts blocks in place of those that were read; later ones stay. Does nothing when one is gone, as somebody else did it. */
  async replace(table: string, keys: readonly Key[], blocks: readonly Uint8Array[]): Promise<void> {
    const last = keys.at(-1);
    const number = last === undefined ? 0 : numberOf(last);
    // Blocks with one number stand in the order of their ids.
    const ids = blocks.map(() => this.#ids.next()).sort();
    await this.writing("exchanged.replace", async (tx) => {
      const [found] = await tx.read({ from: EXCHANGED, keysOf: { within: keys } });
      if (found.length < keys.length) return;
      for (const key of keys) tx.remove(EXCHANGED, key);
      for (const [i, versions] of blocks.entries()) {
        tx.put(EXCHANGED, { table, number, id: ids[i] ?? "", versions });
      }
    });
  }

  async clear(tables: readonly string[]): Promise<void> {
    await this.writing("exchanged.clear", (tx) => forgetBlocks(tx, tables));
  }
}

/** The query of a commit that adds a block: the key of the last one. */
export function lastBlockQuery(table: string) {
  return { from: EXCHANGED, keysOf: { within: [[table]], isReverse: true, limit: 1 } } as const;
}

export async function forgetBlocks(tx: Transaction, tables: readonly string[]): Promise<void> {
  const within = tables.map((table) => [table]);
  const [keys] = await tx.read({ from: EXCHANGED, keysOf: { within } });
  for (const key of keys) tx.remove(EXCHANGED, key);
}

function numberOf([, number]: Key): number {
  return Number(number);
}
