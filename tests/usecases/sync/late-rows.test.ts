// Rows whose time runs have passed: they go on by marks. D-7.4.
import { expect, test } from "bun:test";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { readSyncStatus } from "../../../src/usecases/sync/shared/sync-status.ts";
import { type RowsToWrite, writeRows } from "../../../src/usecases/sync/shared/write-rows.ts";
import {
  foreign,
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  type TestRow,
  type TwoEnds,
} from "./two-ends.ts";

const OLD = "2026-03-01T08:00:00Z";

/** Writes through the service: a push to that end, an import. */
async function write(
  ends: TwoEnds,
  end: "here" | "there",
  rows: readonly TestRow[],
  options: Omit<RowsToWrite, "writes"> = {},
): Promise<void> {
  const writes = rows.map(([k, v, at], index): { index: number; row: Row } => ({
    ...{ index, row: { k, v, at } },
  }));
  const parts = { ...ends.parts[end], tables: ends[end] };
  await writeRows(parts, ends.table, { ...options, writes });
}

/** Keys that were sent to the remote. */
function sentKeys(ends: TwoEnds): unknown[] {
  return ends.requests.flatMap(({ records = [] }) => records.map(({ k }) => k));
}

test("D-7.4 rows that are imported with old times are pushed by the next run, and its marker stays", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(3));
  await runOf(ends, { direction: "push" });
  await write(ends, "here", [["late", "1", OLD]]);
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "success", changed: 1 });
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
  expect(ends.kept.marker("sync_last_push_items")).toBe("2026-03-01T10:00:02Z");
  ends.requests.length = 0;
  await runOf(ends, { direction: "push" });
  expect(sentKeys(ends)).toEqual([]);
});

test("D-7.4 rows that come late at the remote are pulled by the next run, and its marker stays", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  await runOf(ends);
  await write(ends, "there", [["late", "1", OLD]]);
  ends.requests.length = 0;
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "success", totalPulled: 4, changed: 1 });
  expect(ends.requests.filter(({ kind }) => kind === "pull").at(-1)?.since).toBe(OLD);
  expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
  expect(ends.kept.marker("sync_last_pull_items")).toBe("2026-03-01T10:00:02Z");
  expect((await runOf(ends)).run).toMatchObject({ totalPulled: 1, changed: 0 });
});

test.each([
  ["however long ago its marker passed it", "2026-03-01T09:00:00Z"],
  ["also where its marker stands at it, and it is known to have gone", "2026-03-01T11:00:00Z"],
])("D-7.4 whoever keeps a newer row sends it, %s", async (_, at) => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["k", "newer", at], ...manyRows(2)]);
  await runOf(ends, { direction: "both" });
  // Another program puts an old version back, at a time that runs meet.
  await write(ends, "there", [["k", "older", OLD]], { conflict: "overwrite" });
  const { run } = await runOf(ends, { direction: "pull" });
  expect(run).toMatchObject({ kept: 1, changed: 0 });
  await runOf(ends, { direction: "push" });
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
  expect(rowsOf(ends.there, ends.table).find(([k]) => k === "k")?.[1]).toBe("newer");
});

test("D-7.4 what a run brought is not sent back to where it came from, though it came late", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(2));
  await runOf(ends, { direction: "both" });
  await write(ends, "there", [["late", "1", OLD]]);
  await runOf(ends, { direction: "both" });
  ends.requests.length = 0;
  const { run } = await runOf(ends, { direction: "both" });
  expect(sentKeys(ends)).toEqual([]);
  expect(run.changed).toBe(0);
});

test("D-7.4 what comes late while a run is under way is for the next one", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(3));
  await runOf(ends, { direction: "both" });
  put(ends.here, ends.table, [["new", "v", "2026-03-01T10:10:00Z"]]);
  let isLate = false;
  ends.intercept = async ({ kind }, send) => {
    if (kind !== "push" || isLate) return send();
    isLate = true;
    await write(ends, "here", [["late here", "1", OLD]]);
    const reply = await send();
    await write(ends, "there", [["late there", "1", OLD]]);
    return reply;
  };
  await runOf(ends, { direction: "push" });
  expect(rowsOf(ends.there, ends.table).map(([k]) => k)).not.toContain("late here");
  await runOf(ends, { direction: "both" });
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
  expect(rowsOf(ends.here, ends.table)).toHaveLength(6);
});

test("D-7.4 a mark is kept when a transfer ends well: one that failed begins at the late rows again", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 2 });
  put(ends.here, ends.table, manyRows(5));
  await runOf(ends, { direction: "push" });
  const mark = ends.kept.of("push").lateMark;
  await write(ends, "here", [
    ["late 1", "1", OLD],
    ["late 2", "1", "2026-03-01T08:30:00Z"],
    ["late 3", "1", "2026-03-01T09:00:00Z"],
  ]);
  let pushes = 0;
  ends.intercept = ({ kind }, send) => {
    if (kind === "push" && ++pushes === 2) throw new Error("Broken");
    return send();
  };
  expect((await runOf(ends, { direction: "push" })).run.status).toBe("failed");
  expect(ends.kept.of("push").lateMark).toBe(mark);
  ends.intercept = (_, send) => send();
  await runOf(ends, { direction: "push" });
  expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
  expect(ends.kept.of("push").lateMark).not.toBe(mark);
});

test.each(["push", "pull"] as const)(
  "D-7.4 a first %s that is interrupted goes on at its marker, and late rows are not lost",
  async (direction) => {
    const ends = await makeTwoEnds({ maxPageRows: 10 });
    const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
    put(from, ends.table, manyRows(50));
    let moved = 0;
    ends.intercept = ({ kind, limit }, send) => {
      if (kind === direction && limit !== 1 && ++moved === 4) throw new Error("Broken");
      return send();
    };
    expect((await runOf(ends, { direction })).run.status).toBe("failed");
    const before = rowsOf(to, ends.table).length;
    expect(before).toBeGreaterThan(10);
    const late: TestRow = ["late", "1", "2026-03-01T10:00:05Z"];
    await write(ends, direction === "push" ? "here" : "there", [late]);
    ends.intercept = (_, send) => send();
    const { run } = await runOf(ends, { direction });
    expect(run.changed).toBe(51 - before);
    // Not the five rows before it.
    expect(run.totalPushed + run.totalPulled).toBe(46);
    expect(rowsOf(to, ends.table)).toEqual(rowsOf(from, ends.table));
  },
);

test.each(["push", "pull"] as const)(
  "D-7.4 a %s whose marker has no mark begins at the start",
  async (direction) => {
    const ends = await makeTwoEnds();
    const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
    put(from, ends.table, manyRows(5));
    await runOf(ends, { direction });
    put(from, ends.table, [["early", "1", OLD]]);
    expect((await runOf(ends, { direction })).run.changed).toBe(0);
    ends.kept.forgetMark(direction);
    expect((await runOf(ends, { direction })).run.changed).toBe(1);
    expect(rowsOf(to, ends.table)).toEqual(rowsOf(from, ends.table));
    expect(ends.kept.of(direction).lateMark).toBeString();
  },
);

test("D-7.4 a mark that the remote never gave makes the pull begin at the start", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(5));
  await runOf(ends);
  put(ends.there, ends.table, [["early", "1", OLD]]);
  ends.kept.set("pull", { lateMark: "of a store that was restored" });
  expect((await runOf(ends)).run).toMatchObject({ totalPulled: 6, changed: 1 });
  expect(ends.kept.marker("sync_last_pull_items")).toBe("2026-03-01T10:00:04Z");
});

test("D-7.4 of a foreign server nothing is known about late rows: a pull begins at its marker", async () => {
  const ends = await makeTwoEnds(foreign({ isClockZoned: false }));
  put(ends.there, ends.table, manyRows(3));
  await runOf(ends);
  await write(ends, "there", [["late", "1", OLD]]);
  expect((await runOf(ends)).run).toMatchObject({ totalPulled: 1, changed: 0 });
  expect(ends.kept.of("pull").lateMark).toBeUndefined();
});

test("D-7.4 marks and other memory of runs are not in the status, and full clears them", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(1));
  put(ends.there, ends.table, manyRows(1, "t"));
  await runOf(ends, { direction: "both" });
  const status = await readSyncStatus(ends.deps);
  expect(Object.keys(status.lastSync).toSorted()).toEqual([
    "sync_last_pull_items",
    "sync_last_push_items",
  ]);
  ends.intercept = () => {
    throw new Error("Out of reach");
  };
  await runOf(ends, { direction: "push", isFull: true });
  // What says how the rows stand here, and not where runs begin, stays.
  const left = (["push", "pull"] as const).map((direction) => Object.keys(ends.kept.of(direction)));
  const lasting = ["table", "direction", "remote", "columns", "marker"];
  expect(left.flat().filter((name) => !lasting.includes(name))).toEqual([]);
  expect([ends.kept.of("push").marker, ends.kept.of("pull").marker]).toEqual(["", ""]);
  expect((await ends.parts.here.exchanged.read("items")).blocks).toEqual([]);
});
