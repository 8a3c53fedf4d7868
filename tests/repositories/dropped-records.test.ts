import { expect } from "bun:test";
import type { NewRejection } from "../../src/domain/sync/run/rejections.ts";
import {
  listed,
  rejection as pushed,
  type RejectedUnderTest,
  rejectedTests,
} from "./support/rejected.ts";

rejectedTests("dropped records", (it) => {
  it("D-7.7 a fingerprint is kept, and replaced with the record", async (rejected) => {
    await rejected.note([rejection({ fingerprint: "1 \0é" })]);
    expect((await listed(rejected)).map(({ fingerprint }) => fingerprint)).toEqual(["1 \0é"]);
    await rejected.note([rejection({ fingerprint: "2" })]);
    expect(await listed(rejected)).toMatchObject([{ fingerprint: "2", attempts: 2 }]);
  });

  it("D-7.7 a record that was dropped is not noted again until it changes", async (rejected) => {
    await rejected.note([rejection({ fingerprint: "1" })]);
    await removeAll(rejected);
    expect(await rejected.dropped("items", "pull")).toEqual([{ key: KEY, fingerprint: "1" }]);
    await rejected.note([rejection({ fingerprint: "1", message: "Again" })]);
    await rejected.note([rejection({ fingerprint: "1", key: { n: 1, k: "a" } })]);
    expect(await listed(rejected)).toEqual([]);
    expect(await rejected.dropped("items", "pull")).toEqual([{ key: KEY, fingerprint: "1" }]);
    await rejected.note([rejection({ fingerprint: "2", lastAtMs: 5000 })]);
    expect(await listed(rejected)).toMatchObject([
      { fingerprint: "2", attempts: 1, firstAtMs: 5000 },
    ]);
    expect(await rejected.dropped("items", "pull")).toEqual([]);
    await rejected.note([rejection({ fingerprint: "1" })]);
    expect(await listed(rejected)).toMatchObject([{ fingerprint: "1", attempts: 2 }]);
  });

  it("D-7.7 a dropped record counts again from another one of its key on, in the same note() too", async (rejected) => {
    await rejected.note([rejection({ fingerprint: "1" })]);
    await removeAll(rejected);
    await rejected.note(["1", "2", "1"].map((fingerprint) => rejection({ fingerprint })));
    expect(await listed(rejected)).toMatchObject([{ fingerprint: "1", attempts: 2 }]);
    expect(await rejected.dropped("items", "pull")).toEqual([]);
  });

  it("D-7.7 drops are apart by table, direction and key", async (rejected) => {
    await rejected.note([rejection({})]);
    await removeAll(rejected);
    const others = [
      rejection({ direction: "push" }),
      rejection({ table: "others" }),
      rejection({ key: { k: "b", n: 1 } }),
    ];
    await rejected.note([rejection({}), ...others]);
    expect((await listed(rejected)).length).toBe(3);
    expect(await rejected.dropped("items", "push")).toEqual([]);
    expect(await rejected.dropped("others", "pull")).toEqual([]);
    expect(await rejected.dropped("items", "pull")).toEqual([{ key: KEY, fingerprint: "1" }]);
  });

  it("D-7.7 clear() forgets drops, as their records have been accepted", async (rejected) => {
    await rejected.note([rejection({}), rejection({ key: { k: "b", n: 1 } })]);
    await removeAll(rejected);
    await rejected.clear("items", "push", [KEY]);
    await rejected.clear("items", "pull", [{ n: 1, k: "b" }]);
    expect(await rejected.dropped("items", "pull")).toEqual([{ key: KEY, fingerprint: "1" }]);
    await rejected.clear("items", "pull", [KEY]);
    expect(await rejected.dropped("items", "pull")).toEqual([]);
    await rejected.note([rejection({})]);
    expect((await listed(rejected)).length).toBe(1);
  });

  it("D-7.7 remove() of an unknown id drops nothing", async (rejected) => {
    await rejected.note([rejection({})]);
    expect(await rejected.remove("unknown")).toBe(false);
    expect(await rejected.dropped("items", "pull")).toEqual([]);
    await rejected.note([rejection({})]);
    expect(await listed(rejected)).toMatchObject([{ attempts: 2 }]);
  });

  it("D-7.7 dropped() tells 1,000 drops", async (rejected) => {
    const keys = Array.from({ length: 1_000 }, (_, n) => ({ k: `k${n}`, n }));
    await rejected.note(keys.map((key) => rejection({ key })));
    await removeAll(rejected);
    const dropped = await rejected.dropped("items", "pull");
    expect(new Set(dropped.map(({ key }) => key["n"]))).toEqual(new Set(keys.map(({ n }) => n)));
  });

  const key = { k: null, n: 1 };

  it("D-7.7 records of which a key column is null have one entry each", async (rejected) => {
    await rejected.note([
      rejection({ key, fingerprint: "1", record: { v: 1 } }),
      rejection({ key, fingerprint: "2", record: { v: 2 } }),
      rejection({ key: { n: 1, k: null }, fingerprint: "1", record: { v: 1 } }),
    ]);
    const entries = await listed(rejected);
    expect(entries.map(({ record, attempts }) => [record, attempts])).toEqual([
      [{ v: 2 }, 1],
      [{ v: 1 }, 2],
    ]);
    expect(await rejected.countByTable("pull")).toEqual(new Map([["items", 2]]));
  });

  it("D-7.7 of records without a key one is dropped and the others stay", async (rejected) => {
    const both = ["1", "2"].map((fingerprint) => rejection({ key, fingerprint }));
    await rejected.note(both);
    const [newest] = await listed(rejected);
    expect(await rejected.remove(newest!.id)).toBe(true);
    await rejected.note(both);
    expect((await listed(rejected)).map((entry) => [entry.fingerprint, entry.attempts])).toEqual([
      ["1", 2],
    ]);
    await rejected.note([rejection({ key, fingerprint: "3" })]);
    expect(await rejected.dropped("items", "pull")).toEqual([{ key, fingerprint: "2" }]);
  });

  it("D-7.7 clear() of such a key drops all of its entries", async (rejected) => {
    await rejected.note(["1", "2"].map((fingerprint) => rejection({ key, fingerprint })));
    await rejected.note([rejection({})]);
    await rejected.clear("items", "pull", [key]);
    expect((await listed(rejected)).map((entry) => entry.key)).toEqual([KEY]);
  });

  it.everywhere(
    "D-7.7 a drop holds for all instances, also after the first one closed",
    async (rejected, other) => {
      await rejected.note([rejection({})]);
      await removeAll(rejected);
      await other.note([rejection({})]);
      expect(await listed(rejected)).toEqual([]);
      await other.note([rejection({})]);
      expect(await listed(other)).toEqual([]);
      expect(await other.dropped("items", "pull")).toEqual([{ key: KEY, fingerprint: "1" }]);
    },
  );
});

const KEY = { k: "a", n: 1 };

const rejection = (changes: Partial<NewRejection>) =>
  pushed({ direction: "pull", key: KEY, record: { k: "a" }, fingerprint: "1", ...changes });

async function removeAll(rejected: RejectedUnderTest): Promise<void> {
  for (const { id } of await listed(rejected)) expect(await rejected.remove(id)).toBe(true);
}
