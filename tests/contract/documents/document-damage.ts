import { describe, expect, test } from "bun:test";
import { type Collection, Damaged } from "../../../src/ports/documents.ts";
import { type DocumentsHarness, type Item, StoreOfSuite } from "./documents-harness.ts";

/** What other programs did to stored documents. */
export function documentDamage(harness: DocumentsHarness): void {
  describe(`${harness.name}: documents that others changed`, () => {
    const store = new StoreOfSuite(harness);
    const asStored = async (from: Collection<Item>, stretch: object = {}) => {
      const [found] = await store.documents.read({ name: "test.stored" }, (at) =>
        at.read({ from, asStored: stretch }),
      );
      return found;
    };
    const keysOf = (found: readonly (Item | Damaged)[]) =>
      found.map((one) => (one instanceof Damaged ? "damaged" : one.key.join(" ")));

    test("a stored document that is none of ours fails the read that meets it, by the name of its collection", async () => {
      const { damage } = store.opened;
      if (damage === undefined) return;
      const from = await store.itemsWith({ key: ["a"], value: 1 }, { key: ["b"], value: 2 });
      await damage(from, ["a"]);
      const read = (query: { keys: [["a"]] } | { stretch: object }) =>
        store.documents
          .read({ name: "test.damage" }, (at) => at.read({ from, ...query }))
          .catch((error) => [error.kind, String(error.message).includes(from.name)]);
      expect(await read({ keys: [["a"]] })).toEqual(["store_unavailable", true]);
      expect(await read({ stretch: {} })).toEqual(["store_unavailable", true]);
      const [[other]] = await store.documents.read({ name: "test.other" }, (at) =>
        at.read({ from, keys: [["b"]] }),
      );
      expect(other?.value).toBe(2);
    });

    test("documents as they are stored are those that were put, with own writes and locks", async () => {
      const items = [
        {
          key: ["a", 1],
          value: { text: "ß\u0000", list: [1, -0.5, 2 ** 40, null] },
          place: ["p", 2],
        },
        { key: ["a", 2], value: [], bytes: Uint8Array.of(1, 2) },
        { key: ["b"], value: "x" },
      ];
      const from = await store.itemsWithBytes(...items);
      const lock = { from, keys: [["b"], ["absent"]], lock: true } as const;
      await store.documents.transact({ name: "test.lock" }, (tx) => tx.read(lock));
      expect(await asStored(from)).toEqual(items);
      expect(keysOf(await asStored(from, { within: [["a"]] }))).toEqual(["a 1", "a 2"]);
      expect(keysOf(await asStored(from, { within: [["a"]], after: ["a", 1] }))).toEqual(["a 2"]);
      expect(keysOf(await asStored(from, { within: [] }))).toEqual([]);
      await store.documents.transact({ name: "test.own" }, async (tx) => {
        tx.remove(from, ["a", 1]);
        const [found] = await tx.read({ from, asStored: { limit: 1 } });
        expect(keysOf(found)).toEqual(["a 2"]);
      });
    });

    test("what is no longer as it was put comes as damaged in its place, however it was changed", async () => {
      const { damage, damages = [] } = store.opened;
      if (damage === undefined) return;
      for (const spoil of [damage, ...damages]) {
        const items = ["a", "b", "c"].map((key) => ({ key: [key], value: 5 }));
        const from = await store.itemsWith(...items);
        await spoil(from, ["b"]);
        expect(keysOf(await asStored(from))).toEqual(["a", "damaged", "c"]);
        const [, damaged] = await asStored(from);
        if (!(damaged instanceof Damaged)) throw new Error("It is whole");
        expect([damaged.key, damaged.text]).toEqual([["b"], '["b"]']);
        expect(keysOf(await asStored(from, { after: damaged }))).toEqual(["c"]);
        expect(keysOf(await asStored(from, { within: [["b"]] }))).toEqual(["damaged"]);
      }
    });

    test("what stands at keys that are none of ours is met when everything is read, part by part", async () => {
      const { addStrange } = store.opened;
      if (addStrange === undefined) return;
      const from = await store.itemsWith({ key: ["a"], value: 1 }, { key: ["b", 2], value: 1 });
      const count = await addStrange(from);
      const seen: (Item | Damaged)[] = [];
      for (;;) {
        const last = seen.at(-1);
        const after = last instanceof Damaged ? last : last?.key;
        const part = await asStored(from, { limit: 1, ...(after === undefined ? {} : { after }) });
        if (part.length === 0) break;
        seen.push(...part);
      }
      const damaged = seen.filter((one) => one instanceof Damaged);
      expect(damaged.filter(({ key, text }) => key === null && text !== "")).toHaveLength(count);
      expect(keysOf(seen).filter((key) => key !== "damaged")).toEqual(["a", "b 2"]);
    });
  });
}
