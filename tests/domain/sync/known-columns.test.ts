import { expect, test } from "bun:test";
import {
  addedColumns,
  columnsNow,
  leavingOut,
  readColumns,
  unfetchedColumns,
  unsentColumns,
  writeColumns,
} from "../../../src/domain/sync/run/known-columns.ts";
import { makeTable } from "../../support/make-table.ts";

const TABLE = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    v: { type: "text" },
    at: { type: "datetime" },
    secret: { type: "text", serialize: false },
  },
});

test("D-7.3.3, D-7.3.4 the columns of a run are those that runs move, without those that the remote lacks", () => {
  expect(columnsNow(TABLE, [])).toEqual({ moved: ["at", "k", "v"], leftOut: [] });
  expect(columnsNow(TABLE, ["v"])).toEqual({ moved: ["at", "k"], leftOut: ["v"] });
});

test("D-7.3.3, D-7.3.4 columns are kept as a text, and read from it", () => {
  const columns = { moved: ["at", "k"], leftOut: ["v", "w"] };
  expect(writeColumns(columns)).toBe("at,k,-v,-w");
  expect(readColumns("at,k,-v,-w")).toEqual(columns);
  expect(readColumns("k")).toEqual({ moved: ["k"], leftOut: [] });
  expect(readColumns(undefined)).toBe(null);
  expect(readColumns("")).toBe(null);
});

test.each([
  // Then, now, added, of which nothing was fetched, of which nothing was sent.
  [null, "at,k,v", [], [], []],
  ["at,k,v", "at,k,v", [], [], []],
  ["at,k", "at,k,v", ["v"], ["v"], []],
  ["at,k", "at,k,-v", [], [], []],
  ["at,k,-v", "at,k,v", ["v"], [], ["v"]],
  ["at,k,-v", "at,k,-v", [], [], []],
  ["at,k,-v", "at,k,v,w", ["v", "w"], ["w"], ["v"]],
  ["at,k,v", "at,k", [], [], []],
  ["at,k,v", "at,k,-v", [], [], []],
] as const)(
  "D-7.3.3, D-7.3.4 from %p to %p the columns %p are added, %p of them new here, %p new there",
  (...[then, now, added, unfetched, unsent]) => {
    const known = readColumns(then ?? undefined);
    const today = readColumns(now)!;
    expect(addedColumns(known, today)).toEqual([...added]);
    expect(unfetchedColumns(known, today)).toEqual([...unfetched]);
    expect(unsentColumns(known, today)).toEqual([...unsent]);
  },
);

test("D-7.3.3 columns are left out of a run of before", () => {
  const columns = { moved: ["at", "k", "v"], leftOut: ["w"] };
  expect(leavingOut(columns, ["v"])).toEqual({ moved: ["at", "k"], leftOut: ["w", "v"] });
  expect(leavingOut(columns, ["w", "x"])).toBe(null);
  expect(leavingOut(columns, [])).toBe(null);
});
