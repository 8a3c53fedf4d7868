import { expect, test } from "bun:test";
import { makePasswordRest } from "../../src/usecases/reputation/accounts/password-rest.ts";
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

test("D-8.5.5 after a password the next one waits for its rest while lookups are answered; its own reply does not", async () => {
  let lookups = 0;
  const wakes: (() => void)[] = [];
  const sleeps: number[] = [];
  const timer = {
    sleep: (durationMs: number) => {
      sleeps.push(durationMs);
      return new Promise<void>((wake) => wakes.push(wake));
    },
  };
  const rest = makePasswordRest(timer, () => lookups);
  const semaphore = new Semaphore({ maxRunning: 1, maxWaiting: 9, rest });
  const during = (count: number) =>
    semaphore.use(async () => {
      lookups += count;
      return count;
    });
  expect([await during(9), await during(0)]).toEqual([9, 0]);
  expect(sleeps).toEqual([]);
  expect(await during(10)).toBe(10);
  let isDone = false;
  const next = during(1).then(() => {
    isDone = true;
  });
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  expect([sleeps, isDone]).toEqual([[150], false]);
  wakes[0]?.();
  await next;
  expect(isDone).toBe(true);
});
