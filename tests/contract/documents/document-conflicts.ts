import { describe, expect, test } from "bun:test";
import type { Key } from "../../../src/domain/shared/document-key.ts";
import {
  type CallOptions,
  type Collection,
  type DocumentStore,
  REQUEST_CALLS,
  type Transaction,
} from "../../../src/ports/documents.ts";
import { type DocumentsHarness, type Item, StoreOfSuite } from "./documents-harness.ts";

/** Bodies at once: enough to meet often, few enough for stores that run each again until it is alone. */
const BODIES = 6;
const ROUNDS = 4;

/** What bodies that run at the same time do to one another. */
export function documentConflicts(harness: DocumentsHarness): void {
  describe(`${harness.name}: documents that several change`, () => {
    const store = new StoreOfSuite(harness);
    /** Instances that take turns: two where a store may have several. */
    const instances = async (from: Collection<Item>): Promise<readonly DocumentStore[]> => {
      const second = await store.opened.openSecond?.();
      await second?.prepare([from]);
      return second === undefined ? [store.documents] : [store.documents, second];
    };
    const atOnce = async (
      from: Collection<Item>,
      body: (tx: Transaction, n: number) => Promise<unknown>,
    ) => {
      const stores = await instances(from);
      return await Promise.allSettled(
        Array.from({ length: BODIES }, (_, n) =>
          stores[n % stores.length]?.transact({ name: "test.meet" }, (tx) => body(tx, n)),
        ),
      );
    };

    test("no change that was read and put is lost", async () => {
      const from = await store.itemsWith({ key: ["n"], value: 0 });
      for (let round = 0; round < ROUNDS; round++) {
        const outcomes = await atOnce(from, async (tx) => {
          const [[item]] = await tx.read({ from, keys: [["n"]] });
          tx.put(from, { key: ["n"], value: Number(item?.value) + 1 });
        });
        expect(outcomes.map(({ status }) => status)).not.toContain("rejected");
      }
      expect(await store.all(from)).toEqual([{ key: ["n"], value: BODIES * ROUNDS }]);
    });

    test("of those who find a key absent and put it, one puts it", async () => {
      const from = await store.itemsWith();
      const outcomes = await atOnce(from, async (tx, n) => {
        const [[item]] = await tx.read({ from, keys: [["one"]] });
        if (item !== undefined) return "there";
        tx.put(from, { key: ["one"], value: n });
        return "made";
      });
      const made = outcomes.filter(
        (outcome) => outcome.status === "fulfilled" && outcome.value === "made",
      );
      expect(made).toHaveLength(1);
    });

    test("numbers that are read and put are given once, without a gap", async () => {
      const from = await store.itemsWith();
      const outcomes = await atOnce(from, async (tx) => {
        const [[item]] = await tx.read({ from, keys: [["last"]] });
        const next = Number(item?.value ?? 0) + 1;
        tx.put(from, { key: ["last"], value: next });
        tx.put(from, { key: ["given", next], value: next });
        return next;
      });
      const given = outcomes.map((outcome) => outcome.status === "fulfilled" && outcome.value);
      expect(given.map(Number).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6]);
    });

    /** Each body removes its own item while there is another one: without the lock all of them go. */
    const leaveOne = async (locked: readonly Key[], count: number) => {
      const items = Array.from({ length: BODIES }, (_, n) => ({ key: ["item", n], value: n }));
      const owner = locked.length > 0 ? [{ key: ["owner"], value: "present" }] : [];
      const from = await store.itemsWith(...items, ...(count > 0 ? owner : []));
      await atOnce(from, async (tx, n) => {
        const [, left] = await tx.read(
          { from, keys: locked, lock: true },
          { from, count: { within: [["item"]] } },
        );
        if (left > 1) tx.remove(from, ["item", n]);
      });
      return (await store.all(from)).filter(({ key }) => key[0] === "item").length;
    };

    test("who decides over a set and locks its owner, who is there, leaves one", async () => {
      for (let round = 0; round < ROUNDS; round++) {
        expect(await leaveOne([["owner"]], 1)).toBe(1);
      }
    });

    test("who decides over a set and locks its owner, who is absent, leaves one", async () => {
      for (let round = 0; round < ROUNDS; round++) {
        expect(await leaveOne([["owner"]], 0)).toBe(1);
      }
    });

    test("a lock leaves no trace", async () => {
      const from = await store.itemsWith({ key: ["there"], value: { n: 1 } });
      await store.documents.transact({ name: "test.lock" }, async (tx) => {
        await tx.read({ from, keys: [["there"], ["absent"]], lock: true });
      });
      expect(await store.all(from)).toEqual([{ key: ["there"], value: { n: 1 } }]);
    });

    test("what is locked may be put and removed by the same body", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 1 }, { key: ["b"], value: 1 });
      await store.documents.transact({ name: "test.lock" }, async (tx) => {
        await tx.read({ from, keys: [["a"], ["b"], ["c"]], lock: true });
        tx.put(from, { key: ["a"], value: 2 });
        tx.remove(from, ["b"]);
        tx.put(from, { key: ["c"], value: 3 });
      });
      expect(await store.all(from)).toEqual([
        { key: ["a"], value: 2 },
        { key: ["c"], value: 3 },
      ]);
    });

    test("a body that locks and one that puts the locked key: the lock's reading holds at its commit", async () => {
      const from = await store.itemsWith({ key: ["flag"], value: "open" });
      for (let round = 0; round < ROUNDS; round++) {
        await store.put(from, { key: ["flag"], value: "open" });
        await Promise.all([
          store.documents.transact({ name: "test.enter" }, async (tx) => {
            const [[flag]] = await tx.read({ from, keys: [["flag"]], lock: true });
            if (flag?.value === "open") tx.put(from, { key: ["entered", round], value: round });
          }),
          store.documents.transact({ name: "test.close" }, async (tx) => {
            const [entered] = await tx.read({ from, keys: [["entered", round]] });
            tx.put(from, { key: ["flag"], value: `closed after ${entered.length}` });
          }),
        ]);
        const items = await store.all(from);
        const entered = items.filter(({ key }) => key[0] === "entered" && key[1] === round);
        const flag = items.find(({ key }) => key[0] === "flag");
        expect([`closed after ${entered.length}`, "closed after 0"]).toContain(String(flag?.value));
      }
    });

    test("bodies on different keys do not lose one another's changes", async () => {
      const from = await store.itemsWith();
      const outcomes = await atOnce(from, async (tx, n) => {
        await tx.read({ from, keys: [["k", n]] });
        tx.put(from, { key: ["k", n], value: n });
      });
      expect(outcomes.map(({ status }) => status)).not.toContain("rejected");
      expect(await store.all(from)).toHaveLength(BODIES);
    });

    test("a body sees nothing of what others commit after its first read", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 1, place: ["p"] });
      const seen: unknown[][] = [];
      const slow = store.documents.transact({ name: "test.slow" }, async (tx) => {
        const look = () =>
          tx.read(
            { from, keys: [["a"], ["b"]] },
            { from, keysOf: { index: "place" } },
            { from, count: { index: "place", within: [["p"]] } },
            { from, asStored: {} },
          );
        const before = await look();
        for (let n = 0; n < 5; n++) await tx.turn();
        seen.push([before, await look()]);
        tx.put(from, { key: ["slow"], value: before[2] });
      });
      const others = [
        { key: ["a"], value: 2, place: ["q"] },
        { key: ["b"], value: 2, place: ["p"] },
      ];
      await Promise.all([slow, store.put(from, ...others)]);
      expect(seen).not.toEqual([]);
      for (const [before, after] of seen) expect(after).toEqual(before);
    });

    test("readers and writers of a pair never see half of a commit", async () => {
      const from = await store.itemsWith({ key: ["l"], value: 0 }, { key: ["r"], value: 0 });
      const write = async () => {
        for (let n = 1; n <= 10; n++) {
          await store.put(from, { key: ["l"], value: n }, { key: ["r"], value: n });
        }
      };
      const read = async () => {
        for (let n = 0; n < 20; n++) {
          const [left, right] = await store.all(from);
          expect(left?.value).toBe(right?.value);
        }
      };
      await Promise.all([write(), read(), read()]);
    });

    test("D-8.3 a body that goes on behind the end of its call fails, and commits nothing", async () => {
      const from = await store.itemsWith();
      const limit = { triesMs: 100, endMs: 100 };
      const begunMs = performance.now();
      const call = store.documents.transact({ name: "test.long", limit }, async (tx) => {
        tx.put(from, { key: ["a"], value: 1 });
        while (performance.now() < begunMs + 300) await tx.turn();
      });
      expect(await call.catch(({ kind }) => kind)).toBe("store_unavailable");
      await store.put(from, { key: ["b"], value: 1 });
      expect((await store.all(from)).map(({ key }) => key)).toEqual([["b"]]);
    });
  });
}

/** Changes of one that waits for its turn, while another changes the same all the time: enough that one stall decides nothing. */
const OTHER_TURNS = 120;
/** Usually 1 to 3; it was up to 31 where pauses grew to 200 ms. */
const MOST_TURNS_TO_ONE = 6;
/** Bodies of one instance at once. */
const MANY_BODIES = 30;
/** Twice is the least where all begin together, 3.5 on a busy machine; it was six times where all ran again beside each other. */
const MOST_RUNS_OF_ONE = 4;

/** Of stores whose instances meet at a server; processes on one file of SQLite look for their turn every 10 ms. */
export function documentTurns(harness: DocumentsHarness): void {
  describe(`${harness.name}: documents that one changes all the time`, () => {
    const store = new StoreOfSuite(harness);

    test("others have their turn", async () => {
      const from = await store.itemsWith({ key: ["n"], value: 0 });
      const other = await store.opened.openSecond?.();
      await other?.prepare([from]);
      const change = async (at: DocumentStore | undefined) => {
        await at?.transact({ name: "test.meet" }, async (tx) => {
          const [[item]] = await tx.read({ from, keys: [["n"]] });
          tx.put(from, { key: ["n"], value: Number(item?.value) + 1 });
        });
      };
      const busy = { isOver: false, turns: 0 };
      const working = (async () => {
        for (; !busy.isOver; busy.turns++) await change(store.documents);
      })();
      for (let turn = 0; turn < OTHER_TURNS; turn++) await change(other);
      busy.isOver = true;
      await working;
      expect(await store.all(from)).toEqual([{ key: ["n"], value: OTHER_TURNS + busy.turns }]);
      expect(busy.turns).toBeLessThan(MOST_TURNS_TO_ONE * OTHER_TURNS);
    });

    /** How often bodies ran that each change one document. */
    const countRuns = async (options: Partial<CallOptions>) => {
      const from = await store.itemsWith({ key: ["n"], value: 0 });
      let runs = 0;
      const change = { name: "test.meet", limit: REQUEST_CALLS, ...options };
      const changes = Array.from({ length: MANY_BODIES }, () =>
        store.documents.transact(change, async (tx) => {
          runs++;
          const [[item]] = await tx.read({ from, keys: [["n"]] });
          tx.put(from, { key: ["n"], value: Number(item?.value) + 1 });
        }),
      );
      await Promise.all(changes);
      expect(await store.all(from)).toEqual([{ key: ["n"], value: MANY_BODIES }]);
      return runs;
    };

    test("those of one instance do not meet again and again", async () => {
      expect(await countRuns({})).toBeLessThan(MOST_RUNS_OF_ONE * MANY_BODIES);
    });

    test("those of one instance that come in turn do not meet at all", async () => {
      expect(await countRuns({ isQueued: true })).toBe(MANY_BODIES);
    });

    test("one that comes in turn goes on where the one before it failed", async () => {
      const from = await store.itemsWith();
      const put = (value: number) =>
        store.documents.transact({ name: "test.turn", isQueued: true }, async (tx) => {
          await tx.read({ from, keys: [["n"]] });
          if (value === 1) throw new Error("No");
          tx.put(from, { key: ["n"], value });
        });
      const outcomes = await Promise.allSettled([put(1), put(2)]);
      expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
      expect(await store.all(from)).toEqual([{ key: ["n"], value: 2 }]);
    });
  });
}
