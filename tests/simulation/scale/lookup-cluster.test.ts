// The model by which docs/operating.md plans gives what was measured, and holds what the document says.
import { expect, test } from "bun:test";
import { simulateCluster } from "./lookup-cluster.ts";
import { MEASURED } from "./measured.ts";

const plan = { ...MEASURED, seed: 1, accounts: 10_000, seconds: 2 };

test("D-5.8 two instances with one account do three quarters of what they do with two, as was measured", () => {
  const busy = { ...plan, instances: 2, accounts: 2, perSecond: 20_000, maxBatch: 32 };
  const one = simulateCluster({ ...busy, hotShare: 1, areAccountsPinned: false });
  const two = simulateCluster({ ...busy, hotShare: 0.5, areAccountsPinned: true });
  expect(one.perSecond / two.perSecond).toBeGreaterThan(0.65);
  expect(one.perSecond / two.perSecond).toBeLessThan(0.87);
});

test("D-5.8 eight instances answer ten thousand lookups a second of ten thousand accounts", () => {
  const spread = { ...plan, instances: 8, perSecond: 10_000, hotShare: 0 };
  const { perSecond, p99Ms, conflicts } = simulateCluster({ ...spread, areAccountsPinned: false });
  expect(perSecond).toBeGreaterThan(9_500);
  expect(p99Ms).toBeLessThan(60);
  expect(conflicts).toBeLessThan(0.1);
});

test("D-5.8 an account with half of all lookups needs an instance of its own", () => {
  const hot = { ...plan, instances: 8, perSecond: 10_000, hotShare: 0.5 };
  const pinned = simulateCluster({ ...hot, areAccountsPinned: true });
  const anywhere = simulateCluster({ ...hot, areAccountsPinned: false });
  expect([pinned.perSecond > 9_500, pinned.conflicts]).toEqual([true, 0]);
  expect(anywhere.perSecond).toBeLessThan(pinned.perSecond * 0.75);
});
