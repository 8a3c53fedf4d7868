import type { AgreedBlock, AgreedBlocks } from "../../../src/ports/runs/agreed-rows.ts";

/** Blocks in lists. */
export class MemoryAgreedBlocks implements AgreedBlocks {
  readonly #blocks = new Map<string, readonly AgreedBlock[]>();
  #lastId = 0;

  async read(tableName: string): Promise<readonly AgreedBlock[]> {
    return this.#all(tableName).map(({ id, bytes }) => ({ id, bytes: bytes.slice() }));
  }

  async replace(
    tableName: string,
    ids: readonly string[],
    blocks: readonly Uint8Array[],
  ): Promise<void> {
    const all = this.#all(tableName);
    const later = all.filter(({ id }) => !ids.includes(id));
    if (later.length + ids.length !== all.length) return;
    const added = blocks.map((bytes) => this.#kept(bytes));
    this.#blocks.set(tableName, [...added, ...later]);
  }

  async clear(tableNames: readonly string[]): Promise<void> {
    for (const name of tableNames) this.forget(name);
  }

  /** As `TableStore.write` does. */
  forget(tableName: string): void {
    this.#blocks.delete(tableName);
  }

  /** As `TableStore.write` does. */
  add(tableName: string, bytes: Uint8Array): void {
    this.#blocks.set(tableName, [...this.#all(tableName), this.#kept(bytes)]);
  }

  #kept(bytes: Uint8Array): AgreedBlock {
    this.#lastId++;
    return { id: String(this.#lastId), bytes: bytes.slice() };
  }

  #all(tableName: string): readonly AgreedBlock[] {
    return this.#blocks.get(tableName) ?? [];
  }
}
