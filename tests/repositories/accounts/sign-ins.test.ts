import { expect } from "bun:test";
import type { AttemptCounter } from "../../../src/domain/reputation/accounts/attempts.ts";
import { SIGN_INS } from "../../../src/repositories/account-collections.ts";
import { SignIns } from "../../../src/repositories/accounts/sessions.ts";
import { repositoryTests } from "../support/repository-tests.ts";

const START_MS = 1_772_366_400_000;
const WINDOW_MS = 900_000;

repositoryTests(
  "sign-ins",
  (documents) => new SignIns(documents),
  (it) => {
    it("D-5.4 a counter lets through until it has reached its limit", async (signIns) => {
      const counter = counterAt(0, { limit: 3 });
      for (let n = 0; n < 3; n++) {
        expect(await signIns.retryAfterSeconds([counter])).toBeNull();
        expect(await signIns.count([counter])).toBeNull();
      }
      expect(await signIns.retryAfterSeconds([counter])).toBe(900);
      expect(await signIns.count([counter])).toBe(900);
    });

    it("D-5.4 retryAfterSeconds() counts nothing, nor does a count() that is refused", async (signIns) => {
      for (let n = 0; n < 20; n++)
        expect(await signIns.retryAfterSeconds([counterAt(0)])).toBeNull();
      await signIns.count([counterAt(0), counterAt(0, { key: ["b"] })]);
      for (let n = 0; n < 20; n++) expect(await signIns.count([counterAt(1)])).toBe(900);
      expect(await signIns.count([counterAt(WINDOW_MS)])).toBeNull();
    });

    it("D-5.4 counters of different names count apart", async (signIns) => {
      const names = ["account:ana", "account:Ana", "address:::1", "", "é😀$.\0'\""];
      for (const name of names)
        expect(await signIns.count([counterAt(0, { key: [name] })])).toBeNull();
      for (const name of names) {
        expect(await signIns.retryAfterSeconds([counterAt(0, { key: [name] })])).toBe(900);
      }
    });

    it("D-5.4 of several counters the one with the longest wait decides, and none is counted", async (signIns) => {
      const both = (atMs: number) => [
        counterAt(atMs, { key: ["account:ana"], limit: 1 }),
        counterAt(atMs, { key: ["address:1"], limit: 2 }),
      ];
      const address = (atMs: number) => counterAt(atMs, { key: ["address:1"], limit: 2 });
      expect(await signIns.count(both(0))).toBeNull();
      expect(await signIns.count(both(100_000))).toBe(800);
      expect(await signIns.retryAfterSeconds([address(100_000)])).toBeNull();
      expect(await signIns.count([address(200_000)])).toBeNull();
      expect(await signIns.retryAfterSeconds([address(200_000)])).toBe(700);
      expect(await signIns.count([counterAt(500_000, { key: ["other"] })])).toBeNull();
      const three = [...both(600_000), counterAt(600_000, { key: ["other"] })];
      expect(await signIns.retryAfterSeconds(three)).toBe(800);
      expect(await signIns.count(three)).toBe(800);
    });

    it("D-5.4 no counters let through", async (signIns) => {
      expect(await signIns.retryAfterSeconds([])).toBeNull();
      expect(await signIns.count([])).toBeNull();
    });

    it("D-5.4 the count slides: an event counts for 15 minutes, to the millisecond", async (signIns) => {
      const at = (ms: number) => [counterAt(ms, { limit: 2 })];
      await signIns.count(at(0));
      await signIns.count(at(10_500));
      expect(await signIns.retryAfterSeconds(at(10_500))).toBe(890);
      expect(await signIns.retryAfterSeconds(at(WINDOW_MS - 1))).toBe(1);
      expect(await signIns.retryAfterSeconds(at(WINDOW_MS))).toBeNull();
      expect(await signIns.count(at(WINDOW_MS))).toBeNull();
      expect(await signIns.count(at(WINDOW_MS))).toBe(11);
      expect(await signIns.count(at(WINDOW_MS + 10_499))).toBe(1);
      expect(await signIns.count(at(WINDOW_MS + 10_500))).toBeNull();
    });

    it("D-5.4 a limit below what was counted waits until the count is below it", async (signIns) => {
      for (let n = 0; n < 5; n++) await signIns.count([counterAt(n * 1000, { limit: 5 })]);
      const wait = (limit: number) => signIns.retryAfterSeconds([counterAt(4000, { limit })]);
      expect(await wait(6)).toBeNull();
      expect(await wait(5)).toBe(896);
      expect(await wait(3)).toBe(898);
      expect(await wait(1)).toBe(900);
    });

    it("D-5.4 events of a clock that runs ahead a little count, those of one that was wrong do not", async (signIns) => {
      await signIns.count([counterAt(5000)]);
      expect(await signIns.count([counterAt(0)])).toBe(905);
      await signIns.count([counterAt(WINDOW_MS, { key: ["b"] })]);
      expect(await signIns.count([counterAt(0, { key: ["b"] })])).toBeNull();
    });

    it.everywhere(
      "D-5.4 of many count()s at once on two instances, no more than the limit are let through",
      async (signIns, other) => {
        const counters = [
          counterAt(0, { key: ["account:ana"], limit: 10 }),
          counterAt(0, { key: ["address:1"], limit: 30 }),
        ];
        const outcomes = await Promise.all(
          Array.from({ length: 40 }, (_, n) => (n % 2 ? signIns : other).count(counters)),
        );
        expect(outcomes.filter((seconds) => seconds === null).length).toBe(10);
        expect(outcomes.filter((seconds) => seconds === 900).length).toBe(30);
        const address = (limit: number) =>
          other.retryAfterSeconds([counterAt(0, { key: ["address:1"], limit })]);
        expect([await address(10), await address(11)]).toEqual([900, null]);
      },
    );

    it("D-5.4 counters whose events count no more are dropped in passing", async (signIns, _, {
      documents,
    }) => {
      const keys = async () => {
        const [found] = await documents.read({ name: "test" }, (at) =>
          at.read({ from: SIGN_INS, keysOf: {} }),
        );
        return found;
      };
      await Promise.all([
        signIns.count([counterAt(0, { key: ["a"] })]),
        signIns.count([counterAt(0, { key: ["b"] })]),
      ]);
      // Until then a caller whose clock is behind would count them.
      await signIns.count([counterAt(2 * WINDOW_MS - 1, { key: ["c"] })]);
      expect(await keys()).toEqual([["a"], ["b"], ["c"]]);
      await signIns.count([counterAt(2 * WINDOW_MS + 1, { key: ["d"] })]);
      expect(await keys()).toEqual([["c"], ["d"]]);
    });
  },
);

/** A counter that one event fills, unless the changes say otherwise. */
function counterAt(atMs: number, changes: Partial<AttemptCounter> = {}): AttemptCounter {
  return { key: ["a"], limit: 1, windowMs: WINDOW_MS, nowMs: START_MS + atMs, ...changes };
}
