import { expect } from "bun:test";
import type { Key } from "../../src/domain/shared/document-key.ts";
import type { DocumentStore } from "../../src/ports/documents.ts";
import {
  ExchangedBlocks,
  forgetBlocks,
  lastBlockQuery,
} from "../../src/repositories/remote-memory.ts";
import { repositoryTests } from "./support/repository-tests.ts";

/** Blocks, and the commits that change them. */
class BlocksUnderTest extends ExchangedBlocks {
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore) {
    super(documents, { next: () => crypto.randomUUID() });
    this.#documents = documents;
  }

  async addOne(table: string, block: Uint8Array): Promise<void> {
    await this.#documents.transact({ name: "test.add" }, async (tx) => {
      const [last] = await tx.read(lastBlockQuery(table));
      this.add(tx, table, block, last);
    });
  }

  async forgetAndAdd(table: string, block: Uint8Array | null): Promise<void> {
    await this.#documents.transact({ name: "test.forget" }, async (tx) => {
      const [last] = await tx.read(lastBlockQuery(table));
      await forgetBlocks(tx, [table]);
      if (block !== null) this.add(tx, table, block, last);
    });
  }
}

repositoryTests(
  "exchanged rows",
  (documents) => new BlocksUnderTest(documents),
  (it) => {
    it("D-7.1 blocks are read in the order in which they were added, apart by table", async (storage) => {
      expect(await read(storage)).toEqual([]);
      await add(storage, [1]);
      await add(storage, [2, 0, 255]);
      await add(storage, [9], "others");
      await add(storage, [1]);
      expect(await read(storage)).toEqual([[1], [2, 0, 255], [1]]);
      expect(await read(storage, "others")).toEqual([[9]]);
    });

    it("D-11.10.1 a commit that forgets them removes those of its table, and adds its own", async (storage) => {
      for (const n of [1, 2]) await add(storage, [n]);
      await add(storage, [9], "others");
      await storage.forgetAndAdd("items", new Uint8Array([3]));
      expect(await read(storage)).toEqual([[3]]);
      await storage.forgetAndAdd("items", null);
      expect(await read(storage)).toEqual([]);
      expect(await read(storage, "others")).toEqual([[9]]);
    });

    it("D-7.1 a block keeps its bytes, none and many of them too", async (storage) => {
      const many = new Uint8Array(1_000_000).map((_, i) => (i * 31 + (i >> 8)) % 256);
      await storage.addOne("items", many);
      await add(storage, []);
      const [first, second] = (await storage.read("items")).blocks;
      expect(Buffer.compare(first ?? new Uint8Array(), many)).toBe(0);
      expect([...(second ?? [1])]).toEqual([]);
    });

    it("D-7.1 replace() puts blocks in place of those that were read, and later ones stay", async (storage) => {
      for (const n of [1, 2, 3]) await add(storage, [n]);
      const first = await readKeys(storage);
      await add(storage, [4]);
      await add(storage, [9], "others");
      await storage.replace("items", first, [new Uint8Array([7, 7])]);
      expect(await read(storage)).toEqual([[7, 7], [4]]);
      const second = await readKeys(storage);
      await add(storage, [5]);
      await storage.replace("items", second, [new Uint8Array([6]), new Uint8Array([8])]);
      expect(await read(storage)).toEqual([[6], [8], [5]]);
      await storage.replace("items", await readKeys(storage), []);
      expect(await read(storage)).toEqual([]);
      await storage.replace("items", [], [new Uint8Array([1])]);
      expect(await read(storage)).toEqual([[1]]);
      expect(await read(storage, "others")).toEqual([[9]]);
    });

    it("D-7.1 replace() does nothing once others have put the blocks together or removed them", async (storage) => {
      for (const n of [1, 2, 3]) await add(storage, [n]);
      const seen = await readKeys(storage);
      await storage.replace("items", seen, [new Uint8Array([7])]);
      for (const n of [4, 5, 6]) await add(storage, [n]);
      await storage.replace("items", seen, [new Uint8Array([8])]);
      expect(await read(storage)).toEqual([[7], [4], [5], [6]]);
      const later = await readKeys(storage);
      await storage.clear(["items"]);
      for (const n of [1, 2, 3, 4]) await add(storage, [n]);
      await storage.replace("items", later, [new Uint8Array([9])]);
      expect(await read(storage)).toEqual([[1], [2], [3], [4]]);
    });

    it("D-7.1 clear() removes the blocks of the given tables", async (storage) => {
      await add(storage, [1]);
      await add(storage, [9], "others");
      await storage.clear([]);
      await storage.clear(["items", "unknown"]);
      expect([await read(storage), await read(storage, "others")]).toEqual([[], [[9]]]);
      await add(storage, [2]);
      expect(await read(storage)).toEqual([[2]]);
      await storage.clear(["items", "others"]);
      expect([await read(storage), await read(storage, "others")]).toEqual([[], []]);
    });

    it("D-7.1 another instance reads what was added, and adds behind it", async (storage, other) => {
      await add(storage, [1]);
      expect(await read(other)).toEqual([[1]]);
      await add(other, [2]);
      await add(storage, [3]);
      expect(await read(other)).toEqual([[1], [2], [3]]);
    });

    it.everywhere(
      "D-7.1 of replacements by two instances at once one is done",
      async (storage, other) => {
        for (let round = 0; round < 5; round++) {
          await storage.clear(["items"]);
          for (const n of [1, 2, 3]) await add(storage, [n]);
          const seen = await readKeys(storage);
          await Promise.all([
            storage.replace("items", seen, [new Uint8Array([7])]),
            other.replace("items", seen, [new Uint8Array([8])]),
            add(storage, [4]),
          ]);
          const [first = [], ...rest] = await read(storage);
          expect([[7], [8]]).toContainEqual(first);
          expect(rest).toEqual([[4]]);
        }
      },
    );

    it.everywhere(
      "D-7.1 blocks that two instances add at once are all kept",
      async (storage, other) => {
        const numbers = Array.from({ length: 20 }, (_, n) => n);
        await Promise.all(numbers.map((n) => add(n % 2 ? storage : other, [n])));
        const found = (await read(storage)).flat().toSorted((a, b) => a - b);
        expect(found).toEqual(numbers);
      },
    );

    it.everywhere(
      "D-7.1 a block that is larger than a document may be is kept in parts",
      async (storage) => {
        const large = new Uint8Array(4_500_020).map((_, i) => (i * 31 + (i >> 8)) % 256);
        await storage.addOne("items", large);
        await add(storage, [1]);
        const { blocks } = await storage.read("items");
        expect(blocks.map(({ byteLength }) => byteLength)).toEqual([
          2_000_000, 2_000_000, 500_020, 1,
        ]);
        expect(Buffer.compare(Buffer.concat(blocks.slice(0, 3)), large)).toBe(0);
      },
    );
  },
);

async function add(
  storage: BlocksUnderTest,
  bytes: readonly number[],
  table = "items",
): Promise<void> {
  await storage.addOne(table, Uint8Array.from(bytes));
}

async function read(storage: BlocksUnderTest, table = "items"): Promise<number[][]> {
  return (await storage.read(table)).blocks.map((block) => [...block]);
}

async function readKeys(storage: BlocksUnderTest): Promise<readonly Key[]> {
  return (await storage.read("items")).keys;
}
