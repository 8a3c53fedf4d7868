// Deletes travel between ends that both opted in, and nothing else does. D-7.6.
import { describe, expect, test } from "bun:test";
import { foreignServer } from "../../../simulation/sim-servers.ts";
import { compareTables } from "../../../support/rows/compare-tables.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";
import {
  BY_TIME,
  makeTwoEnds,
  put,
  rowsOf,
  runOf,
  type TestRow,
  type TwoEnds,
  type TwoEndsOptions,
} from "../two-ends.ts";

const ENTRY = { ...BY_TIME, deletes: true };
const [EARLY, LATE] = ["2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"];
const ROWS: TestRow[] = [
  ["a", "1", EARLY],
  ["b", "1", EARLY],
];

/** Both ends with the same two rows, which runs have moved. */
async function alikeEnds(options: TwoEndsOptions = {}): Promise<TwoEnds> {
  const ends = await makeTwoEnds({ entry: ENTRY, ...options });
  put(ends.here, ends.table, ROWS);
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
  return ends;
}

const keysOf = (ends: TwoEnds, end: "here" | "there") =>
  rowsOf(ends[end], ends.table).map(([k]) => k);

describe("both ends opted in", () => {
  test("D-7.6.4 a row that is deleted here is deleted there by a push, and does not come back", async () => {
    const ends = await alikeEnds();
    ends.here.remove(ends.table, { k: "a" });
    const { run } = await runOf(ends, { direction: "both" });
    expect(run).toMatchObject({ status: "success", deletedThere: 1, deletedHere: 0 });
    expect([keysOf(ends, "here"), keysOf(ends, "there")]).toEqual([["b"], ["b"]]);
    const again = await runOf(ends, { direction: "both", isFull: true });
    expect(again.run).toMatchObject({ deletedThere: 0, deletedHere: 0 });
    expect([keysOf(ends, "here"), keysOf(ends, "there")]).toEqual([["b"], ["b"]]);
  });

  test("D-7.6.4 a row that is deleted there is deleted here by a pull", async () => {
    const ends = await alikeEnds();
    ends.there.remove(ends.table, { k: "b" });
    const { run } = await runOf(ends, { direction: "pull" });
    expect(run).toMatchObject({ status: "success", deletedHere: 1, deletedThere: 0 });
    expect(keysOf(ends, "here")).toEqual(["a"]);
  });

  test("D-7.6.4 a row that was written after the delete wins at both ends", async () => {
    const ends = await alikeEnds();
    ends.here.remove(ends.table, { k: "a" });
    // By the clock of these ends it is 12:00.
    put(ends.there, ends.table, [["a", "2", "2026-03-01T12:00:10Z"]]);
    for (let round = 0; round < 2; round++) await runOf(ends, { direction: "both" });
    const expected: TestRow[] = [
      ["a", "2", "2026-03-01T12:00:10Z"],
      ["b", "1", EARLY],
    ];
    expect(rowsOf(ends.here, ends.table)).toEqual(expected);
    expect(rowsOf(ends.there, ends.table)).toEqual(expected);
  });

  test("D-7.6.4 an older row that was written there meanwhile is deleted, too, and says so", async () => {
    const ends = await alikeEnds();
    ends.here.remove(ends.table, { k: "a" });
    put(ends.there, ends.table, [["a", "2", LATE]]);
    const { run } = await runOf(ends, { direction: "both" });
    expect(run).toMatchObject({ status: "success", deletedThere: 1 });
    expect([keysOf(ends, "here"), keysOf(ends, "there")]).toEqual([["b"], ["b"]]);
  });

  test.each(["push", "pull"] as const)(
    "D-7.6.4 more deletes by %s than the limit are none, say how to allow them, and the rows move",
    async (direction) => {
      const ends = await alikeEnds({ entry: { ...ENTRY, max_deletes: 1 } });
      const [source, target] = direction === "push" ? ["here", "there"] : ["there", "here"];
      const [from, to] = [source, target] as ["here" | "there", "here" | "there"];
      for (const k of ["a", "b"]) ends[from].remove(ends.table, { k });
      put(ends[from], ends.table, [["c", "1", LATE]]);
      const { run, error } = await runOf(ends, { direction });
      expect(run.status).toBe("failed");
      expect(error).toMatchObject({
        kind: "sync_failed",
        text: `2 rows of "items" would be deleted ${to}, at most 1 may be; none was; if that is right, allow them with --max-deletes 2 (max_deletes)`,
      });
      expect(keysOf(ends, to)).toEqual(["a", "b", "c"]);
      const allowed = await runOf(ends, { direction, maxDeletes: 2 });
      expect(allowed.run).toMatchObject({
        status: "success",
        [direction === "push" ? "deletedThere" : "deletedHere"]: 2,
      });
      expect(keysOf(ends, to)).toEqual(["c"]);
    },
  );

  test("D-7.6.4 tombstones of rows that are not there do not count", async () => {
    const ends = await alikeEnds({ entry: { ...ENTRY, max_deletes: 1 } });
    for (const k of ["x", "y", "z"]) {
      put(ends.here, ends.table, [[k, "1", EARLY]]);
      ends.here.remove(ends.table, { k });
    }
    ends.here.remove(ends.table, { k: "a" });
    const { run } = await runOf(ends, { direction: "push" });
    expect(run).toMatchObject({ status: "success", deletedThere: 1 });
  });

  test.each(["push", "pull"] as const)(
    "D-7.6.4 a %s from a place that is too old ends the table until a repair has set it anew",
    async (direction) => {
      const ends = await alikeEnds();
      const [source, target] = direction === "push" ? ["here", "there"] : ["there", "here"];
      const [from, to] = [source, target] as ["here" | "there", "here" | "there"];
      ends.time.advance(1000);
      ends[from].remove(ends.table, { k: "a" });
      ends.time.advance(1000);
      const now = new Date(ends.deps.clock.nowMs()).toISOString().replace(".000", "");
      await ends[from].tombstones.prune(ends.table, now);
      const { run, error } = await runOf(ends, { direction });
      expect(run.status).toBe("failed");
      expect(error?.text).toContain("compare the table and repair it by push or pull");
      expect(keysOf(ends, to)).toEqual(["a", "b"]);
      const newest = await ends.time.run(
        compareTables(ends.deps, { tableName: "items", repair: "newest" }),
      );
      expect(newest).toMatchObject({ repaired: 0, kept: 1 });
      const repaired = await ends.time.run(
        compareTables(ends.deps, { tableName: "items", repair: direction, deletes: true }),
      );
      expect(repaired).toMatchObject({ repaired: 1 });
      expect(keysOf(ends, to)).toEqual(["b"]);
      expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
    },
  );
});

describe("where deletes do not travel", () => {
  test("D-7.6.4 a remote of another kind is told nothing of deletes", async () => {
    const ends = await makeTwoEnds({
      entry: ENTRY,
      server: (parts) => {
        const random = new SeededRandom(7);
        return foreignServer(parts, { random, isTimelessLast: false, isClockZoned: false });
      },
    });
    put(ends.here, ends.table, ROWS);
    await runOf(ends, { direction: "push" });
    ends.here.remove(ends.table, { k: "a" });
    const { run } = await runOf(ends, { direction: "push" });
    expect(run).toMatchObject({ status: "success", deletedThere: 0 });
    expect(keysOf(ends, "there")).toEqual(["a", "b"]);
    expect(ends.requests.some(({ kind }) => kind === "deleted")).toBe(false);
  });
});
