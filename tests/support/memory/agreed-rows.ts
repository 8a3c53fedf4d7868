import type { AgreedBlocks } from "../../../src/ports/runs/agreed-rows.ts";

/** Blocks in lists. */
export class MemoryAgreedBlocks implements AgreedBlocks {
  readonly #blocks = new Map<string, readonly Uint8Array[]>();

  async read(tableName: string): Promise<readonly Uint8Array[]> {
    return this.#all(tableName).map((block) => block.slice());
  }

  async replace(tableName: string, count: number, blocks: readonly Uint8Array[]): Promise<void> {
    const copies = blocks.map((block) => block.slice());
    this.#blocks.set(tableName, [...copies, ...this.#all(tableName).slice(count)]);
  }

  async clear(tableNames: readonly string[]): Promise<void> {
    for (const name of tableNames) this.#blocks.delete(name);
  }

  /** As `TableStore.write` does. */
  add(tableName: string, block: Uint8Array): void {
    this.#blocks.set(tableName, [...this.#all(tableName), block.slice()]);
  }

  #all(tableName: string): readonly Uint8Array[] {
    return this.#blocks.get(tableName) ?? [];
  }
}
