import { expect, test } from "bun:test";
import {
  addedColumns,
  columnsNow,
  type KnownColumns,
  leavingOut,
  unfetchedColumns,
} from "../../../src/domain/sync/run/compare-schemas.ts";
import { makeTable } from "../../support/rows/make-table.ts";

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

test.each([
  // Then, now, added, of which nothing was fetched.
  [null, "at,k,v", [], []],
  ["at,k,v", "at,k,v", [], []],
  ["at,k", "at,k,v", ["v"], ["v"]],
  ["at,k", "at,k,-v", [], []],
  ["at,k,-v", "at,k,v", ["v"], []],
  ["at,k,-v", "at,k,-v", [], []],
  ["at,k,-v", "at,k,v,w", ["v", "w"], ["w"]],
  ["at,k,v", "at,k", [], []],
  ["at,k,v", "at,k,-v", [], []],
] as const)(
  "D-7.3.3, D-7.3.4 from %p to %p the columns %p are added, %p of them new here",
  (...[then, now, added, unfetched]) => {
    const known = then === null ? undefined : columnsOf(then);
    const today = columnsOf(now);
    expect(addedColumns(known, today)).toEqual([...added]);
    expect(unfetchedColumns(known, today)).toEqual([...unfetched]);
  },
);

test("D-7.3.3 columns are left out of a run of before", () => {
  const columns = { moved: ["at", "k", "v"], leftOut: ["w"] };
  expect(leavingOut(columns, ["v"])).toEqual({ moved: ["at", "k"], leftOut: ["w", "v"] });
  expect(leavingOut(columns, ["w", "x"])).toBe(null);
  expect(leavingOut(columns, [])).toBe(null);
});

/** Names with commas, a minus before those left out. */
function columnsOf(text: string): KnownColumns {
  const names = text.split(",");
  return {
    moved: names.filter((name) => !name.startsWith("-")),
    leftOut: names.filter((name) => name.startsWith("-")).map((name) => name.slice(1)),
  };
}
