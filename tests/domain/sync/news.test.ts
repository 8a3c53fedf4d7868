// The news of runs as lists: put together, and told in parts. S-6, D-9.5.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { addNews, hasEnded, type News, newsSince } from "../../../src/domain/sync/run/news.ts";
import type { BatchEvent } from "../../../src/domain/sync/run/run.ts";
import { checkProperty, SEED } from "../../support/seed.ts";

function batch(number: number, table = "a"): BatchEvent {
  return {
    ...{ type: "batch", table, direction: "push", batch: number, totalBatches: 9 },
    ...{ recordsSent: 10, totalSent: number * 10, totalRecords: 90, bytesCompressed: 1 },
    ...{ bytesUncompressed: 2, upserted: 9, errorCount: 1, elapsedMs: 3, rowsPerSecond: 5 },
  };
}

const retry = (attempt: number): News => ({
  ...{ type: "retry", table: "a", direction: "push", attempt, maxAttempts: 8, waitMs: 1 },
  reason: "no reply",
});

function listOf(...news: News[]): News[] {
  const list: News[] = [];
  for (const item of news) addNews(list, item);
  return list;
}

test("D-9.5.2 what came since is told as it came, batches by what they grew", () => {
  const before = listOf(batch(1), batch(2));
  const now = listOf(batch(1), batch(2), batch(3), batch(4), batch(1, "b"));
  expect(newsSince(before, now)).toEqual([
    {
      ...batch(4),
      ...{ recordsSent: 20, bytesCompressed: 2, bytesUncompressed: 4, upserted: 18 },
      errorCount: 2,
    },
    batch(1, "b"),
  ]);
  expect(newsSince(now, now)).toEqual([]);
  expect(newsSince([], before)).toEqual(before);
});

test("D-9.5.2 a retry is told once, and the progress of a comparison when it grew", () => {
  const waiting = listOf(batch(1), retry(2));
  expect(newsSince(listOf(batch(1)), waiting)).toEqual([retry(2)]);
  expect(newsSince(waiting, waiting)).toEqual([]);
  expect(newsSince(waiting, listOf(batch(1), retry(2), retry(3)))).toEqual([retry(3)]);
  expect(newsSince(waiting, listOf(batch(1), retry(2), batch(2)))).toEqual([batch(2)]);
  const [ten, twenty]: News[] = [
    { type: "progress", rows: 10 },
    { type: "progress", rows: 20 },
  ];
  expect(listOf(ten!, twenty!)).toEqual([twenty!]);
  expect(newsSince(listOf(ten!), listOf(ten!, twenty!))).toEqual([twenty!]);
  expect(newsSince(listOf(twenty!), listOf(twenty!))).toEqual([]);
});

test("D-9.5.2 a list is whole with its last event", () => {
  expect(hasEnded([])).toBe(false);
  expect(hasEnded([batch(1)])).toBe(false);
  expect(hasEnded([batch(1), { type: "finished" }])).toBe(true);
});

test(`D-9.5.2 whenever a reader looks, it is told everything once (SEED=${SEED})`, () => {
  const steps = fc.array(
    fc.record({
      news: fc.constantFrom("batch", "other", "retry", "progress"),
      looks: fc.boolean(),
    }),
  );
  checkProperty(
    fc.property(steps, (all) => {
      const list: News[] = [];
      const told: News[] = [];
      let before: readonly News[] = [];
      let rows = 0;
      for (const [i, { news, looks }] of all.entries()) {
        rows += 7;
        if (news === "batch") addNews(list, batch(i, i % 3 === 0 ? "a" : "b"));
        else if (news === "retry") addNews(list, retry(i));
        else if (news === "progress") addNews(list, { type: "progress", rows });
        else addNews(list, { type: "error", table: String(i), error: "e" });
        if (!looks) continue;
        const now = structuredClone(list);
        told.push(...newsSince(before, now));
        before = now;
      }
      told.push(...newsSince(before, list));
      const again: News[] = [];
      for (const item of told) addNews(again, item);
      expect(again).toEqual(list);
    }),
  );
});
