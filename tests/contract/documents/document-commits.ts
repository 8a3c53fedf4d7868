import { describe, expect, test } from "bun:test";
import { type DocumentsHarness, StoreOfSuite } from "./documents-harness.ts";

/** What a document keeps, and what a body sees and commits. */
export function documentCommits(harness: DocumentsHarness): void {
  describe(`${harness.name}: committing documents`, () => {
    const store = new StoreOfSuite(harness);

    test("a document comes back as it was put", async () => {
      const value = {
        text: "Ĝis! 日本 \u{1f600} \u0000 \ud7ff\n",
        empty: "",
        numbers: [0, -0.5, 1e-9, 1.7976931348623157e308, 2 ** 53, -(2 ** 53), 1_234_567_890_123],
        truth: [true, false, null],
        nested: { list: [{ deep: [[], {}] }], nothing: null },
        date: "2026-11-24T00:00:00.000001Z",
      };
      const item = { key: ["a", 1], value };
      const from = await store.itemsWith(item);
      expect(await store.all(from)).toEqual([item]);
    });

    test("a field that is undefined is left out", async () => {
      const from = await store.itemsWith({ key: ["a"], value: { one: undefined, two: 2 } });
      const [item] = await store.all(from);
      expect(Object.keys(item?.value as object)).toEqual(["two"]);
    });

    test("bytes come back as bytes, none and no bytes too", async () => {
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
      const from = await store.itemsWithBytes(
        { key: ["all"], value: 1, bytes },
        { key: ["empty"], value: 1, bytes: new Uint8Array(0) },
        { key: ["none"], value: 1 },
        { key: ["part"], value: 1, bytes: bytes.subarray(3, 5) },
      );
      const found = (await store.all(from)).map((item) => item.bytes);
      expect(found.map((one) => one && [...one])).toEqual([[...bytes], [], undefined, [3, 4]]);
      expect(found[0]).toBeInstanceOf(Uint8Array);
    });

    test("a document of 4 MiB of text and 4 MiB of bytes is kept whole, and three come at once", async () => {
      const text = "ß日x".repeat(700_000);
      const bytes = new Uint8Array(4 * 2 ** 20).fill(7);
      const from = await store.itemsWithBytes({ key: ["large"], value: text, bytes });
      const [item] = await store.all(from);
      expect(item?.value === text).toBe(true);
      expect(Buffer.compare(item?.bytes ?? new Uint8Array(0), bytes)).toBe(0);
      for (const key of [["larger"], ["largest"]])
        await store.put(from, { key, value: text, bytes });
      const [found] = await store.documents.read({ name: "test.large" }, (at) =>
        at.read({ from, stretch: { limit: 3 } }),
      );
      expect(found.map((one) => one.bytes?.length)).toEqual([4_194_304, 4_194_304, 4_194_304]);
    });

    test("what is read can be changed without changing the store, and what was put as well", async () => {
      const item = { key: ["a"], value: { n: 1 } };
      const from = await store.itemsWith(item);
      await store.documents.transact({ name: "test.change" }, async (tx) => {
        const put = { key: ["b"], value: { n: 1 } };
        tx.put(from, put);
        put.value.n = 2;
        const [[read]] = await tx.read({ from, keys: [["a"]] });
        (read?.value as { n: number }).n = 3;
      });
      expect((await store.all(from)).map(({ value }) => value)).toEqual([{ n: 1 }, { n: 1 }]);
    });

    test("put keeps the whole new document, remove what is not there does nothing", async () => {
      const from = await store.itemsWith({ key: ["a"], value: { old: 1 } });
      await store.documents.transact({ name: "test.put" }, async (tx) => {
        tx.put(from, { key: ["a"], value: { fresh: 2 } });
        tx.remove(from, ["absent"]);
      });
      expect(await store.all(from)).toEqual([{ key: ["a"], value: { fresh: 2 } }]);
    });

    test("a body reads its own puts and removals, in stretches, counts and indexes too", async () => {
      const from = await store.itemsWith(
        { key: ["a"], value: 1, place: ["p"] },
        { key: ["b"], value: 2, place: ["p"] },
      );
      await store.documents.transact({ name: "test.own" }, async (tx) => {
        await tx.read({ from, count: {} });
        tx.remove(from, ["a"]);
        tx.put(from, { key: ["c"], value: 3, place: ["p"] });
        tx.put(from, { key: ["b"], value: 4 });
        const answers = await tx.read(
          { from, stretch: {} },
          { from, count: {} },
          { from, keysOf: { index: "place", within: [["p"]] } },
          { from, keys: [["a"]] },
        );
        expect(answers).toEqual([
          [
            { key: ["b"], value: 4 },
            { key: ["c"], value: 3, place: ["p"] },
          ],
          2,
          [["c"]],
          [],
        ]);
      });
    });

    test("of several changes of one key the last one counts", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 0 }, { key: ["b"], value: 0 });
      await store.documents.transact({ name: "test.again" }, async (tx) => {
        tx.put(from, { key: ["a"], value: 1 });
        tx.remove(from, ["a"]);
        tx.remove(from, ["b"]);
        tx.put(from, { key: ["b"], value: 2 });
        tx.put(from, { key: ["c"], value: 3 });
        tx.put(from, { key: ["c"], value: 4 });
      });
      expect(await store.all(from)).toEqual([
        { key: ["b"], value: 2 },
        { key: ["c"], value: 4 },
      ]);
    });

    test("what a body throws comes out, and nothing of it is kept", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 1 });
      const problem = new Error("changed its mind");
      const failed = store.documents.transact({ name: "test.throw" }, async (tx) => {
        tx.put(from, { key: ["a"], value: 2 });
        await tx.read({ from, count: {} });
        tx.put(from, { key: ["b"], value: 3 });
        throw problem;
      });
      expect(await failed.catch((error) => error)).toBe(problem);
      expect(await store.all(from)).toEqual([{ key: ["a"], value: 1 }]);
      await store.put(from, { key: ["b"], value: 4 });
      expect(await store.all(from)).toHaveLength(2);
      const unread = store.documents.read({ name: "test.throw" }, async (at) => {
        await at.read({ from, count: {} });
        throw problem;
      });
      expect(await unread.catch((error) => error)).toBe(problem);
    });

    test("a body that throws before its first read leaves the store usable", async () => {
      const from = await store.itemsWith();
      const failed = store.documents.transact({ name: "test.early" }, async () => {
        throw new Error("early");
      });
      expect(await failed.catch(({ message }) => message)).toBe("early");
      await store.put(from, { key: ["a"], value: 1 });
      expect(await store.all(from)).toHaveLength(1);
    });

    test("several collections are changed in one commit, and gives what the body gives", async () => {
      const one = await store.itemsWith({ key: ["a"], value: 1 });
      const two = await store.itemsWith();
      const result = await store.documents.transact({ name: "test.move" }, async (tx) => {
        const [[item]] = await tx.read({ from: one, keys: [["a"]] });
        tx.remove(one, ["a"]);
        if (item !== undefined) tx.put(two, item);
        return { moved: item?.value };
      });
      expect(result).toEqual({ moved: 1 });
      expect([await store.all(one), await store.all(two)]).toEqual([
        [],
        [{ key: ["a"], value: 1 }],
      ]);
    });

    test("a thousand documents are put, read and removed in one commit each", async () => {
      const items = Array.from({ length: 1_000 }, (_, n) => ({ key: ["k", n], value: n }));
      const from = await store.itemsWith(...items);
      expect(await store.all(from)).toEqual(items);
      await store.documents.transact({ name: "test.clear" }, async (tx) => {
        const [keys] = await tx.read({ from, keysOf: {} });
        for (const key of keys) tx.remove(from, key);
      });
      expect(await store.all(from)).toEqual([]);
    });

    test("a long body gives others their turn", async () => {
      const from = await store.itemsWith();
      let turns = 0;
      let isOver = false;
      const other = () => {
        turns++;
        if (!isOver) setImmediate(other);
      };
      setImmediate(other);
      await store.documents.transact({ name: "test.turns" }, async (tx) => {
        for (let n = 0; n < 50; n++) {
          tx.put(from, { key: [n], value: n });
          await tx.turn();
        }
      });
      isOver = true;
      expect(turns).toBeGreaterThan(0);
      expect(await store.all(from)).toHaveLength(50);
    });

    test("prepare() may be called again, and keeps what is there", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 1 });
      await Promise.all([store.documents.prepare([from]), store.documents.prepare([from])]);
      expect(await store.all(from)).toHaveLength(1);
    });

    test("an index that is declared later has the documents that are there", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 7 });
      const place = ({ place }: { readonly place?: readonly (string | number)[] }) => place ?? null;
      const value = (item: { readonly value: unknown }) => [Number(item.value)];
      const later = { ...from, indexes: { place, value } };
      await store.documents.prepare([later]);
      const found = await store.documents.read({ name: "test.later" }, (at) =>
        at.read({ from: later, keysOf: { index: "value", within: [[7]] } }),
      );
      expect(found).toEqual([[["a"]]]);
    });

    test("another instance reads what was committed at once", async () => {
      const { openSecond } = store.opened;
      if (openSecond === undefined) return;
      const other = await openSecond();
      const from = await store.itemsWith({ key: ["a"], value: 1 });
      await other.prepare([from]);
      for (let n = 2; n < 12; n++) {
        await store.put(from, { key: ["a"], value: n });
        const [[item]] = await other.read({ name: "test.other", isProven: true }, (at) =>
          at.read({ from, keys: [["a"]] }),
        );
        expect(item?.value).toBe(n);
      }
    });
  });
}
