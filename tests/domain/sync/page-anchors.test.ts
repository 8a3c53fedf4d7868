import { expect, test } from "bun:test";
import { PageAnchors, type PageSequence } from "../../../src/domain/sync/rows/page-anchors.ts";

const listings: PageSequence = { tableName: "listings", sinceTime: null, version: "1" };

test("D-3.4 find() gives the nearest place at or before an offset", () => {
  const anchors = new PageAnchors<string>();
  for (const offsetRows of [20, 10, 30]) {
    anchors.remember(listings, { offsetRows, position: `row ${offsetRows - 1}` });
  }
  expect(anchors.find(listings, 9)).toBeNull();
  expect(anchors.find(listings, 10)).toEqual({ offsetRows: 10, position: "row 9" });
  expect(anchors.find(listings, 29)).toEqual({ offsetRows: 20, position: "row 19" });
  expect(anchors.find(listings, 5000)).toEqual({ offsetRows: 30, position: "row 29" });
});

test("D-3.4 find() and totalRows() know nothing of another table, since or version", () => {
  const anchors = new PageAnchors<string>();
  anchors.remember(listings, { offsetRows: 10, position: "a" });
  anchors.rememberTotal(listings, 70);
  const others: PageSequence[] = [
    { ...listings, tableName: "profiles" },
    { ...listings, sinceTime: "2024-01-01T00:00:00Z" },
  ];
  for (const other of others) {
    expect(anchors.find(other, 10)).toBeNull();
    expect(anchors.totalRows(other)).toBeNull();
  }
  expect(anchors.totalRows(listings)).toBe(70);
  expect(anchors.find({ ...listings, version: "2" }, 10)).toBeNull();
  expect(anchors.totalRows(listings)).toBeNull();
});

test("D-3.4 remember() of a known offset changes nothing", () => {
  const anchors = new PageAnchors<string>();
  anchors.remember(listings, { offsetRows: 10, position: "a" });
  anchors.remember(listings, { offsetRows: 10, position: "a" });
  expect(anchors.find(listings, 11)).toEqual({ offsetRows: 10, position: "a" });
});

test("D-3.4 whoever reads in order always finds the last place, and old ones stay near", () => {
  const anchors = new PageAnchors<number>();
  for (let offsetRows = 1; offsetRows <= 10_000; offsetRows++) {
    anchors.remember(listings, { offsetRows, position: offsetRows - 1 });
    expect(anchors.find(listings, offsetRows)?.offsetRows).toBe(offsetRows);
  }
  for (let offsetRows = 200; offsetRows <= 10_000; offsetRows += 100) {
    expect(anchors.find(listings, offsetRows)?.offsetRows).toBeGreaterThan(offsetRows - 200);
  }
});

test("D-3.4 the sequence that was not used for the longest time is forgotten first", () => {
  const anchors = new PageAnchors<string>();
  const numbered = (n: number): PageSequence => ({ ...listings, tableName: `table_${n}` });
  for (let n = 0; n < 64; n++) anchors.rememberTotal(numbered(n), n);
  expect(anchors.totalRows(numbered(0))).toBe(0);
  anchors.rememberTotal(numbered(64), 64);
  expect(anchors.totalRows(numbered(1))).toBeNull();
  expect(anchors.totalRows(numbered(0))).toBe(0);
  expect(anchors.totalRows(numbered(64))).toBe(64);
});
