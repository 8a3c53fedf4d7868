// Who wins of two versions of a row, at either end, in any direction. D-7.1, D-7.2.
import { describe, expect, test } from "bun:test";
import { countBlock } from "../../../src/domain/sync/run/exchanged-rows.ts";
import type { RunRequest } from "../../../src/domain/sync/run/run.ts";
import { repsyncServer } from "../../simulation/sim-servers.ts";
import {
  BY_TIME,
  foreign,
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  type TwoEnds,
  type TwoEndsOptions,
} from "./two-ends.ts";

const OLD = "2026-03-01T10:00:00Z";
const NEW = "2026-03-01T10:30:00Z";

const SERVERS: Readonly<Record<string, NonNullable<TwoEndsOptions["server"]>>> = {
  "another repsync": repsyncServer,
  "a foreign server": foreign().server,
};

/** The table with the day as timestamp. */
const BY_DAY = { ...BY_TIME, columns: { ...BY_TIME.columns, at: { type: "date" } } } as const;

/** Keys that were sent. */
function sentKeys(ends: TwoEnds): unknown[] {
  return ends.requests.flatMap(({ records = [] }) => records.map(({ k }) => k));
}

describe.each(Object.entries(SERVERS))("against %s", (name, server) => {
  const requests: Partial<RunRequest>[] = [
    { direction: "push" },
    { direction: "push", isFull: true },
    { direction: "both" },
    { direction: "both", isFull: true },
  ];

  test.each(requests)("D-7.1 no push replaces a newer row: %p", async (request) => {
    const ends = await makeTwoEnds({ server });
    put(ends.here, ends.table, [
      ["a", "stale", OLD],
      ["b", "fresh", NEW],
      ["c", "only here", OLD],
    ]);
    put(ends.there, ends.table, [
      ["a", "edited", NEW],
      ["b", "stale", OLD],
    ]);
    const { run } = await runOf(ends, request);
    expect(rowsOf(ends.there, ends.table)).toEqual([
      ["a", "edited", NEW],
      ["b", "fresh", NEW],
      ["c", "only here", OLD],
    ]);
    const isBoth = request.direction === "both";
    expect(run).toMatchObject({ status: "success", kept: 1, changed: isBoth ? 3 : 2 });
    if (isBoth) expect(rowsOf(ends.here, ends.table)).toEqual(rowsOf(ends.there, ends.table));
    // Of another repsync's rows the kept one counts as pushed, as before; a foreign server is not sent it.
    expect(run.totalPushed).toBe(name === "another repsync" ? 3 : 2);
  });

  test.each([false, true])("D-7.1 no pull replaces a newer row, full: %p", async (isFull) => {
    const ends = await makeTwoEnds({ server });
    put(ends.here, ends.table, [
      ["a", "edited", NEW],
      ["b", "stale", OLD],
    ]);
    put(ends.there, ends.table, [
      ["a", "stale", OLD],
      ["b", "fresh", NEW],
    ]);
    const { run } = await runOf(ends, { direction: "pull", isFull });
    expect(run).toMatchObject({ status: "success", totalPulled: 2, kept: 1, changed: 1 });
    expect(rowsOf(ends.here, ends.table)).toEqual([
      ["a", "edited", NEW],
      ["b", "fresh", NEW],
    ]);
  });

  test("D-7.1 a push after a pull sends nothing that was not touched here, at an equal time either", async () => {
    const ends = await makeTwoEnds({ server, entry: BY_DAY });
    put(ends.there, ends.table, [
      ["a", "1", "2026-03-01"],
      ["b", "1", "2026-03-01"],
    ]);
    await runOf(ends, { direction: "pull" });
    put(ends.there, ends.table, [["a", "edited there", "2026-03-01"]]);
    put(ends.here, ends.table, [["b", "edited here", "2026-03-01"]]);
    ends.requests.length = 0;
    const { run } = await runOf(ends, { direction: "push" });
    expect(sentKeys(ends)).toEqual(["b"]);
    expect(run).toMatchObject({ totalPushed: 1, changed: 1, kept: 0 });
    expect(rowsOf(ends.there, ends.table)).toEqual([
      ["a", "edited there", "2026-03-01"],
      ["b", "edited here", "2026-03-01"],
    ]);
  });

  test("D-7.1, D-7.11 what went is not sent again while it is as it was, and the edit of the other end stands", async () => {
    const ends = await makeTwoEnds({ server, entry: BY_DAY });
    put(ends.here, ends.table, [
      ["a", "1", "2026-03-01"],
      ["n", "1", null],
    ]);
    await runOf(ends, { direction: "push" });
    put(ends.there, ends.table, [["a", "edited there", "2026-03-01"]]);
    expect((await runOf(ends, { direction: "push" })).run.totalPushed).toBe(0);
    await runOf(ends, { direction: "both" });
    expect(rowsOf(ends.here, ends.table)).toEqual([
      ["a", "edited there", "2026-03-01"],
      ["n", "1", null],
    ]);
    expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
    const idle = (await runOf(ends, { direction: "both" })).run;
    expect(idle).toMatchObject({ totalPushed: 0, changed: 0, kept: 0 });
  });

  test("D-7.1 at equal times the sender's row is written", async () => {
    const ends = await makeTwoEnds({ server });
    put(ends.here, ends.table, [["a", "here", OLD]]);
    put(ends.there, ends.table, [["a", "there", OLD]]);
    expect((await runOf(ends, { direction: "push" })).run).toMatchObject({ changed: 1, kept: 0 });
    expect(rowsOf(ends.there, ends.table)).toEqual([["a", "here", OLD]]);
    put(ends.there, ends.table, [["a", "again", OLD]]);
    await runOf(ends, { direction: "pull" });
    expect(rowsOf(ends.here, ends.table)).toEqual([["a", "again", OLD]]);
  });

  test("D-7.1 a row without a time ranks below all, one that is more than 5 minutes ahead below what is not", async () => {
    const ends = await makeTwoEnds({ server });
    put(ends.here, ends.table, [
      ["a", "here", null],
      ["b", "here", "2026-03-01T12:05:00.001Z"],
      ["c", "here", "2026-03-01T12:05:00Z"],
      ["d", "here", "2026-03-01T13:00:00Z"],
      ["e", "here", "2026-03-01T13:00:00Z"],
    ]);
    put(ends.there, ends.table, [
      ["a", "there", OLD],
      ["b", "there", OLD],
      ["c", "there", OLD],
      ["d", "there", "2026-03-01T14:00:00Z"],
      ["e", "there", null],
    ]);
    const { run } = await runOf(ends, { direction: "push" });
    expect(run).toMatchObject({ kept: 3, changed: 2 });
    expect(rowsOf(ends.there, ends.table).map(([k, v]) => `${k} ${v}`)).toEqual([
      ...["a there", "b there", "c here", "d there", "e here"],
    ]);
  });

  test.each(["push", "pull"] as const)("D-7.1 force overwrites in a %s", async (direction) => {
    const ends = await makeTwoEnds({ server });
    const [from, to] = direction === "push" ? [ends.here, ends.there] : [ends.there, ends.here];
    put(from, ends.table, [["a", "stale", OLD]]);
    put(to, ends.table, [["a", "edited", NEW]]);
    const { run } = await runOf(ends, { direction, isForced: true });
    expect(run).toMatchObject({ status: "success", kept: 0, changed: 1 });
    expect(rowsOf(to, ends.table)).toEqual([["a", "stale", OLD]]);
  });

  test("D-7.1 a forced push sends what it meets, however often it went", async () => {
    const ends = await makeTwoEnds({ server });
    put(ends.here, ends.table, [["a", "mine", OLD]]);
    await runOf(ends, { direction: "push" });
    put(ends.there, ends.table, [["a", "edited", NEW]]);
    await runOf(ends, { direction: "push", isForced: true });
    expect(rowsOf(ends.there, ends.table)).toEqual([["a", "mine", OLD]]);
  });

  test("D-7.1 a table that does not update its timestamp counts as one without: the sender's row is written", async () => {
    const entry = { ...BY_TIME, update_columns: ["v"] };
    const ends = await makeTwoEnds({ server, entry });
    put(ends.here, ends.table, [["a", "stale", OLD]]);
    put(ends.there, ends.table, [["a", "edited", NEW]]);
    const { run } = await runOf(ends, { direction: "push" });
    expect(run).toMatchObject({ kept: 0, changed: 1 });
    expect(rowsOf(ends.there, ends.table)).toEqual([["a", "stale", NEW]]);
  });

  test("D-7.1 a table without a timestamp is sent whole each time, and what is there already changes nothing", async () => {
    const entry = { upsert_key: ["k"], columns: { k: { type: "text" }, v: { type: "text" } } };
    const ends = await makeTwoEnds({ server, entry: entry as typeof BY_TIME });
    put(ends.here, ends.table, [
      ["a", "1", null],
      ["b", "1", null],
    ]);
    const first = await runOf(ends, { direction: "push" });
    expect(first.run).toMatchObject({ totalPushed: 2, changed: 2 });
    put(ends.there, ends.table, [["a", "2", null]]);
    const second = await runOf(ends, { direction: "push" });
    expect(second.run).toMatchObject({ totalPushed: 2, changed: 1 });
    expect(rowsOf(ends.there, ends.table)).toEqual(rowsOf(ends.here, ends.table));
    expect((await runOf(ends, { direction: "push" })).run).toMatchObject({ changed: 0 });
  });

  test("D-4.11, D-7.1 a dry run of a push counts what the run then sends", async () => {
    const ends = await makeTwoEnds({ server });
    put(ends.there, ends.table, [["a", "1", OLD]]);
    await runOf(ends, { direction: "both" });
    put(ends.here, ends.table, [
      ["b", "1", NEW],
      ["n", "1", null],
    ]);
    const markers = ends.kept.memory();
    const { run } = await runOf(ends, { direction: "push", isDryRun: true });
    expect(run).toMatchObject({ totalPushed: 2, changed: 0 });
    expect(ends.kept.memory()).toEqual(markers);
    expect(rowsOf(ends.there, ends.table)).toEqual([["a", "1", OLD]]);
    expect((await runOf(ends, { direction: "push" })).run).toMatchObject({ totalPushed: 2 });
  });
});

test("D-7.1 what pulls add to the exchanged rows stays about as small as the table", async () => {
  const ends = await makeTwoEnds({ maxPageRows: 10_000 });
  const rows = manyRows(2_000);
  for (let version = 0; version < 30; version++) {
    put(
      ends.there,
      ends.table,
      rows.map(([k], i) => [k, String(version), rowTime(version, i)]),
    );
    await runOf(ends, { direction: "pull" });
  }
  const { blocks } = await ends.parts.here.exchanged.read("items");
  const versions = blocks.reduce((sum, block) => sum + countBlock(block), 0);
  expect(versions).toBeGreaterThanOrEqual(2_000);
  expect(versions).toBeLessThan(20_000);
  expect((await runOf(ends, { direction: "push" })).run.totalPushed).toBe(0);
}, 60_000);

function rowTime(version: number, row: number): string {
  const atMs = Date.parse("2026-02-01T00:00:00Z") + version * 3_600_000 + row * 1000;
  return new Date(atMs).toISOString().replace(".000Z", "Z");
}

test("D-7.2 a foreign server is read from the earliest row that will be sent, and not at all when none will be", async () => {
  const ends = await makeTwoEnds({ server: SERVERS["a foreign server"]! });
  put(ends.here, ends.table, [["a", "1", NEW]]);
  put(ends.there, ends.table, [
    ["a", "0", OLD],
    ["z", "0", OLD],
  ]);
  const pulls = () => ends.requests.filter(({ kind }) => kind === "pull");
  await runOf(ends, { direction: "push" });
  expect(pulls().map(({ since }) => since)).toEqual([null, "2026-03-01T10:30:00"]);
  ends.requests.length = 0;
  await runOf(ends, { direction: "push" });
  // One row, for its columns.
  expect(pulls().map(({ limit }) => limit)).toEqual([1]);
});

test("D-7.1 a row of a foreign server that is too far ahead is taken once it is not", async () => {
  const aheadMs = 30 * 60_000;
  const ends = await makeTwoEnds({
    server: (parts) => {
      const clock = { ...parts.clock, nowMs: () => parts.clock.nowMs() + aheadMs };
      return SERVERS["a foreign server"]!({ ...parts, clock });
    },
  });
  put(ends.here, ends.table, [["a", "here", NEW]]);
  put(ends.there, ends.table, [
    ["a", "there", "2026-03-01T12:20:00Z"],
    ["z", "there", "2026-03-01T12:25:00Z"],
  ]);
  await runOf(ends);
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["a", "here", NEW],
    ["z", "there", "2026-03-01T12:25:00Z"],
  ]);
  ends.time.advance(aheadMs);
  await runOf(ends);
  expect(rowsOf(ends.here, ends.table)[0]).toEqual(["a", "there", "2026-03-01T12:20:00Z"]);
});

test("D-7.1 a row that is too far ahead for a foreign server is sent once it is not", async () => {
  const behindMs = 30 * 60_000;
  const ends = await makeTwoEnds({
    server: (parts) => {
      const clock = { ...parts.clock, nowMs: () => parts.clock.nowMs() - behindMs };
      return SERVERS["a foreign server"]!({ ...parts, clock });
    },
  });
  put(ends.there, ends.table, [["a", "there", NEW]]);
  put(ends.here, ends.table, [
    ["a", "here", "2026-03-01T11:50:00Z"],
    ["z", "here", "2026-03-01T11:55:00Z"],
  ]);
  await runOf(ends, { direction: "push" });
  expect(rowsOf(ends.there, ends.table)[0]).toEqual(["a", "there", NEW]);
  ends.time.advance(behindMs);
  await runOf(ends, { direction: "push" });
  expect(rowsOf(ends.there, ends.table)[0]).toEqual(["a", "here", "2026-03-01T11:50:00Z"]);
});

test("D-7.2 a push to another repsync reads nothing, and says that newer rows are to stay", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["a", "1", NEW]]);
  await runOf(ends, { direction: "push" });
  expect(ends.requests.map(({ kind }) => kind)).toEqual(["status", "schema", "push", "status"]);
});

test("D-7.2 a remote that guards and does not tell what it kept ends the run with what to do", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, [["a", "1", NEW]]);
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as object;
    return kind === "push" ? { ...reply, kept: undefined } : reply;
  };
  const { run, error } = await runOf(ends, { direction: "push" });
  expect(run.status).toBe("failed");
  expect(error?.text).toBe(
    "The remote lists the extension conflict-newer and does not tell kept and changed rows; check the remote's log, version and registry",
  );
});
