import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  buildPullPage,
  type PageQuery,
  readPageRequest,
} from "../../../src/domain/sync/rows/page.ts";
import { LISTINGS, makeTable } from "../../support/rows/make-table.ts";
import { checkProperty } from "../../support/seed.ts";

const listings = makeTable(LISTINGS, "listings");
const untimed = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } }, "untimed");
/** Of a page when the query names no number. */
const DEFAULT_ROWS = 1000;
const NOTHING: PageQuery = { since: null, offset: null, limit: null };

function read(query: Partial<PageQuery>, maxRows = 5000) {
  return readPageRequest(listings, { ...NOTHING, ...query }, maxRows);
}

describe("readPageRequest()", () => {
  test("S-4.1 readPageRequest() starts at 0 with 1000 rows and no filter by default", () => {
    expect(read({})).toEqual({
      since: null,
      sinceTime: null,
      offsetRows: 0,
      limitRows: DEFAULT_ROWS,
    });
  });

  test.each([
    ["0", 0],
    ["7", 7],
    ["+7", 7],
    ["-0", 0],
    ["0012", 12],
    ["9007199254740991", 9_007_199_254_740_991],
    ["99999999999999999999999", 9_007_199_254_740_991],
    ["-1", 0],
    ["-99999999999999999999999", 0],
    ["", 0],
    [" 7", 0],
    ["7 ", 0],
    ["1.5", 0],
    ["1e3", 0],
    ["0x10", 0],
    ["١٢", 0],
    ["NaN", 0],
    ["all", 0],
  ])("D-3.2, D-3.2.1 readPageRequest() takes the offset %p for %p", (offset, rows) => {
    expect(Object.is(read({ offset }).offsetRows, rows)).toBe(true);
  });

  test.each([
    ["1", 1],
    ["+20", 20],
    ["1000", 1000],
    ["1001", 1001],
    ["5000", 5000],
    ["5001", 5000],
    ["99999999999999999999999", 5000],
    ["0", DEFAULT_ROWS],
    ["-0", DEFAULT_ROWS],
    ["-5", DEFAULT_ROWS],
    ["-99999999999999999999999", DEFAULT_ROWS],
    ["", DEFAULT_ROWS],
    ["10.0", DEFAULT_ROWS],
    ["1e3", DEFAULT_ROWS],
    ["ten", DEFAULT_ROWS],
  ])("S-4.1, D-3.2.1 readPageRequest() takes the limit %p for %p", (limit, rows) => {
    expect(read({ limit }).limitRows).toBe(rows);
  });

  test("S-4.1 readPageRequest() caps the limit, the default too, at the configured maximum", () => {
    expect(read({ limit: "5000" }, 9000).limitRows).toBe(5000);
    expect(read({ limit: "9001" }, 9000).limitRows).toBe(9000);
    expect(read({ limit: "600" }, 500).limitRows).toBe(500);
    expect(read({}, 500).limitRows).toBe(500);
    expect(read({ limit: "0" }, 500).limitRows).toBe(500);
  });

  test.each([
    ["2024-02-03T04:05:06Z", "2024-02-03T04:05:06Z"],
    ["2024-02-03 05:05:06.123456+01:00", "2024-02-03T04:05:06.123456Z"],
    ["2024-02-03T05:05:06 01:00", "2024-02-03T04:05:06Z"],
    ["2024-02-03", "2024-02-03T00:00:00Z"],
    ["", null],
    ["yesterday", null],
    ["2024-02-30", null],
    ["1706933106", null],
  ])(
    "S-4.1, D-3.2.2, D-3.2.3 readPageRequest() echoes since %p and filters by %p",
    (since, time) => {
      expect(read({ since })).toMatchObject({ since, sinceTime: time });
    },
  );

  test("S-4.1 readPageRequest() filters nothing where the table has no timestamp column", () => {
    const request = readPageRequest(untimed, { ...NOTHING, since: "2024-02-03" }, 5000);
    expect(request).toMatchObject({ since: "2024-02-03", sinceTime: null });
  });

  test("S-4.1 readPageRequest() never fails and keeps to its ranges, whatever it is asked", () => {
    const number = fc.oneof(
      fc.integer().map(String),
      fc.bigInt().map(String),
      fc.double().map(String),
    );
    const text = fc.option(fc.oneof(number, fc.string({ unit: "binary" }), fc.date().map(String)));
    const query = fc.record({ since: text, offset: text, limit: text });
    checkProperty(
      fc.property(query, fc.integer({ min: 1, max: 10_000 }), (asked, maxRows) => {
        const request = readPageRequest(listings, asked, maxRows);
        expect(request.since).toBe(asked.since);
        expect(Number.isSafeInteger(request.offsetRows) && request.offsetRows >= 0).toBe(true);
        expect(request.limitRows).toBeGreaterThanOrEqual(1);
        expect(request.limitRows).toBeLessThanOrEqual(maxRows);
      }),
      1000,
    );
  });
});

describe("buildPullPage()", () => {
  const rows = [
    { shop: "a", sku: "1" },
    { shop: "a", sku: "2" },
  ];

  test.each([
    { offset: "0", limit: "5", total: 3, cut: { limit: 2, hasMore: true, nextOffset: 2 } },
    { offset: "7", limit: "5", total: 10, cut: { limit: 2, hasMore: true, nextOffset: 9 } },
    { offset: "7", limit: "5", total: 9, cut: { limit: 5, hasMore: false, nextOffset: null } },
    { offset: "0", limit: "2", total: 9, cut: { limit: 2, hasMore: true, nextOffset: 2 } },
  ])("D-7.9 buildPullPage() of two rows tells the limit that was used: %j", (asked) => {
    expect(buildPullPage(listings, read(asked), rows, asked.total)).toMatchObject({
      ...{ count: 2, total: asked.total, offset: Number(asked.offset), ...asked.cut },
    });
  });
});
