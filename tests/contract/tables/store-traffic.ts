// Pushes and pages on several instances of a store, while a test does something to its server.
import { expect } from "bun:test";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { CommitInDoubt } from "../../../src/ports/documents.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { readPage } from "../../support/rows/read-rows.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import { asWrites } from "./table-under-test.ts";

export const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    at: { type: "datetime" },
    batch: { type: "text" },
  },
});
const EVERYTHING = { sinceTime: null, offsetRows: 0, limitRows: 1_000_000 };
const ROWS_PER_BATCH = 5;
const WRITERS = 8;

/** Writers and readers on several instances, from the start until `stop()`. */
export class Traffic {
  /** Batches whose push was acknowledged. */
  readonly acknowledged = new Set<string>();
  readonly #work: Promise<unknown>[];
  #isStopping = false;
  #onProgress: () => void = () => {};

  constructor(instances: readonly FullStorage[]) {
    const writers = Array.from({ length: WRITERS }, (_, n) => n);
    this.#work = writers.map((n) => this.#write(n, instances[n % instances.length] as FullStorage));
    this.#work.push(...instances.map((storage) => this.#read(storage)));
  }

  /** Resolves when twenty more pushes were acknowledged. Throws when a writer or reader failed. */
  async progress(): Promise<void> {
    const goal = this.acknowledged.size + 20;
    const reached = new Promise<void>((resolve) => {
      this.#onProgress = () => {
        if (this.acknowledged.size >= goal) resolve();
      };
    });
    await Promise.race([reached, Promise.all(this.#work)]);
  }

  /** Lets running pushes and pages end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#work);
  }

  async #write(writer: number, storage: FullStorage): Promise<void> {
    for (let n = 0; !this.#isStopping; n++) {
      const batch = `${writer}-${n}`;
      const rows = Array.from({ length: ROWS_PER_BATCH }, (_, i) => ({
        k: `${batch}-${i}`,
        at: i % 2 === 0 ? null : "2024-01-01T00:00:00Z",
        batch,
      }));
      const write = () => writeTo(storage, ITEMS, asWrites(rows));
      const written = await write().catch((error) => {
        // Nobody knows whether it was done: a client pushes it again.
        if (error instanceof CommitInDoubt) return null;
        throw error;
      });
      expect((written ?? (await write())).failures).toEqual([]);
      this.acknowledged.add(batch);
      this.#onProgress();
    }
  }

  /** Every page shows whole pushes, and all that were acknowledged before it was asked for. */
  async #read(storage: FullStorage): Promise<void> {
    while (!this.#isStopping) {
      const expected = [...this.acknowledged];
      const { rows, totalRows } = await readPage(storage.tables, ITEMS, EVERYTHING);
      expect(totalRows).toBe(rows.length);
      expect(brokenBatches(rows)).toEqual([]);
      const shown = new Set(rows.map((row) => row["batch"]));
      expect(expected.filter((batch) => !shown.has(batch))).toEqual([]);
    }
  }
}

/** Batches of which some rows are missing. */
export function brokenBatches(rows: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  for (const { batch } of rows) counts.set(String(batch), (counts.get(String(batch)) ?? 0) + 1);
  return [...counts].filter(([, count]) => count !== ROWS_PER_BATCH).map(([batch]) => batch);
}
