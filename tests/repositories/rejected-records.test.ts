import { expect } from "bun:test";
import { rawNumber } from "../../src/domain/shared/json.ts";
import type { RejectedQuery } from "../../src/repositories/rejected-records.ts";
import { listed, rejectedTests, rejection } from "./support/rejected.ts";

rejectedTests("rejected records", (it) => {
  it("D-4.6 note() keeps a rejection with its key and record as they were", async (rejected) => {
    const key = { b: "é😀$.'\"", a: rawNumber("9007199254740993"), c: true };
    const record = { ...key, price: rawNumber("1.10"), extra: { "$x.y": [null, -1] }, "": "\0" };
    await rejected.note([
      rejection({ table: "a", direction: "pull", key, record, message: "No \0 ü", lastAtMs: 1000 }),
      rejection({ table: "a", direction: "push", key, record: null, message: "", lastAtMs: 2000 }),
    ]);
    const [pushed, pulled] = await listed(rejected);
    expect(JSON.stringify(pulled)).toBe(
      JSON.stringify({
        id: pulled?.id,
        table: "a",
        direction: "pull",
        key,
        record,
        message: "No \0 ü",
        fingerprint: "f",
        attempts: 1,
        firstAtMs: 1000,
        lastAtMs: 1000,
      }),
    );
    expect(pushed).toMatchObject({ direction: "push", record: null, message: "", attempts: 1 });
    expect(await listed(rejected, { limit: 1 })).toEqual([pushed!]);
  });

  it("D-4.6 note() of a known key counts an attempt and takes the new message and record", async (rejected) => {
    await rejected.note([rejection({ record: { k: "a", v: 1 }, message: "One", lastAtMs: 1000 })]);
    await rejected.note([rejection({ key: { k: "b" }, lastAtMs: 1500 })]);
    const [, before] = await listed(rejected);
    await rejected.note([rejection({ record: { k: "a", v: 2 }, message: "Two", lastAtMs: 2000 })]);
    const entries = await listed(rejected);
    expect(entries.map(({ key }) => key)).toEqual([{ k: "b" }, { k: "a" }]);
    expect(entries[1]).toEqual({
      ...before!,
      record: { k: "a", v: 2 },
      message: "Two",
      attempts: 2,
      firstAtMs: 1000,
      lastAtMs: 2000,
    });
  });

  it("D-4.6 an entry keeps the texts of its last record, and none once it is gone", async (rejected) => {
    const texts: (readonly [string | undefined, number])[] = [];
    for (const v of ["x".repeat(1_000_000), "y"]) {
      await rejected.note([rejection({ record: { v }, message: v.slice(0, 1) })]);
      texts.push([(await listed(rejected))[0]?.message, await rejected.countTexts()]);
    }
    await rejected.clear("items", "push", [{ k: "a" }]);
    expect([...texts, await rejected.countTexts()]).toEqual([["x", 2], ["y", 1], 0]);
  });

  it("D-4.6 of several records of a key in one note() the texts of the last stay", async (rejected) => {
    const records = [3, 2, 1].map((parts) => ({ v: "x".repeat((parts - 1) * 1_000_000) }));
    await rejected.note(records.map((record) => rejection({ record })));
    const entries = await listed(rejected);
    expect(entries.map(({ record, attempts }) => [record, attempts])).toEqual([[{ v: "" }, 3]]);
    expect(await rejected.countTexts()).toBe(1);
  });

  it("D-4.6 one key twice in one note() is two attempts", async (rejected) => {
    await rejected.note([
      rejection({ message: "One" }),
      rejection({ key: { k: "b" } }),
      rejection({ message: "Two" }),
    ]);
    const entries = await listed(rejected);
    expect(entries.map(({ key, attempts }) => [key, attempts])).toEqual([
      [{ k: "b" }, 1],
      [{ k: "a" }, 2],
    ]);
    expect(entries[1]?.message).toBe("Two");
  });

  it("D-4.6 a key of any length is kept whole, and names one entry", async (rejected) => {
    const keys = ["a", "b"].map((end) => ({ k: "x".repeat(10_000) + end }));
    for (const key of [...keys, ...keys]) await rejected.note([rejection({ key })]);
    const entries = await listed(rejected);
    expect(entries.map(({ key }) => key)).toEqual(keys.toReversed());
    expect(entries.map(({ attempts }) => attempts)).toEqual([2, 2]);
  });

  it("D-4.6 entries are apart by table, direction and the values of the key, not by its order", async (rejected) => {
    const key = { a: 1, b: "x" };
    await rejected.note([
      rejection({ key }),
      rejection({ key: { b: "x", a: 1 } }),
      rejection({ key: { a: "1", b: "x" } }),
      rejection({ key: { a: rawNumber("1.0"), b: "x" } }),
      rejection({ key: { a: "x", b: 1 } }),
      rejection({ key: { a: 1, b: "X" } }),
      rejection({ key, direction: "pull" }),
      rejection({ key, table: "Items" }),
    ]);
    const attempts = (await listed(rejected)).map((entry) => entry.attempts);
    expect(attempts).toEqual([1, 1, 1, 1, 1, 1, 2]);
  });

  it.everywhere(
    "D-4.6 note() of nothing notes nothing, and one of 2,000 notes all",
    async (rejected) => {
      await rejected.note([]);
      expect(await listed(rejected)).toEqual([]);
      const keys = Array.from({ length: 2_000 }, (_, n) => ({ k: `key ${n}` }));
      await rejected.note(keys.map((key) => rejection({ key })));
      await rejected.note(keys.map((key) => rejection({ key, message: "Again" })));
      const entries = await listed(rejected, { limit: 3_000 });
      expect(entries.map(({ key }) => key)).toEqual(keys.toReversed());
      expect(new Set(entries.map(({ attempts, message }) => `${attempts} ${message}`))).toEqual(
        new Set(["2 Again"]),
      );
    },
  );

  it("D-4.9 list() is newest first by the order of noting, whatever the clock said", async (rejected) => {
    await rejected.note([
      rejection({ key: { k: "a" }, lastAtMs: 9000 }),
      rejection({ key: { k: "b" }, lastAtMs: 8000 }),
    ]);
    await rejected.note([rejection({ key: { k: "c" }, lastAtMs: 7000 })]);
    const entries = await listed(rejected);
    expect(entries.map(({ key }) => key["k"])).toEqual(["c", "b", "a"]);
    const ids = entries.map(({ id }) => id);
    expect(ids.toSorted().toReversed()).toEqual(ids);
    expect(new Set(ids).size).toBe(3);
  });

  it("D-4.9 list() is cut by table, direction, limit and the id before", async (rejected) => {
    for (let n = 0; n < 6; n++) {
      await rejected.note([
        rejection({
          key: { n },
          table: n % 3 === 0 ? "b" : "a",
          direction: n % 2 ? "push" : "pull",
        }),
      ]);
    }
    const numbers = async (query: Partial<RejectedQuery>) =>
      (await listed(rejected, query)).map(({ key }) => key["n"]);
    const idOf = async (n: number) =>
      (await listed(rejected)).find(({ key }) => key["n"] === n)!.id;
    expect(await numbers({})).toEqual([5, 4, 3, 2, 1, 0]);
    expect(await numbers({ limit: 2 })).toEqual([5, 4]);
    expect(await numbers({ limit: 2, behindId: await idOf(4) })).toEqual([3, 2]);
    expect(await numbers({ table: "a" })).toEqual([5, 4, 2, 1]);
    expect(await numbers({ table: "a", direction: "push" })).toEqual([5, 1]);
    expect(await numbers({ direction: "pull" })).toEqual([4, 2, 0]);
    expect(await numbers({ table: "a", direction: "pull", behindId: await idOf(3) })).toEqual([2]);
    expect(await numbers({ table: "b", limit: 1, behindId: await idOf(5) })).toEqual([3]);
    expect(await numbers({ table: "c" })).toEqual([]);
    expect(await numbers({ behindId: await idOf(0) })).toEqual([]);
    const oldest = { isOldestFirst: true };
    expect(await numbers({ ...oldest, limit: 4 })).toEqual([0, 1, 2, 3]);
    expect(await numbers({ ...oldest, limit: 2, behindId: await idOf(1) })).toEqual([2, 3]);
    expect(await numbers({ ...oldest, table: "a", behindId: await idOf(3) })).toEqual([4, 5]);
    const pulled = { ...oldest, table: "a", direction: "pull" } as const;
    expect(await numbers({ ...pulled, behindId: await idOf(2) })).toEqual([4]);
    expect(await numbers({ ...oldest, behindId: await idOf(5) })).toEqual([]);
  });

  it("D-4.9 list() goes on before an entry that is gone", async (rejected) => {
    await rejected.note(["a", "b", "c"].map((k) => rejection({ key: { k } })));
    const behindId = (await listed(rejected))[1]!.id;
    expect(await rejected.remove(behindId)).toBe(true);
    const entries = await listed(rejected, { behindId });
    expect(entries.map(({ key }) => key["k"])).toEqual(["a"]);
  });

  it("D-4.9 countByTable() counts both directions, or one", async (rejected) => {
    expect(await rejected.countByTable()).toEqual(new Map());
    await rejected.note([
      rejection({ table: "a", direction: "push" }),
      rejection({ table: "a", direction: "pull" }),
      rejection({ table: "a", direction: "pull" }),
      rejection({ table: "b" }),
    ]);
    expect(await rejected.countByTable()).toEqual(
      new Map([
        ["a", 2],
        ["b", 1],
      ]),
    );
    const pulls = await rejected.countByTable("pull");
    const pushes = await rejected.countByTable("push");
    expect([pulls.get("a") ?? 0, pushes.get("a") ?? 0]).toEqual([1, 1]);
    expect((pulls.get("b") ?? 0) + (pushes.get("b") ?? 0)).toBe(1);
  });

  it("D-4.6 clear() drops the entries of the given keys, and ignores unknown ones", async (rejected) => {
    const keys = ["a", "b", "c", "d"].map((k) => ({ k, n: 1 }));
    await rejected.note(keys.map((key) => rejection({ key })));
    await rejected.note([
      rejection({ key: keys[0]!, direction: "pull" }),
      rejection({ key: keys[0]!, table: "other" }),
    ]);
    await rejected.clear("items", "push", [
      { n: 1, k: "a" },
      { k: "c", n: 1 },
      { k: "c", n: 1 },
      { k: "unknown", n: 1 },
    ]);
    await rejected.clear("items", "push", []);
    await rejected.clear("unknown", "push", keys);
    const left = (await listed(rejected)).map((entry) => [
      entry.table,
      entry.direction,
      entry.key["k"],
    ]);
    expect(left).toEqual([
      ["other", "push", "a"],
      ["items", "pull", "a"],
      ["items", "push", "d"],
      ["items", "push", "b"],
    ]);
  });

  it("D-4.6 a key that is refused again after clear() is a new entry", async (rejected) => {
    await rejected.note([rejection({ lastAtMs: 1000 })]);
    const [before] = await listed(rejected);
    await rejected.clear("items", "push", [{ k: "a" }]);
    await rejected.note([rejection({ lastAtMs: 2000 })]);
    const [after] = await listed(rejected);
    expect(after).toMatchObject({ attempts: 1, firstAtMs: 2000 });
    expect(after!.id > before!.id).toBe(true);
  });

  it("D-4.9 remove() drops one entry, and tells when there is none", async (rejected) => {
    await rejected.note(["a", "b"].map((k) => rejection({ key: { k } })));
    const [newest] = await listed(rejected);
    for (const id of ["", "0", "1", "unknown", `${newest!.id}0`, newest!.id.replace(/^0+/, "")]) {
      if (id !== newest!.id) expect(await rejected.remove(id)).toBe(false);
    }
    expect(await rejected.remove(newest!.id)).toBe(true);
    expect(await rejected.remove(newest!.id)).toBe(false);
    await rejected.note([rejection({ key: { k: "c" } })]);
    expect(await rejected.remove(newest!.id)).toBe(false);
    expect((await listed(rejected)).map(({ key }) => key["k"])).toEqual(["c", "a"]);
  });

  it.everywhere(
    "D-4.6 refusals that two instances note at once are all counted",
    async (rejected, other) => {
      const notes = Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? rejected : other).note([rejection({}), rejection({ key: { k: `own ${n}` } })]),
      );
      await Promise.all(notes);
      const entries = await listed(other);
      expect(entries.length).toBe(21);
      expect(entries.find(({ key }) => key["k"] === "a")?.attempts).toBe(20);
      expect(new Set(entries.map(({ id }) => id)).size).toBe(21);
    },
  );

  it("D-4.9 entries noted in turn by two instances are listed in that order by both", async (rejected, other) => {
    for (let n = 0; n < 10; n++) {
      await (n % 2 ? rejected : other).note([rejection({ key: { n } })]);
    }
    const numbers = (await listed(rejected)).map(({ key }) => key["n"]);
    expect(numbers).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    const [newest] = await listed(other);
    expect(await other.remove(newest!.id)).toBe(true);
    expect(await rejected.remove(newest!.id)).toBe(false);
  });
});
