import { describe, expect, test } from "bun:test";
import { type DocumentsHarness, StoreOfSuite } from "./documents-harness.ts";

/** Versions that tell whether what was remembered of a name is still so. D-6.3. */
export function documentVersions(harness: DocumentsHarness): void {
  describe(`${harness.name}: versions of names`, () => {
    const store = new StoreOfSuite(harness);
    const versionsOf = async (...names: readonly string[]) => {
      await store.documents.prepare([]);
      const [versions] = await store.documents.read({ name: "test.versions" }, (at) =>
        at.read({ versionsOf: names }),
      );
      return versions;
    };
    const raise = (names: readonly string[] | "everybody") =>
      store.documents.transact({ name: "test.raise" }, async (tx) => tx.raise(names));

    test("D-6.3 a name's version grows with each commit that raises it, and others stay", async () => {
      const before = await versionsOf("ana", "bo", "cem");
      await raise(["ana", "cem"]);
      await raise(["ana"]);
      const after = await versionsOf("ana", "bo", "cem");
      expect(after.map((version, i) => version > (before[i] ?? 0))).toEqual([true, false, true]);
      expect(after[1]).toBe(before[1] ?? Number.NaN);
    });

    test("D-6.3 everybody is raised, of whatever name", async () => {
      const names = ["ana", "", "日本", "x".repeat(300), "a\u0000b", "nobody"];
      const before = await versionsOf(...names);
      await raise("everybody");
      const after = await versionsOf(...names);
      expect(after.every((version, i) => version > (before[i] ?? 0))).toBe(true);
    });

    test("D-6.3 many names at once are raised, each of them", async () => {
      const names = Array.from({ length: 300 }, (_, n) => `person-${n}`);
      const before = await versionsOf(...names);
      await raise(names);
      const after = await versionsOf(...names);
      expect(after.every((version, i) => version > (before[i] ?? 0))).toBe(true);
    });

    test("D-6.3 a body that fails raises nothing, and no names raise nothing", async () => {
      const before = await versionsOf("ana");
      const failed = store.documents.transact({ name: "test.fail" }, async (tx) => {
        tx.raise(["ana"]);
        throw new Error("no");
      });
      await failed.catch(() => {});
      await raise([]);
      expect(await versionsOf("ana")).toEqual(before);
    });

    test("D-6.3 a version is of the same moment as the documents that are read with it", async () => {
      const from = await store.itemsWith({ key: ["a"], value: 0 });
      const [first = 0] = await versionsOf("pair");
      const write = async () => {
        for (let n = 1; n <= 10; n++) {
          await store.documents.transact({ name: "test.change" }, async (tx) => {
            tx.put(from, { key: ["a"], value: n });
            tx.raise(["pair"]);
          });
        }
      };
      const read = async () => {
        for (let n = 0; n < 15; n++) {
          await store.documents.read({ name: "test.pair" }, async (at) => {
            const [[item]] = await at.read({ from, keys: [["a"]] });
            for (let others = 0; others < 10; others++) await at.read({ from, count: {} });
            const [[version = 0]] = await at.read({ versionsOf: ["pair"] });
            expect(version - first).toBe(Number(item?.value));
          });
        }
      };
      await Promise.all([write(), read()]);
    });

    test("D-6.3 raises at once are counted, whoever makes them", async () => {
      const second = (await store.opened.openSecond?.()) ?? store.documents;
      await second.prepare([]);
      const [before = 0] = await versionsOf("busy");
      const raises = [store.documents, second].flatMap((documents) =>
        Array.from({ length: 3 }, () =>
          documents.transact({ name: "test.raise" }, async (tx) => {
            await tx.read({ versionsOf: ["busy"] });
            await tx.turn();
            tx.raise(["busy"]);
          }),
        ),
      );
      await Promise.all(raises);
      const [after = 0] = await versionsOf("busy");
      expect(after).toBeGreaterThanOrEqual(before + raises.length);
    });
  });
}
