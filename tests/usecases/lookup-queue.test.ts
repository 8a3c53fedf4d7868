import { expect, test } from "bun:test";
import type { LookupCall } from "../../src/domain/reputation/lookups/lookup-batch.ts";
import { AppError } from "../../src/domain/shared/errors.ts";
import { NO_TRACING } from "../../src/ports/runtime/tracing.ts";
import {
  type LookupDecider,
  LookupQueue,
  type LookupReply,
} from "../../src/usecases/reputation/lookups/look-up.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

interface Sleeper {
  readonly ms: number;
  readonly wake: () => void;
}

/** A processor that decides when the test says so, turns that the test takes, and a clock that it moves. */
function makeScene(gatherMs?: number) {
  const batches: string[][] = [];
  const settles: ((error?: Error) => void)[] = [];
  const turns: (() => void)[] = [];
  /** Waits for callers to come back. */
  const sleepers: Sleeper[] = [];
  /** Waits for the deadlines of batches. */
  const deadlineWaits: Sleeper[] = [];
  const clock = new FakeClock();
  const deadlines: number[] = [];
  const lookupProcessor: LookupDecider = {
    ...(gatherMs === undefined ? {} : { gatherMs }),
    decide: (calls, deadlineMs, replyTo) => {
      deadlines.push(deadlineMs);
      batches.push(calls.map(({ requestId }) => requestId));
      return new Promise((resolve, reject) =>
        settles.push((error) =>
          error === undefined ? resolve({ value: replyTo([]), confirmedAtMs: 0 }) : reject(error),
        ),
      );
    },
  };
  const queue = new LookupQueue({
    lookupProcessor,
    replyTo: ({ requestId }) => requestId as unknown as LookupReply,
    tracing: NO_TRACING,
    clock,
    defer: (work) => turns.push(work),
    timer: {
      sleep: (ms, signal) =>
        new Promise((wake) => (signal === undefined ? sleepers : deadlineWaits).push({ ms, wake })),
    },
  });
  /** Lets everything that is due happen: promises first, then one turn. */
  const takeTurn = async () => {
    await Promise.resolve().then(() => {});
    for (const work of turns.splice(0)) work();
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const ask = (...names: string[]) =>
    names.map(async (requestId) => {
      const { value } = await queue.decide({ requestId } as unknown as LookupCall);
      return value as unknown as string;
    });
  return { batches, settles, sleepers, deadlines, deadlineWaits, clock, ask, takeTurn };
}

test("D-6.5 calls of one turn are one batch; those that come meanwhile are the next", async () => {
  const { batches, settles, ask, takeTurn } = makeScene();
  const first = ask("a", "b");
  await takeTurn();
  const second = ask("c", "d", "e");
  await takeTurn();
  expect(batches).toEqual([["a", "b"]]);
  settles[0]?.();
  expect((await Promise.all(first)) as unknown[]).toEqual(["a", "b"]);
  await takeTurn();
  expect(batches).toEqual([
    ["a", "b"],
    ["c", "d", "e"],
  ]);
  settles[1]?.();
  expect((await Promise.all(second)) as unknown[]).toEqual(["c", "d", "e"]);
});

test("D-5.2 a batch that finds no store fails alone: the calls behind it have their own try", async () => {
  const { batches, settles, ask, takeTurn } = makeScene();
  const first = ask("a").map((answer) => answer.catch((error: Error) => error.message));
  await takeTurn();
  const second = ask("b", "c");
  settles[0]?.(new AppError("store_unavailable", "The store is away"));
  expect((await Promise.all(first)) as unknown[]).toEqual(["The store is away"]);
  await takeTurn();
  expect(batches).toEqual([["a"], ["b", "c"]]);
  settles[1]?.();
  expect((await Promise.all(second)) as unknown[]).toEqual(["b", "c"]);
});

test("D-8.3 a batch has to be decided 9.5 s after its first call came", async () => {
  const { deadlines, deadlineWaits, settles, clock, ask, takeTurn } = makeScene();
  void ask("a");
  clock.advance(200);
  await takeTurn();
  clock.advance(300);
  void ask("b");
  clock.advance(1_000);
  void ask("c");
  settles[0]?.();
  await takeTurn();
  await takeTurn();
  expect(deadlines).toEqual([9_500, 10_000]);
  expect(deadlineWaits.map(({ ms }) => ms)).toEqual([9_300, 8_500]);
});

test("D-8.3 a batch that hangs is answered 503 at its deadline, and the next one is decided without it", async () => {
  const { batches, deadlines, deadlineWaits, settles, clock, ask, takeTurn } = makeScene();
  const [first] = ask("a").map((answer) => answer.catch((error: AppError) => error.kind));
  await takeTurn();
  clock.advance(4_000);
  const [second] = ask("b");
  clock.advance(5_500);
  deadlineWaits[0]?.wake();
  expect((await first) as unknown).toBe("store_unavailable");
  await takeTurn();
  expect(batches).toEqual([["a"], ["b"]]);
  expect(deadlines).toEqual([9_500, 13_500]);
  settles[1]?.();
  expect((await second) as unknown).toBe("b");
  // Its late end disturbs nobody.
  settles[0]?.();
  const [third] = ask("c");
  await takeTurn();
  settles[2]?.();
  expect((await third) as unknown).toBe("c");
});

test("D-8.3 calls that waited until less than a second is left are answered 503, those behind them are decided", async () => {
  const { batches, deadlines, deadlineWaits, clock, ask, takeTurn } = makeScene();
  const first = ask("a").map((answer) => answer.catch((error: AppError) => error.kind));
  await takeTurn();
  clock.advance(500);
  const late = ask("b", "c").map((answer) => answer.catch((error: AppError) => error.kind));
  clock.advance(2_000);
  void ask("d");
  clock.advance(7_000);
  deadlineWaits[0]?.wake();
  await takeTurn();
  await takeTurn();
  const kinds = (await Promise.all([...first, ...late])) as unknown[];
  expect(kinds).toEqual(Array(3).fill("store_unavailable"));
  expect(batches).toEqual([["a"], ["d"]]);
  expect(deadlines[1]).toBe(12_000);
});

test("D-6.5 a batch that fails fails for all of its calls, and the next one is decided", async () => {
  const { batches, settles, ask, takeTurn } = makeScene();
  const first = ask("a", "b").map((answer) => answer.catch((error: Error) => error.message));
  await takeTurn();
  const [second] = ask("c");
  settles[0]?.(new Error("The disk failed"));
  expect((await Promise.all(first)) as unknown[]).toEqual(["The disk failed", "The disk failed"]);
  await takeTurn();
  expect(batches[1]).toEqual(["c"]);
  settles[1]?.();
  expect((await second) as unknown).toBe("c");
});

test("D-6.5 no batch has more than 1,000 calls", async () => {
  const { batches, settles, ask, takeTurn } = makeScene();
  const answers = ask(...Array.from({ length: 1_500 }, (_, i) => String(i)));
  await takeTurn();
  settles[0]?.();
  await answers[0];
  await takeTurn();
  settles[1]?.();
  await Promise.all(answers);
  expect(batches.map((batch) => batch.length)).toEqual([1_000, 500]);
  expect(batches.flat()).toEqual(Array.from({ length: 1_500 }, (_, i) => String(i)));
});

test("D-6.5 where it pays, a batch waits for the callers of the last one beside those that are there", async () => {
  const { batches, settles, sleepers, ask, takeTurn } = makeScene(3);
  const first = ask("a", "b", "c");
  await takeTurn();
  void ask("d");
  settles[0]?.();
  await Promise.all(first);
  void ask("e");
  await takeTurn();
  expect(sleepers.map(({ ms }) => ms)).toEqual([1]);
  expect(batches.length).toBe(1);
  void ask("f", "g");
  await takeTurn();
  expect(batches[1]).toEqual(["d", "e", "f", "g"]);
  // A wait that is over starts nothing, however much longer it would have been.
  void ask("h");
  for (let i = 0; i < 3; i++) {
    sleepers[i]?.wake();
    await takeTurn();
    await takeTurn();
  }
  expect([sleepers.length, batches.length]).toEqual([1, 2]);
});

test("D-6.5 a batch waits while callers keep coming, and not beyond its time", async () => {
  const { batches, settles, sleepers, ask, takeTurn } = makeScene(3);
  const first = ask("a", "b", "c", "d", "e");
  await takeTurn();
  settles[0]?.();
  await Promise.all(first);
  for (const [i, name] of ["f", "g", "h"].entries()) {
    await takeTurn();
    expect([sleepers.length, batches.length]).toEqual([i + 1, 1]);
    void ask(name);
    sleepers[i]?.wake();
  }
  await takeTurn();
  await takeTurn();
  expect(batches[1]).toEqual(["f", "g", "h"]);
  expect(sleepers.length).toBe(3);
});

test("D-6.5 a batch does not wait for callers that stay away", async () => {
  const { batches, settles, sleepers, ask, takeTurn } = makeScene(3);
  const first = ask("a", "b");
  await takeTurn();
  settles[0]?.();
  await Promise.all(first);
  void ask("c");
  await takeTurn();
  sleepers[0]?.wake();
  await takeTurn();
  expect(batches.length).toBe(1);
  sleepers[1]?.wake();
  await takeTurn();
  await takeTurn();
  expect(batches[1]).toEqual(["c"]);
  settles[1]?.();
  await takeTurn();
  sleepers[2]?.wake();
  await takeTurn();
  sleepers[3]?.wake();
  await takeTurn();
  void ask("d");
  await takeTurn();
  expect(batches[2]).toEqual(["d"]);
});
