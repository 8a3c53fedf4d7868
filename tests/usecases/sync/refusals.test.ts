// Records that one end refused: each is tried again once in the next run, and none replaces a later one.
import { expect, test } from "bun:test";
import { AppError } from "../../../src/domain/shared/errors.ts";
import { makeTwoEnds, manyRows, put, rowsOf, runOf } from "./two-ends.ts";

test("D-4.6 all that was refused is tried again, however much it is", async () => {
  const ends = await makeTwoEnds();
  await ends.rejected.note(
    manyRows(1_001).map(([k, v, at]) => ({
      ...({ table: "items", direction: "pull", key: { k }, record: { k, v, at } } as const),
      ...{ message: "Not now", lastAtMs: 0 },
    })),
  );
  const { run } = await runOf(ends);
  expect(run).toMatchObject({ status: "success", totalPulled: 1_001 });
  expect(ends.rejected.all()).toEqual([]);
  expect(rowsOf(ends.here, ends.table)).toEqual(manyRows(1_001));
});

test.each([
  [10_000, "partial", undefined],
  [10_001, "failed", 'This deployment refuses too many records of "items"; the last one: Not this'],
] as const)("D-4.6 with %d refused records a run is %s", async (rows, status, message) => {
  const ends = await makeTwoEnds({ maxPageRows: 20_000 });
  put(ends.there, ends.table, manyRows(rows));
  ends.here.refuse = () => "Not this";
  const { run, error } = await runOf(ends);
  expect(run.status).toBe(status);
  expect(error?.message).toBe(message);
  expect(ends.rejected.all()).toHaveLength(rows);
});

test("D-4.6 a row that was refused and is accepted now is moved once in a run", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(3));
  ends.there.refuse = (_, { k }) => (k === "k-0001" ? "Not now" : null);
  await runOf(ends, { direction: "push" });
  ends.there.refuse = () => null;
  ends.requests.length = 0;
  const { run } = await runOf(ends, { direction: "push", isFull: true });
  expect(run).toMatchObject({ status: "success", totalPushed: 3 });
  const pushes = ends.requests.filter(({ kind }) => kind === "push");
  expect(pushes.map(({ records }) => records?.map(({ k }) => k))).toEqual([
    ["k-0001"],
    ["k-0000", "k-0002"],
  ]);
});

test("D-4.6 a record that was refused does not replace its next version when a run ends right behind that", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, [["a", "old", "2026-03-01T10:00:00Z"]]);
  ends.here.refuse = (_, { v }) => (v === "old" ? "Not now" : null);
  await runOf(ends);
  // The later row keeps the new version from coming again.
  put(ends.there, ends.table, [
    ["a", "new", "2026-03-01T10:00:01Z"],
    ["b", "v", "2026-03-01T10:00:02Z"],
  ]);
  ends.here.onCommit = (rows) => {
    if (rows.some(({ v }) => v === "new")) throw new AppError("store_unavailable", "Gone");
  };
  expect((await runOf(ends)).run.status).toBe("failed");
  ends.here.onCommit = () => {};
  ends.here.refuse = () => null;
  expect((await runOf(ends)).run.status).toBe("success");
  expect(rowsOf(ends.here, ends.table)).toEqual([
    ["a", "new", "2026-03-01T10:00:01Z"],
    ["b", "v", "2026-03-01T10:00:02Z"],
  ]);
});

test("D-4.6 each record of a batch that failed as a whole has its own message, also from the 11th on", async () => {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(11));
  ends.there.refuse = (_, { k }) => `Not this ${k}`;
  const { run } = await runOf(ends, { direction: "push" });
  expect(run).toMatchObject({ status: "partial", totalPushed: 0, errorCount: 11 });
  expect(ends.rejected.all().map(({ message }) => message)).toEqual([
    "Not this k-0000",
    "Not this k-0001",
    "Not this k-0002",
    "Not this k-0003",
    "Not this k-0004",
    "Not this k-0005",
    "Not this k-0006",
    "Not this k-0007",
    "Not this k-0008",
    "Not this k-0009",
    "Not this k-0010",
  ]);
});
