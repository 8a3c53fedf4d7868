// The server's time between its replies.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ServerTime } from "../../../../src/adapters/mongodb/lookups/server-time.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { checkProperty } from "../../../support/seed.ts";

const SERVER_MS = Date.parse("2026-11-22T12:00:00Z");

function makeTime() {
  const clock = new FakeClock();
  return { clock, time: new ServerTime({ clock, storeClock: null }) };
}

describe("ServerTime", () => {
  test("is not known before the server told it", () => {
    expect(makeTime().time.nowMs()).toBe(null);
  });

  test("is the one that was told first, and what has passed since it was asked for", () => {
    const { clock, time } = makeTime();
    clock.advance(1_000);
    expect(time.learn(SERVER_MS, 990)).toBe(true);
    expect(time.nowMs()).toBe(SERVER_MS + 10);
    clock.advance(2_500);
    expect(time.nowMs()).toBe(SERVER_MS + 2_510);
  });

  test("is brought to what later replies leave possible, and no further", () => {
    const { clock, time } = makeTime();
    const told = (toldMs: number, tookMs: number) => {
      const askedAtMs = clock.monotonicMs();
      clock.advance(tookMs);
      return [time.learn(SERVER_MS + toldMs, askedAtMs), (time.nowMs() ?? 0) - SERVER_MS];
    };
    expect(told(10, 20)).toEqual([true, 30]);
    // At 20 and 60 ms: between 30 and 70, where the clock says 70.
    expect(told(30, 40)).toEqual([true, 70]);
    // At 60 and 62 ms: between 65 and 67, where it says 72.
    expect(told(65, 2)).toEqual([true, 67]);
    // At 62 and 72 ms: between 90 and 100, where it says 77.
    expect(told(90, 10)).toEqual([true, 90]);
  });

  test("was wrong when the server's clock was set meanwhile, by more than 100 ms", () => {
    for (const [setMs, isRight] of [
      [101, false],
      [100, true],
      [-100, true],
      [-101, false],
    ] as const) {
      const { clock, time } = makeTime();
      time.learn(SERVER_MS, 0);
      clock.advance(50);
      expect(time.learn(SERVER_MS + 50 + setMs, 50)).toBe(isRight);
      expect(time.nowMs()).toBe(SERVER_MS + 50 + setMs);
    }
  });

  test("is never further from the truth than the last question took", () => {
    const question = fc.record({
      pauseMs: fc.nat(5_000),
      thereMs: fc.nat(300),
      backMs: fc.nat(300),
    });
    checkProperty(
      fc.property(fc.array(question, { minLength: 1 }), (questions) => {
        const { clock, time } = makeTime();
        for (const { pauseMs, thereMs, backMs } of questions) {
          clock.advance(pauseMs);
          const askedAtMs = clock.monotonicMs();
          clock.advance(thereMs);
          const toldMs = SERVER_MS + clock.monotonicMs();
          clock.advance(backMs);
          time.learn(toldMs, askedAtMs);
          const errorMs = (time.nowMs() ?? 0) - (SERVER_MS + clock.monotonicMs());
          expect(errorMs).toBeGreaterThanOrEqual(-backMs);
          expect(errorMs).toBeLessThanOrEqual(thereMs);
        }
      }),
    );
  });

  test("is that of a clock which stands for the server's", () => {
    const clock = new FakeClock("2026-03-01T12:00:00Z");
    const time = new ServerTime({ clock: new FakeClock(), storeClock: clock });
    expect(time.nowMs()).toBe(Date.parse("2026-03-01T12:00:00Z"));
    clock.advance(5_000);
    expect(time.learn(clock.nowMs(), 0)).toBe(true);
    clock.set("2026-03-01T11:00:00Z");
    expect(time.learn(clock.nowMs(), 0)).toBe(true);
    expect(time.nowMs()).toBe(Date.parse("2026-03-01T11:00:00Z"));
  });
});
