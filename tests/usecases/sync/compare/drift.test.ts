// The numbers of rows at both ends, told when a run has moved its tables.
import { expect, test } from "bun:test";
import { readTableStates } from "../../../../src/usecases/operations/table-histories.ts";
import { readRemoteStatus } from "../../../../src/usecases/sync/shared/sync-status.ts";
import { compareTables } from "../../../support/rows/compare-tables.ts";
import { makeTwoEnds, manyRows, put, runOf, statusError, type TwoEnds } from "../two-ends.ts";

const SAID = "Both ends have another number of rows";

const countsOf = ({ run }: Awaited<ReturnType<typeof runOf>>) => {
  const { countHere, countThere } = run.tables["items"] ?? {};
  return [countHere, countThere];
};

const warnings = ({ logger }: TwoEnds) =>
  logger.lines
    .filter(({ message }) => message === SAID)
    .map(({ fields }) => [fields?.["count_here"], fields?.["count_there"]]);

test("D-7.5 both counts are in the result, and a difference is a warning when it is new", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  expect(countsOf(await runOf(ends))).toEqual([3, 3]);
  expect(warnings(ends)).toEqual([]);
  put(ends.here, ends.table, manyRows(2, "own"));
  const drifted = await runOf(ends);
  expect([drifted.run.status, ...countsOf(drifted)]).toEqual(["success", 5, 3]);
  expect(await ends.runs.find("run-2")).toMatchObject({ tables: { items: { countHere: 5 } } });
  expect(warnings(ends)).toEqual([[5, 3]]);
  expect(ends.logger.lines.find(({ message }) => message === SAID)).toEqual({
    ...{ level: "warn", message: SAID },
    fields: {
      ...{ run_id: "run-2", table: "items", count_here: 5, count_there: 3 },
      advice: "repsync compare items",
    },
  });
  // The same difference, at other counts.
  put(ends.there, ends.table, [["new", "v", "2026-03-01T11:00:00Z"]]);
  expect(countsOf(await runOf(ends))).toEqual([6, 4]);
  await runOf(ends, { isFull: true });
  expect(warnings(ends)).toEqual([[5, 3]]);
  put(ends.here, ends.table, manyRows(1, "more"));
  await runOf(ends);
  expect(warnings(ends)).toEqual([
    [5, 3],
    [7, 4],
  ]);
  await runOf(ends, { direction: "push" });
  await runOf(ends);
  expect(warnings(ends)).toEqual([
    [5, 3],
    [7, 4],
  ]);
  put(ends.here, ends.table, manyRows(1, "last"));
  await runOf(ends);
  expect(warnings(ends)).toEqual([
    [5, 3],
    [7, 4],
    [8, 7],
  ]);
});

test("D-7.5 what cannot be counted is null, warns of nothing, and ends no run", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  // A pull is told how many there are; a push is not.
  ends.there.uncountable.add("items");
  expect(countsOf(await runOf(ends))).toEqual([3, 3]);
  expect(countsOf(await runOf(ends, { direction: "push" }))).toEqual([3, null]);
  ends.there.uncountable.clear();
  ends.here.uncountable.add("items");
  const uncounted = await runOf(ends);
  expect([uncounted.run.status, ...countsOf(uncounted)]).toEqual(["success", null, 3]);
  expect(ends.logger.lines.filter(({ level }) => level === "error")).toMatchObject([
    { message: "Table cannot be counted", fields: { table: "items" } },
  ]);
  ends.here.uncountable.clear();
  let asked = 0;
  ends.intercept = ({ kind }, send) => {
    if (kind === "status" && ++asked === 2) throw statusError(503);
    return send();
  };
  put(ends.here, ends.table, manyRows(1, "own"));
  const unanswered = await runOf(ends);
  expect([unanswered.run.status, ...countsOf(unanswered)]).toEqual(["success", 4, null]);
  expect(asked).toBe(2);
  expect(warnings(ends)).toEqual([]);
});

test("D-7.5 a table that failed is counted too, but not where the remote is out of reach", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(3));
  ends.intercept = ({ kind }, send) => {
    if (kind === "push") throw statusError(400);
    return send();
  };
  const failed = await runOf(ends, { direction: "push" });
  expect([failed.run.status, ...countsOf(failed)]).toEqual(["failed", 3, 0]);
  const statuses = () => ends.requests.filter(({ kind }) => kind === "status").length;
  const before = statuses();
  ends.intercept = () => {
    throw statusError(401);
  };
  const unreachable = await runOf(ends);
  expect([unreachable.run.status, ...countsOf(unreachable)]).toEqual(["failed", null, null]);
  expect(statuses() - before).toBe(1);
});

test("D-7.5, D-4.11 a dry run counts no ends", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  expect(countsOf(await runOf(ends, { isDryRun: true }))).toEqual([null, null]);
  expect(warnings(ends)).toEqual([]);
});

test("D-14.9.3 a repaired table is up to date where its rows cannot be counted, whatever the last run had left", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(2, "own"));
  await runOf(ends, { direction: "pull" });
  const request = { tableName: "items", repair: "push" } as const;
  expect(await ends.time.run(compareTables(ends.deps, request))).toMatchObject({ repaired: 2 });
  await ends.time.run(ends.time.sleep(1_000));
  ends.there.uncountable.add("items");
  const remote = await readRemoteStatus(ends.deps);
  expect(await readTableStates(ends.deps, { items: 2 }, remote)).toMatchObject([
    { rowsHere: 2, rowsThere: null, drift: 2, behindSeconds: 0 },
  ]);
});
