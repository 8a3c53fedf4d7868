import { expect, test } from "bun:test";
import { Semaphore } from "../../src/usecases/reputation/accounts/semaphore.ts";

test("D-8.5.3 use() runs so many tasks at once, the others in order, and refuses those that are too many", async () => {
  const semaphore = new Semaphore({ maxRunning: 1, maxWaiting: 2 });
  const order: string[] = [];
  const gates = new Map<string, () => void>();
  const start = (name: string) =>
    semaphore.use(async () => {
      order.push(name);
      await new Promise<void>((open) => gates.set(name, open));
      return name;
    });
  const [a, b, c] = ["a", "b", "c"].map(start);
  await expect(start("d")).rejects.toMatchObject({ kind: "overloaded" });
  expect(order).toEqual(["a"]);
  gates.get("a")?.();
  expect(await a).toBe("a");
  const e = start("e");
  await expect(start("f")).rejects.toMatchObject({ kind: "overloaded" });
  for (const [name, task] of [
    ["b", b],
    ["c", c],
    ["e", e],
  ] as const) {
    gates.get(name)?.();
    expect(await task).toBe(name);
  }
  expect(order).toEqual(["a", "b", "c", "e"]);
});
