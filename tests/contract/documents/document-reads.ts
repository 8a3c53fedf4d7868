import { describe, expect, test } from "bun:test";
import { compareKeys, type Key } from "../../../src/domain/shared/document-key.ts";
import type { Collection, Stretch } from "../../../src/ports/documents.ts";
import { type DocumentsHarness, type Item, StoreOfSuite } from "./documents-harness.ts";

/** In the order of keys: part by part, numbers before texts, texts by UTF-8, a key before those that begin with it. */
const ORDERED: readonly Key[] = [
  [0],
  [1],
  [1, 0],
  [1, ""],
  [2],
  [10],
  [256],
  [65_536, 1],
  [2 ** 32],
  [Number.MAX_SAFE_INTEGER],
  [""],
  ["", ""],
  ["\u0000"],
  ["\u0000\u0000"],
  ["\u0000a"],
  ["\u0001"],
  [" "],
  ["$"],
  ["A"],
  ["a"],
  ["a", 0],
  ["a", 9],
  ["a", 10],
  ["a", "", "z"],
  ["a", "\u0000"],
  ["a", "b"],
  ["a\u0000"],
  ["a\u0000b"],
  ["a."],
  ["ab"],
  ["é"],
  ["日本"],
  ["\ud7ff"],
  ["\uffff"],
  ["\u{10000}"],
  ["\u{10ffff}"],
];

/** How stores find documents: orders, stretches, counts. */
export function documentReads(harness: DocumentsHarness): void {
  describe(`${harness.name}: reading documents`, () => {
    const store = new StoreOfSuite(harness);
    const itemsAt = (...keys: readonly Key[]) =>
      store.itemsWith(...keys.map((key) => ({ key, value: JSON.stringify(key) })));
    const keysOf = async (from: Collection<Item>, stretch: Stretch) => {
      const { documents } = store;
      return await documents.read({ name: "test.keys" }, async (at) => {
        const [items, count, keys] = await at.read(
          { from, stretch },
          { from, count: stretch },
          { from, keysOf: stretch },
        );
        expect(count).toBe(items.length);
        expect(keys).toEqual(items.map(({ key }) => key));
        return keys;
      });
    };

    test("keys are ordered part by part, numbers before texts, texts by UTF-8 bytes", async () => {
      const from = await itemsAt(...ORDERED.toReversed());
      expect(await keysOf(from, {})).toEqual(ORDERED);
      expect(await keysOf(from, { isReverse: true })).toEqual(ORDERED.toReversed());
      expect(ORDERED.toSorted(compareKeys)).toEqual([...ORDERED]);
    });

    test("each key is found by itself, and by what comes after it", async () => {
      const from = await itemsAt(...ORDERED);
      for (const [place, key] of ORDERED.entries()) {
        const [[found], after, upTo] = await store.documents.read({ name: "test.key" }, (at) =>
          at.read(
            { from, keys: [key] },
            { from, count: { after: key } },
            { from, count: { upTo: key } },
          ),
        );
        expect(found).toEqual({ key, value: JSON.stringify(key) });
        expect([after, upTo]).toEqual([ORDERED.length - place - 1, place + 1]);
      }
    });

    test("keys that have no document give none, and a key given twice gives its document once", async () => {
      const from = await itemsAt(["a"], ["b"], ["c"]);
      const found = await store.documents.read({ name: "test.keys" }, async (at) => {
        const [items] = await at.read({ from, keys: [["c"], ["x"], ["a"], ["c"], ["a", 0]] });
        return items.map(({ key }) => key);
      });
      expect(found).toEqual([["a"], ["c"]]);
    });

    test("no keys ask for nothing", async () => {
      const from = await itemsAt(["a"]);
      const answers = await store.documents.read({ name: "test.none" }, (at) =>
        at.read({ from, keys: [] }, { from, stretch: { within: [] } }, { from, count: {} }),
      );
      expect(answers).toEqual([[], [], 1]);
    });

    test("within gives the keys that begin with these parts, whole parts only", async () => {
      const from = await itemsAt(["a"], ["a", 1], ["a", "b"], ["a", "b", 2], ["ab"], ["b", "a"]);
      expect(await keysOf(from, { within: [["a"]] })).toEqual([
        ["a"],
        ["a", 1],
        ["a", "b"],
        ["a", "b", 2],
      ]);
      expect(await keysOf(from, { within: [["a", "b"]] })).toEqual([
        ["a", "b"],
        ["a", "b", 2],
      ]);
      expect(await keysOf(from, { within: [["c"]] })).toEqual([]);
    });

    test("several beginnings are read in the order of the keys", async () => {
      const from = await itemsAt([1, "x"], [2, "y"], ["b", 1], ["b", 2], ["a"]);
      const within = [["b"], [1], ["a"]];
      expect(await keysOf(from, { within })).toEqual([[1, "x"], ["a"], ["b", 1], ["b", 2]]);
      expect(await keysOf(from, { within, limit: 2, isReverse: true })).toEqual([
        ["b", 2],
        ["b", 1],
      ]);
      expect(await keysOf(from, { within, after: [1, "x"], limit: 2 })).toEqual([["a"], ["b", 1]]);
    });

    test("after and upTo bound what is read, in its direction", async () => {
      const from = await itemsAt(["a", 1], ["a", 2], ["a", 3], ["b", 1]);
      expect(await keysOf(from, { after: ["a", 1], upTo: ["a", 3] })).toEqual([
        ["a", 2],
        ["a", 3],
      ]);
      const reverse = { after: ["a", 3], upTo: ["a", 1], isReverse: true };
      expect(await keysOf(from, reverse)).toEqual([
        ["a", 2],
        ["a", 1],
      ]);
      expect(await keysOf(from, { after: ["a"], limit: 1 })).toEqual([["a", 1]]);
      expect(await keysOf(from, { within: [["a"]], after: ["a", 2] })).toEqual([["a", 3]]);
      expect(await keysOf(from, { after: ["b", 1] })).toEqual([]);
    });

    test("limit ends a stretch, and after goes on behind it", async () => {
      const from = await itemsAt(...Array.from({ length: 25 }, (_, n) => ["k", n]));
      const seen: Key[] = [];
      for (let after: Key | undefined; ; ) {
        const keys = await keysOf(from, { limit: 10, ...(after === undefined ? {} : { after }) });
        seen.push(...keys);
        after = keys.at(-1);
        if (keys.length < 10) break;
      }
      expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => ["k", n]));
    });

    test("an index has the documents that have a place, by place and then by key", async () => {
      const from = await store.itemsWith(
        { key: ["c"], value: 1, place: ["late", 5] },
        { key: ["a"], value: 2, place: ["late", 5] },
        { key: ["b"], value: 3, place: ["early", 7] },
        { key: ["d"], value: 4 },
        { key: ["e"], value: 5, place: [3] },
      );
      const index = "place";
      expect(await keysOf(from, { index })).toEqual([["e"], ["b"], ["a"], ["c"]]);
      expect(await keysOf(from, { index, within: [["late", 5]] })).toEqual([["a"], ["c"]]);
      expect(await keysOf(from, { index, after: ["late", 5, "a"] })).toEqual([["c"]]);
      expect(await keysOf(from, { index, isReverse: true, limit: 2 })).toEqual([["c"], ["a"]]);
      expect(await keysOf(from, { index, upTo: ["late"] })).toEqual([["e"], ["b"]]);
      const toA = { index, isReverse: true, upTo: ["late", 5, "a"] };
      expect(await keysOf(from, toA)).toEqual([["c"], ["a"]]);
    });

    test("a document that is put again has its new place only", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 1, place: ["x"] });
      await store.put(from, { key: ["a"], value: 2, place: ["y"] });
      expect(await keysOf(from, { index: "place", within: [["x"]] })).toEqual([]);
      expect(await keysOf(from, { index: "place", within: [["y"]] })).toEqual([["a"]]);
      await store.put(from, { key: ["a"], value: 3 });
      expect(await keysOf(from, { index: "place" })).toEqual([]);
    });

    test("collections do not see one another, and a read sees a commit in all of them or in none", async () => {
      const one = await itemsAt(["a"]);
      const two = await itemsAt(["b"]);
      const counts = () =>
        store.documents.read({ name: "test.two" }, (at) =>
          at.read({ from: one, count: {} }, { from: two, count: {} }),
        );
      const move = store.documents.transact({ name: "test.move" }, async (tx) => {
        tx.remove(one, ["a"]);
        tx.put(two, { key: ["a"], value: "moved" });
      });
      const seen = await Promise.all(Array.from({ length: 10 }, counts));
      await move;
      for (const [first, second] of seen) expect(first + second).toBe(2);
      expect((await store.all(two)).map(({ key }) => key)).toEqual([["a"], ["b"]]);
    });

    test("what was committed is read by whoever begins later", async () => {
      const from = await itemsAt();
      for (let n = 0; n < 20; n++) {
        await store.put(from, { key: [n], value: n });
        expect(await store.all(from)).toHaveLength(n + 1);
      }
    });

    test("a read knows the store's time from its first read on", async () => {
      const from = await itemsAt();
      await store.documents.read({ name: "test.now" }, async (at) => {
        expect(() => at.nowMs).toThrow("after its first read");
        await at.read({ from, count: {} });
        expect(Math.abs(at.nowMs - store.opened.nowMs())).toBeLessThan(60_000);
        const { nowMs } = at;
        await at.read({ from, count: {} });
        expect(at.nowMs).toBe(nowMs);
      });
    });

    test("what is no key is refused: a bug of the caller", async () => {
      const from = await itemsAt();
      const wrong: readonly Key[] = [[], [-1], [1.5], [2 ** 53], ["\ud800"], ["x".repeat(1_025)]];
      for (const key of wrong) {
        const read = store.documents.read({ name: "test.wrong" }, (at) =>
          at.read({ from, keys: [key] }),
        );
        expect(read).rejects.toThrow(Error);
        await read.catch(() => {});
        expect(store.put(from, { key, value: 1 })).rejects.toThrow(Error);
        const removal = store.documents.transact({ name: "test.wrong" }, async (tx) =>
          tx.remove(from, key),
        );
        await expect(removal).rejects.toThrow(Error);
      }
      expect(await store.all(from)).toEqual([]);
    });
  });
}
