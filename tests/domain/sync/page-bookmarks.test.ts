import { expect, test } from "bun:test";
import { PageBookmarks, type PageSequence } from "../../../src/domain/sync/rows/page-bookmarks.ts";

const listings: PageSequence = { tableName: "listings", sinceTime: null, version: "1" };

test("D-3.4 find() gives the nearest place at or before an offset", () => {
  const bookmarks = new PageBookmarks<string>();
  for (const offsetRows of [20, 10, 30]) {
    bookmarks.remember(listings, { offsetRows, position: `row ${offsetRows - 1}` });
  }
  expect(bookmarks.find(listings, 9)).toBeNull();
  expect(bookmarks.find(listings, 10)).toEqual({ offsetRows: 10, position: "row 9" });
  expect(bookmarks.find(listings, 29)).toEqual({ offsetRows: 20, position: "row 19" });
  expect(bookmarks.find(listings, 5000)).toEqual({ offsetRows: 30, position: "row 29" });
});

test("D-3.4 find() and totalRows() know nothing of another table, since or version", () => {
  const bookmarks = new PageBookmarks<string>();
  bookmarks.remember(listings, { offsetRows: 10, position: "a" });
  bookmarks.rememberTotal(listings, 70);
  const others: PageSequence[] = [
    { ...listings, tableName: "profiles" },
    { ...listings, sinceTime: "2024-01-01T00:00:00Z" },
  ];
  for (const other of others) {
    expect(bookmarks.find(other, 10)).toBeNull();
    expect(bookmarks.totalRows(other)).toBeNull();
  }
  expect(bookmarks.totalRows(listings)).toBe(70);
  expect(bookmarks.find({ ...listings, version: "2" }, 10)).toBeNull();
  expect(bookmarks.totalRows(listings)).toBeNull();
});

test("D-3.4 remember() of a known offset changes nothing", () => {
  const bookmarks = new PageBookmarks<string>();
  bookmarks.remember(listings, { offsetRows: 10, position: "a" });
  bookmarks.remember(listings, { offsetRows: 10, position: "a" });
  expect(bookmarks.find(listings, 11)).toEqual({ offsetRows: 10, position: "a" });
});

test("D-3.4 whoever reads in order always finds the last place, and old ones stay near", () => {
  const bookmarks = new PageBookmarks<number>();
  for (let offsetRows = 1; offsetRows <= 10_000; offsetRows++) {
    bookmarks.remember(listings, { offsetRows, position: offsetRows - 1 });
    expect(bookmarks.find(listings, offsetRows)?.offsetRows).toBe(offsetRows);
  }
  for (let offsetRows = 200; offsetRows <= 10_000; offsetRows += 100) {
    expect(bookmarks.find(listings, offsetRows)?.offsetRows).toBeGreaterThan(offsetRows - 200);
  }
});

test("D-3.4 the sequence that was not used for the longest time is forgotten first", () => {
  const bookmarks = new PageBookmarks<string>();
  const numbered = (n: number): PageSequence => ({ ...listings, tableName: `table_${n}` });
  for (let n = 0; n < 1_024; n++) bookmarks.rememberTotal(numbered(n), n);
  expect(bookmarks.totalRows(numbered(0))).toBe(0);
  bookmarks.rememberTotal(numbered(1_024), 1_024);
  expect(bookmarks.totalRows(numbered(1))).toBeNull();
  expect(bookmarks.totalRows(numbered(0))).toBe(0);
  expect(bookmarks.totalRows(numbered(1_024))).toBe(1_024);
});
