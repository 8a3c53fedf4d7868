import { expect, test } from "bun:test";
import type { AppError } from "../../src/domain/shared/errors.ts";
import { makePasswordRest, Semaphore } from "../../src/usecases/reputation/accounts/semaphore.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

test("D-8.5.3 use() runs so many tasks at once, the others in order, and refuses those that are too many", async () => {
  const semaphore = new Semaphore({
    maxRunning: 1,
    maxWaiting: 2,
    maxMs: 9_000,
    clock: new FakeClock(),
  });
  const order: string[] = [];
  const gateOf = (name: string) => [name, Promise.withResolvers<void>()] as const;
  const gates = new Map(["a", "b", "c", "e"].map(gateOf));
  const start = (name: string) =>
    semaphore.use(async () => {
      order.push(name);
      await gates.get(name)?.promise;
      return name;
    });
  const [a, b, c] = ["a", "b", "c"].map(start);
  await expect(start("d")).rejects.toMatchObject({ kind: "overloaded" });
  expect(order).toEqual(["a"]);
  gates.get("a")?.resolve();
  expect(await a).toBe("a");
  const e = start("e");
  await expect(start("f")).rejects.toMatchObject({ kind: "overloaded" });
  for (const [name, task] of [
    ["b", b],
    ["c", c],
    ["e", e],
  ] as const) {
    gates.get(name)?.resolve();
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
  const semaphore = new Semaphore({
    maxRunning: 1,
    maxWaiting: 9,
    maxMs: 9_000,
    clock: new FakeClock(),
    rest,
  });
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

/** 300 ms a task, two at once, as on a slow machine; the clock goes on as tasks end. */
function slowMachine() {
  const clock = new FakeClock();
  const semaphore = new Semaphore({ maxRunning: 2, maxWaiting: 100, maxMs: 9_000, clock });
  const running: (() => void)[] = [];
  const order: string[] = [];
  const start = (name: string, gone?: AbortSignal) =>
    semaphore
      .use(async () => {
        order.push(name);
        await new Promise<void>((end) => running.push(end));
        return "done";
      }, gone)
      .catch((error: AppError) => error.kind);
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  /** Lets those that run end, 300 ms later. */
  const step = async () => {
    clock.advance(300);
    for (const end of running.splice(0)) end();
    await turn();
  };
  return { clock, order, start, step, isIdle: () => running.length === 0 };
}

test("D-8.5.3 tasks that cannot be done in time are refused, and hold up nobody who comes later", async () => {
  const { clock, order, start, step, isIdle } = slowMachine();
  const first = Array.from({ length: 95 }, (_, n) => start(`${n}`));
  await step();
  // 93 wait by now: what comes now would be done after 14 s.
  expect(await start("too late")).toBe("overloaded");
  while (!isIdle()) await step();
  const outcomes = await Promise.all(first);
  expect([clock.monotonicMs(), order.length]).toEqual([9_000, 60]);
  expect(outcomes).toEqual([...Array(60).fill("done"), ...Array(35).fill("overloaded")]);
  const next = start("next");
  await step();
  expect([await next, clock.monotonicMs()]).toEqual(["done", 9_300]);
});

test("D-8.5.3 a task whose caller is gone leaves the queue at once and is never begun", async () => {
  const { order, start, step } = slowMachine();
  const caller = new AbortController();
  const [a, b] = [start("a"), start("b")];
  const left = start("left", caller.signal);
  const c = start("c");
  caller.abort();
  expect(await left).toBe("overloaded");
  expect(await start("late", caller.signal)).toBe("overloaded");
  await step();
  await step();
  expect(await Promise.all([a, b, c])).toEqual(["done", "done", "done"]);
  expect(order).toEqual(["a", "b", "c"]);
});

test("D-8.5.3 one task that took very long refuses nobody for long", async () => {
  const { clock, start, step, isIdle } = slowMachine();
  const long = [start("a"), start("b")];
  clock.advance(60_000);
  await step();
  expect(await Promise.all(long)).toEqual(["done", "done"]);
  for (let n = 0; n < 24; n++) {
    const one = start(`${n}`);
    await step();
    expect(await one).toBe("done");
  }
  const many = Array.from({ length: 6 }, (_, n) => start(`many ${n}`));
  while (!isIdle()) await step();
  expect(await Promise.all(many)).toEqual(Array(6).fill("done"));
});
