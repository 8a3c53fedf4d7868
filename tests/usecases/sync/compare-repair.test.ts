// Repairs that decide row by row, and those that remove. D-7.5, D-7.6.
import { describe, expect, test } from "bun:test";
import type { CompareRepair } from "../../../src/domain/sync/run/run.ts";
import { foreignServer, repsyncServer } from "../../simulation/sim-servers.ts";
import { compareTables } from "../../support/compare-tables.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import {
  BY_TIME,
  makeTwoEnds,
  put,
  rowsOf,
  type TestRow,
  type TwoEnds,
  type TwoEndsOptions,
} from "./two-ends.ts";

const PATHS: readonly [string, TwoEndsOptions][] = [
  ["a repsync remote", { server: repsyncServer }],
  [
    "a remote of another kind",
    {
      server: (parts) => {
        const random = new SeededRandom(7);
        return foreignServer(parts, { random, isTimelessLast: false, isClockZoned: false });
      },
    },
  ],
];

const [EARLY, LATE] = ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"];
/** More than 5 minutes ahead of 12:00. */
const AHEAD = "2026-03-01T12:06:00Z";

function repair(ends: TwoEnds, way: CompareRepair | null, deletes = false) {
  return ends.time.run(compareTables(ends.deps, { tableName: "items", repair: way, deletes }));
}

describe.each(PATHS)("with %s", (_, options) => {
  test("D-7.5.1 newest keeps the newer row at both ends and copies missing ones both ways", async () => {
    const ends = await makeTwoEnds(options);
    put(ends.here, ends.table, [
      ["a", "new", LATE],
      ["b", "old", EARLY],
      ["c", "ahead", AHEAD],
      ["d", "timeless", null],
      ["e", "text 1", EARLY],
      ["only-here", "v", EARLY],
    ]);
    put(ends.there, ends.table, [
      ["a", "old", EARLY],
      ["b", "new", LATE],
      ["c", "now", EARLY],
      ["d", "timed", EARLY],
      ["e", "text 2", EARLY],
      ["only-there", "v", EARLY],
    ]);
    expect(await repair(ends, "newest")).toMatchObject({
      ...{ matched: 0, different: 5, missingHere: 1, missingThere: 1, repaired: 7, kept: 0 },
      examples: { kept: [] },
    });
    const expected: TestRow[] = [
      ["d", "timed", EARLY],
      ["b", "new", LATE],
      ["c", "now", EARLY],
      ["e", "text 2", EARLY],
      ["only-here", "v", EARLY],
      ["only-there", "v", EARLY],
      ["a", "new", LATE],
    ];
    const byKey = (rows: TestRow[]) => rows.toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(byKey(rowsOf(ends.here, ends.table))).toEqual(byKey(expected));
    expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
    expect(await repair(ends, null)).toMatchObject({ matched: 7, different: 0 });
  });

  test.each(["push", "pull"] as const)(
    "D-4.10, D-7.5.1 %s makes one end like the other, whichever is newer",
    async (way) => {
      const ends = await makeTwoEnds(options);
      const [older, newer] = way === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
      put(older, ends.table, [["a", "old", EARLY]]);
      put(newer, ends.table, [["a", "new", LATE]]);
      expect(await repair(ends, way)).toMatchObject({ different: 1, repaired: 1, kept: 0 });
      expect(rowsOf(newer, ends.table)).toEqual([["a", "old", EARLY]]);
    },
  );

  test.each(["push", "pull", "newest"] as const)(
    "D-7.5.1 %s keeps a row whose end does not update what differs, and says why",
    async (way) => {
      const ends = await makeTwoEnds({ ...options, entry: { ...BY_TIME, update_columns: [] } });
      put(ends.here, ends.table, [["a", "here", LATE]]);
      put(ends.there, ends.table, [["a", "there", EARLY]]);
      expect(await repair(ends, way)).toMatchObject({
        ...{ different: 1, repaired: 0, kept: 1 },
        examples: { kept: [{ key: { k: "a" }, reason: "update_columns" }] },
      });
      expect(rowsOf(ends.here, ends.table)).toEqual([["a", "here", LATE]]);
      expect(rowsOf(ends.there, ends.table)).toEqual([["a", "there", EARLY]]);
    },
  );

  test("D-7.6.9 delete is refused where either end has not opted in", async () => {
    const ends = await makeTwoEnds(options);
    put(ends.here, ends.table, [["a", "v", EARLY]]);
    await expect(repair(ends, "pull", true)).rejects.toMatchObject({
      kind: "sync_failed",
      message: expect.stringContaining('set "deletes": true'),
    });
    expect(rowsOf(ends.here, ends.table)).toEqual([["a", "v", EARLY]]);
  });
});

test.each([["newest"], [null]] as const)(
  "D-7.6.9 delete with %p is refused: nothing says which end is to lose rows",
  async (way) => {
    const ends = await makeTwoEnds();
    await expect(repair(ends, way, true)).rejects.toMatchObject({ kind: "invalid_request" });
  },
);

describe("with deletes", () => {
  const DELETES: TwoEndsOptions = { entry: { ...BY_TIME, deletes: true } };

  test.each(["push", "pull"] as const)(
    "D-7.6.9 %s with delete removes what only the end being repaired has",
    async (way) => {
      const ends = await makeTwoEnds(DELETES);
      const [kept, repaired] = way === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
      put(kept, ends.table, [["a", "v", EARLY]]);
      put(repaired, ends.table, [
        ["a", "v", EARLY],
        ["b", "v", LATE],
      ]);
      expect(await repair(ends, way)).toMatchObject({ matched: 1, repaired: 0 });
      expect(await repair(ends, way, true)).toMatchObject({ matched: 1, repaired: 1 });
      expect(rowsOf(repaired, ends.table)).toEqual([["a", "v", EARLY]]);
    },
  );

  test("D-7.6.9 nothing is removed when more would be than the limit", async () => {
    const entry = { ...BY_TIME, deletes: true, max_deletes: 1 };
    const ends = await makeTwoEnds({ entry });
    put(ends.here, ends.table, [
      ["a", "v", EARLY],
      ["b", "v", LATE],
    ]);
    await expect(repair(ends, "pull", true)).rejects.toMatchObject({
      message:
        '2 rows of "items" would be deleted here, at most 1 may be; none was; if that is right, allow them with --max-deletes 2 (max_deletes)',
    });
    expect(rowsOf(ends.here, ends.table).length).toBe(2);
  });
});
