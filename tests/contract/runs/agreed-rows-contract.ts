import { describe, expect } from "bun:test";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { makeTable } from "../../support/make-table.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<FullStorage, "tables" | "agreed" | "close">;

const columns = { k: { type: "text" } } as const;
const ITEMS = makeTable({ upsert_key: ["k"], columns });
const OTHERS = makeTable({ upsert_key: ["k"], columns }, "others");

/** What every `AgreedBlocks` does. */
export function agreedRowsContract(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: agreed rows`, () => {
    it("D-7.1 blocks are read in the order in which they were added, apart by table", async (storage) => {
      await prepare(storage);
      expect(await read(storage)).toEqual([]);
      await add(storage, [1]);
      await add(storage, [2, 0, 255]);
      await add(storage, [9], OTHERS);
      await add(storage, [1]);
      expect(await read(storage)).toEqual([[1], [2, 0, 255], [1]]);
      expect(await read(storage, "others")).toEqual([[9]]);
    });

    it("D-11.10.1 a commit that forgets them removes those of its table, and adds its own", async (storage) => {
      await prepare(storage);
      for (const n of [1, 2]) await add(storage, [n]);
      await add(storage, [9], OTHERS);
      const agreed = new Uint8Array([3]);
      await storage.tables.write(ITEMS, [], {
        beforeCommit: () => ({ forgetsAgreed: true, agreed }),
      });
      expect(await read(storage)).toEqual([[3]]);
      await storage.tables.write(ITEMS, [], { beforeCommit: () => ({ forgetsAgreed: true }) });
      expect(await read(storage)).toEqual([]);
      expect(await read(storage, "others")).toEqual([[9]]);
    });

    it("D-7.1 a block keeps its bytes, none and many of them too", async (storage) => {
      await prepare(storage);
      const many = new Uint8Array(1_000_000).map((_, i) => (i * 31 + (i >> 8)) % 256);
      await storage.tables.write(ITEMS, [], { beforeCommit: () => ({ agreed: many }) });
      await add(storage, []);
      const [first, second] = await storage.agreed.read("items");
      expect(Buffer.compare(first?.bytes ?? new Uint8Array(), many)).toBe(0);
      expect([...(second?.bytes ?? [1])]).toEqual([]);
    });

    it("D-7.1 replace() puts blocks in place of those that were read, and later ones stay", async (storage) => {
      await prepare(storage);
      for (const n of [1, 2, 3]) await add(storage, [n]);
      const first = await readIds(storage);
      await add(storage, [4]);
      await add(storage, [9], OTHERS);
      await storage.agreed.replace("items", first, [new Uint8Array([7, 7])]);
      expect(await read(storage)).toEqual([[7, 7], [4]]);
      const second = await readIds(storage);
      await add(storage, [5]);
      await storage.agreed.replace("items", second, [new Uint8Array([6]), new Uint8Array([8])]);
      expect(await read(storage)).toEqual([[6], [8], [5]]);
      await storage.agreed.replace("items", await readIds(storage), []);
      expect(await read(storage)).toEqual([]);
      await storage.agreed.replace("items", [], [new Uint8Array([1])]);
      expect(await read(storage)).toEqual([[1]]);
      expect(await read(storage, "others")).toEqual([[9]]);
    });

    it("D-7.1 replace() does nothing once others have put the blocks together or removed them", async (storage) => {
      await prepare(storage);
      for (const n of [1, 2, 3]) await add(storage, [n]);
      const seen = await readIds(storage);
      await storage.agreed.replace("items", seen, [new Uint8Array([7])]);
      for (const n of [4, 5, 6]) await add(storage, [n]);
      await storage.agreed.replace("items", seen, [new Uint8Array([8])]);
      expect(await read(storage)).toEqual([[7], [4], [5], [6]]);
      const later = await readIds(storage);
      await storage.agreed.clear(["items"]);
      for (const n of [1, 2, 3, 4]) await add(storage, [n]);
      await storage.agreed.replace("items", later, [new Uint8Array([9])]);
      expect(await read(storage)).toEqual([[1], [2], [3], [4]]);
    });

    it("D-7.1 clear() removes the blocks of the given tables", async (storage) => {
      await prepare(storage);
      await add(storage, [1]);
      await add(storage, [9], OTHERS);
      await storage.agreed.clear([]);
      await storage.agreed.clear(["items", "unknown"]);
      expect([await read(storage), await read(storage, "others")]).toEqual([[], [[9]]]);
      await add(storage, [2]);
      expect(await read(storage)).toEqual([[2]]);
      await storage.agreed.clear(["items", "others"]);
      expect([await read(storage), await read(storage, "others")]).toEqual([[], []]);
    });

    if (!harness.options.isShared) return;

    it("D-7.1 another instance reads what was added, and adds behind it", async (storage, store) => {
      const other = await openSecond(store);
      await prepare(storage);
      await add(storage, [1]);
      expect(await read(other)).toEqual([[1]]);
      await add(other, [2]);
      await add(storage, [3]);
      await storage.close();
      expect(await read(other)).toEqual([[1], [2], [3]]);
    });

    it("D-7.1 of replacements by two instances at once one is done", async (storage, store) => {
      const other = await openSecond(store);
      await prepare(storage);
      for (let round = 0; round < 5; round++) {
        await storage.agreed.clear(["items"]);
        for (const n of [1, 2, 3]) await add(storage, [n]);
        const seen = await readIds(storage);
        await Promise.all([
          storage.agreed.replace("items", seen, [new Uint8Array([7])]),
          other.agreed.replace("items", seen, [new Uint8Array([8])]),
          add(storage, [4]),
        ]);
        const [first = [], ...rest] = await read(storage);
        expect([[7], [8]]).toContainEqual(first);
        expect(rest).toEqual([[4]]);
      }
    });

    it("D-7.1 blocks that two instances add at once are all kept", async (storage, store) => {
      const other = await openSecond(store);
      await prepare(storage);
      const numbers = Array.from({ length: 20 }, (_, n) => n);
      await Promise.all(numbers.map((n) => add(n % 2 ? storage : other, [n])));
      const found = (await read(storage)).flat().toSorted((a, b) => a - b);
      expect(found).toEqual(numbers);
    });
  });
}

async function prepare(storage: Parts): Promise<void> {
  await storage.tables.prepare([ITEMS, OTHERS]);
}

async function add(storage: Parts, bytes: readonly number[], table = ITEMS): Promise<void> {
  const agreed = Uint8Array.from(bytes);
  await storage.tables.write(table, [], { beforeCommit: () => ({ agreed }) });
}

async function read(storage: Parts, tableName = "items"): Promise<number[][]> {
  return (await storage.agreed.read(tableName)).map(({ bytes }) => [...bytes]);
}

async function readIds(storage: Parts): Promise<string[]> {
  return (await storage.agreed.read("items")).map(({ id }) => id);
}
