// Repairs that decide row by row, and those that remove. D-7.5, D-7.6.
import { describe, expect, test } from "bun:test";
import type { CompareRepair } from "../../../../src/domain/sync/run/run.ts";
import { repsyncServer } from "../../../simulation/sim-servers.ts";
import { compareTables } from "../../../support/rows/compare-tables.ts";
import {
  BY_TIME,
  foreign,
  makeTwoEnds,
  put,
  register,
  rowsOf,
  type TestRow,
  type TwoEnds,
  type TwoEndsOptions,
} from "../two-ends.ts";

const PATHS: readonly [string, TwoEndsOptions][] = [
  ["a repsync remote", { server: repsyncServer }],
  ["a remote of another kind", foreign({ isClockZoned: false })],
];

const [EARLY, LATE] = ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"];
const NOW = "2026-03-01T12:00:00Z";
/** More than 5 minutes ahead of 12:00. */
const AHEAD = "2026-03-01T12:06:00Z";

function repair(ends: TwoEnds, way: CompareRepair | null, deletes = false, isForced = false) {
  const request = { tableName: "items", repair: way, deletes, isForced };
  return ends.time.run(compareTables(ends.deps, request));
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
      text: expect.stringContaining('set "deletes": true'),
    });
    expect(rowsOf(ends.here, ends.table)).toEqual([["a", "v", EARLY]]);
  });
});

const NEWER = { ...BY_TIME, conflict: "newer" } as const;

/** A row that is older here, one that is newer here, and one that only this end has. */
async function guardedEnds(options: TwoEndsOptions): Promise<TwoEnds> {
  const ends = await makeTwoEnds({ ...options, entry: NEWER });
  put(ends.here, ends.table, [
    ["k", "old", EARLY],
    ["m", "new", LATE],
    ["only-here", "v", EARLY],
  ]);
  put(ends.there, ends.table, [
    ["k", "new", LATE],
    ["m", "old", EARLY],
  ]);
  return ends;
}

/** A repsync of before, which does not tell the rule of its table. */
const untold: TwoEndsOptions = {
  server: (parts) => {
    const server = repsyncServer(parts);
    return {
      ...server,
      schema: async (...asked) => ({ ...(await server.schema(...asked)), conflict: null }),
    };
  },
};

describe.each([...PATHS, ["a repsync remote of before", untold] as const])(
  'tables with conflict "newer" at %s',
  (_, options) => {
    test("D-11.10.2 push keeps the row that is newer there, and says so each time", async () => {
      const ends = await guardedEnds(options);
      expect(await repair(ends, "push")).toMatchObject({
        ...{ different: 2, missingThere: 1, repaired: 2, kept: 1 },
        examples: { kept: [{ key: { k: "k" }, reason: "newer" }] },
      });
      expect(rowsOf(ends.there, ends.table)).toEqual([
        ["k", "new", LATE],
        ["m", "new", LATE],
        ["only-here", "v", EARLY],
      ]);
      expect(await repair(ends, "push")).toMatchObject({ different: 1, repaired: 0, kept: 1 });
    });

    test("D-11.10.2 pull keeps the row that is newer here", async () => {
      const ends = await guardedEnds(options);
      expect(await repair(ends, "pull")).toMatchObject({
        ...{ different: 2, repaired: 1, kept: 1 },
        examples: { kept: [{ key: { k: "m" }, reason: "newer" }] },
      });
      expect(rowsOf(ends.here, ends.table)).toEqual([
        ["k", "new", LATE],
        ["m", "new", LATE],
        ["only-here", "v", EARLY],
      ]);
    });

    test("D-11.10.2 force overwrites the row here", async () => {
      const ends = await guardedEnds(options);
      expect(await repair(ends, "pull", false, true)).toMatchObject({ repaired: 2, kept: 0 });
      expect(rowsOf(ends.here, ends.table)).toContainEqual(["m", "old", EARLY]);
    });
  },
);

test("D-11.10.2 a row that became newer at the remote after it was looked at is kept and counted", async () => {
  const ends = await guardedEnds({});
  ends.intercept = ({ kind, records = [] }, send) => {
    if (kind === "push" && records.length > 0) put(ends.there, ends.table, [["m", "newest", NOW]]);
    return send();
  };
  expect(await repair(ends, "push")).toMatchObject({ repaired: 1, kept: 2 });
  expect(rowsOf(ends.there, ends.table)).toContainEqual(["m", "newest", NOW]);
});

test("D-7.5.1 newest goes by the store's clock, whatever this machine's says", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["a", "new", LATE]]);
  put(ends.there, ends.table, [["a", "old", EARLY]]);
  const deps = { ...ends.deps, clock: ends.time.clock(-5_400_000) };
  expect(await repair({ ...ends, deps }, "newest")).toMatchObject({ repaired: 1, kept: 0 });
  expect(rowsOf(ends.there, ends.table)).toEqual([["a", "new", LATE]]);
});

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

  test.each([3_600_000, -3_600_000])(
    "D-7.6.9 rows are removed by the store's clock, also where that of the machine is %d ms ahead",
    async (aheadMs) => {
      const ends = await makeTwoEnds(DELETES);
      put(ends.here, ends.table, [["a", "v", "2026-03-01T11:59:00Z"]]);
      const deps = { ...ends.deps, clock: ends.time.clock(aheadMs) };
      expect(await repair({ ...ends, deps }, "pull", true)).toMatchObject({ repaired: 1 });
      expect(rowsOf(ends.here, ends.table)).toEqual([]);
    },
  );

  test.each([
    ["there", 'The remote deletes no rows of "items"'],
    ["here", 'Rows of "items" are not deleted here'],
  ] as const)("D-7.6.9 nothing is removed where the end %s has not opted in", async (end, text) => {
    const ends = await makeTwoEnds(DELETES);
    await register(ends, end, BY_TIME);
    put(ends.there, ends.table, [["a", "v", EARLY]]);
    await expect(repair(ends, "push", true)).rejects.toMatchObject({
      message: expect.stringContaining(text),
    });
    expect(rowsOf(ends.there, ends.table)).toEqual([["a", "v", EARLY]]);
  });

  test("D-7.6.9 nothing is removed when more would be than the limit", async () => {
    const entry = { ...BY_TIME, deletes: true, max_deletes: 1 };
    const ends = await makeTwoEnds({ entry });
    put(ends.here, ends.table, [
      ["a", "v", EARLY],
      ["b", "v", LATE],
    ]);
    await expect(repair(ends, "pull", true)).rejects.toMatchObject({
      text: '2 rows of "items" would be deleted here, at most 1 may be; none was; if that is right, allow them with --max-deletes 2 (max_deletes)',
    });
    expect(rowsOf(ends.here, ends.table).length).toBe(2);
  });
});
