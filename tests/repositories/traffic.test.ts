import { expect } from "bun:test";
import { Traffic } from "../../src/repositories/traffic.ts";
import { repositoryTests } from "./support/repository-tests.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
/** 2026-03-01T12:00:00Z. */
const NOON = Date.UTC(2026, 2, 1, 12);

repositoryTests(
  "traffic",
  (documents) => new Traffic(documents),
  (it) => {
    it("D-9.5.5 add() sums minutes, and their hours", async (traffic) => {
      expect(await traffic.read(NOON)).toEqual({ minutes: [], hours: [] });
      await traffic.add([{ atMs: NOON, rows: 5, lookups: 0 }], NOON);
      const more = { atMs: NOON + MINUTE, rows: 1, lookups: 2 };
      await traffic.add([{ atMs: NOON, rows: 2, lookups: 1 }, more], NOON + 2 * MINUTE);
      await traffic.add([{ atMs: NOON + HOUR, rows: 0, lookups: 9 }], NOON + HOUR);
      expect(await traffic.read(NOON + HOUR)).toEqual({
        minutes: [
          { atMs: NOON, rows: 7, lookups: 1 },
          { atMs: NOON + MINUTE, rows: 1, lookups: 2 },
          { atMs: NOON + HOUR, rows: 0, lookups: 9 },
        ],
        hours: [
          { atMs: NOON, rows: 8, lookups: 3 },
          { atMs: NOON + HOUR, rows: 0, lookups: 9 },
        ],
      });
    });

    it("D-9.5.5 minutes are kept for a day, hours for 31 days", async (traffic) => {
      const one = (atMs: number) => [{ atMs, rows: 1, lookups: 1 }];
      await traffic.add(one(NOON), NOON);
      expect((await traffic.read(NOON + DAY)).minutes).toHaveLength(1);
      expect((await traffic.read(NOON + DAY + 1)).minutes).toEqual([]);
      const late = NOON + 31 * DAY;
      await traffic.add(one(late), late);
      const hours = [NOON, late].map((atMs) => ({ atMs, rows: 1, lookups: 1 }));
      expect(await traffic.read(late)).toEqual({ minutes: one(late), hours });
      await traffic.add(one(late), late + MINUTE);
      // What was forgotten is not there for an earlier time either.
      expect((await traffic.read(NOON)).hours.map(({ atMs }) => atMs)).toEqual([late]);
    });

    it.everywhere("D-9.5.5 what instances add at once is summed", async (traffic, other) => {
      const adding = Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? traffic : other).add([{ atMs: NOON, rows: 3, lookups: 1 }], NOON),
      );
      await Promise.all(adding);
      expect((await other.read(NOON)).minutes).toEqual([{ atMs: NOON, rows: 60, lookups: 20 }]);
    });
  },
);
