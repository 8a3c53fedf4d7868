// What the log and an error hold of tables that have no owner.
import { expect, test } from "bun:test";
import { ownerError } from "../../../src/domain/sync/run/table-owner.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { asSyncError } from "../../../src/usecases/sync/shared/sync-deps.ts";
import {
  foreign,
  makeTwoEnds,
  put,
  register,
  rowsOf,
  runOf,
  type TwoEndsOptions,
} from "./two-ends.ts";

const TIMELESS: TableEntry = {
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "text" } },
};

async function endsWithRows(options: TwoEndsOptions = {}) {
  const ends = await makeTwoEnds({ entry: TIMELESS, ...options });
  put(ends.here, ends.table, [["a", "here", null]]);
  return ends;
}

test("D-11.9 that a table ended so is one warning in the log, once per table and start", async () => {
  const ends = await endsWithRows();
  put(ends.there, ends.table, [["a", "there", null]]);
  for (let i = 0; i < 3; i++) {
    const { run, error } = await runOf(ends, { direction: "both" });
    expect([run.status, error?.kind]).toEqual(["failed", "sync_failed"]);
  }
  const told = ends.logger.lines.filter(({ level }) => level === "warn" || level === "error");
  expect(told).toMatchObject([{ level: "warn", message: ownerError("no_owner", ["items"]).text }]);
  expect(rowsOf(ends.there, ends.table)).toEqual([["a", "there", null]]);
});

test("D-11.9 an owner that was pulled to before sends a new column without a pull", async () => {
  const ends = await endsWithRows();
  put(ends.there, ends.table, [["b", "there", null]]);
  expect((await runOf(ends, { direction: "pull" })).run.status).toBe("success");
  const columns = { ...TIMELESS.columns, note: { type: "text" } } as const;
  await register(ends, "there", { ...TIMELESS, columns, direction: "pull" });
  const table = await register(ends, "here", { ...TIMELESS, columns, direction: "push" });
  ends.here.writeOwn(table, { k: "a", v: "here", at: null, note: "new" });
  const { run } = await runOf(ends, { direction: "both" });
  expect([run.status, run.error]).toEqual(["success", undefined]);
  const rows = ends.there.sortedRows(table).map(({ k, note }) => [k, note ?? null]);
  expect(rows.sort()).toEqual([
    ["a", "new"],
    ["b", null],
  ]);
});

const FOREIGN = foreign({ isTimelessLast: true, isClockZoned: false });

test("D-11.9 a foreign server that counts no rows is seen to be empty by its first page", async () => {
  const ends = await endsWithRows(FOREIGN);
  expect((await runOf(ends, { direction: "both" })).run.status).toBe("success");
  expect(rowsOf(ends.there, ends.table)).toEqual([["a", "here", null]]);
  expect((await runOf(ends, { direction: "both" })).run.error).toBe(
    ownerError("no_owner", ["items"]).text,
  );
});

test("D-11.9 an error that names many tables keeps what to do", () => {
  const names = Array.from({ length: 40 }, (_, i) => `table_${i}`);
  const error = ownerError("no_owner", names);
  expect(error.message).toEndWith(' in "table_0", "table_1", "table_2", "table_3" and 36 more');
  const long = "t".repeat(60);
  expect(ownerError("no_owner", [long]).message).toEndWith(` in "${long}"`);
  const { text } = asSyncError(error);
  expect(text).toHaveLength(200);
  expect(text).toEndWith(
    '; run push or pull, name the owner by "direction", or let repsync keep a time (tables stamp)',
  );
});
