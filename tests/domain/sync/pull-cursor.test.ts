// The next request of a pull, page by literal page. D-4.5.
import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/domain/shared/json.ts";
import { PullCursor } from "../../../src/domain/sync/pull/pull-cursor.ts";
import type { PullPage } from "../../../src/domain/sync/rows/page.ts";
import { makeTable } from "../../support/rows/make-table.ts";

const TABLE = makeTable({
  ...{ timestamp_column: "at", upsert_key: ["k"] },
  columns: { k: { type: "text" }, at: { type: "datetime" } },
});
const TIMELESS = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });

/** Rows `a1` is key a at second 1, `a-` key a without a timestamp. */
function rows(text: string): JsonObject[] {
  return text
    .split(" ")
    .filter(Boolean)
    .map((name) => {
      const second = name.slice(1);
      return { k: name.charAt(0), at: second === "-" ? null : time(second) };
    });
}

/** Rows of second 1, one for each letter. */
const tie = (keys: string) => [...keys].map((key) => `${key}1`).join(" ");

function time(second: string): string {
  return `2026-03-01T10:00:0${second}Z`;
}

/** Answers the cursor's request and tells what was brought and what it asks next. */
function give(cursor: PullCursor, text: string, page: { total: number; more?: boolean }): string {
  const { since, offset, limit } = cursor.request();
  const records = rows(text);
  const reply: PullPage = {
    ...{ table: "items", since, count: records.length, total: page.total, offset, limit },
    ...{ hasMore: page.more ?? false, nextOffset: null, records },
  };
  const { records: brought, seenUpTo, isDone } = cursor.accept(reply);
  const keys = brought.map(({ k }) => k).join("");
  return `${keys} to ${shown(seenUpTo)}, then ${isDone ? "done" : next(cursor)}`;
}

function next(cursor: PullCursor): string {
  const { since, offset, limit } = cursor.request();
  return `${shown(since)}+${offset}/${limit}`;
}

function shown(text: string | null): string {
  return text === null ? "null" : text.replace(/^2026-03-01T10:00:0(\d)Z$/, "$1");
}

/** A cursor that has found no rows without a timestamp. */
function pullFrom(marker: string | null, pageRows = 3): PullCursor {
  const cursor = PullCursor.begin(TABLE, marker, pageRows);
  give(cursor, "a1", { total: 9 });
  give(cursor, "a1", { total: 9 });
  return cursor;
}

test("D-4.5 an empty table is done after one look", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  expect(next(cursor)).toBe("null+0/1");
  expect(give(cursor, "", { total: 0 })).toBe(" to null, then done");
});

test("D-4.5 every page is asked for from the last timestamp seen", () => {
  const cursor = pullFrom(null);
  expect(next(cursor)).toBe("1+0/3");
  expect(give(cursor, "a1 b2 c3", { total: 5, more: true })).toBe("abc to 3, then 3+0/3");
  expect(give(cursor, "c3 d4 e5", { total: 3 })).toBe("de to 5, then done");
});

test("D-4.5 it begins at the marker", () => {
  expect(next(pullFrom(time("4")))).toBe("4+0/3");
});

test("D-4.5 a row that comes again in another state is brought again", () => {
  const cursor = PullCursor.beginSince(
    makeTable({
      ...{ timestamp_column: "at", upsert_key: ["k"] },
      columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
    }),
    time("1"),
    2,
  );
  const reply = (v: string, more: boolean): PullPage => ({
    ...{ table: "items", since: cursor.request().since, count: 2, total: 3, offset: 0, limit: 2 },
    ...{ hasMore: more, nextOffset: null },
    records: [
      { k: "a", v, at: time(more ? "1" : "2") },
      { k: "b", v: "1", at: time("2") },
    ],
  });
  expect(cursor.accept(reply("1", true)).records).toHaveLength(2);
  const again = cursor.accept({
    ...reply("2", false),
    records: [{ k: "b", v: "2", at: time("2") }],
  });
  expect(again.records).toEqual([{ k: "b", v: "2", at: time("2") }]);
  expect(again.repeated).toBe(1);
});

test("D-4.5 a page of one timestamp with more behind it goes on by offset, with a row of overlap", () => {
  const cursor = pullFrom(null);
  expect(give(cursor, "a1 b1 c1", { total: 5, more: true })).toBe("abc to 1, then 1+2/3");
  expect(give(cursor, "c1 d1 e2", { total: 5 })).toBe("d to 1, then 1+0/3");
});

test("D-4.5 in short pages only different keys prove a timestamp complete: another pass, then on by time", () => {
  const cursor = pullFrom(null);
  give(cursor, "a1 b1 c1", { total: 6, more: true });
  expect(give(cursor, "c1 d1 e2", { total: 6, more: true })).toBe("d to 1, then 1+0/3");
  expect(give(cursor, "b1 d1 a1", { total: 6, more: true })).toBe(" to 1, then 1+2/3");
  // Since the end of the first pass there were four rows, and four different ones have come.
  expect(give(cursor, "d1 a1 e2", { total: 6, more: true })).toBe(" to 2, then 2+0/3");
});

test("D-4.5 long pages in the order of their keys prove it at once", () => {
  const cursor = pullFrom(null, 12);
  expect(give(cursor, tie("abcdefghijkl"), { total: 16, more: true })).toBe(
    "abcdefghijkl to 1, then 1+11/12",
  );
  expect(give(cursor, `${tie("lmno")} p2`, { total: 16 })).toBe("mno to 2, then 2+0/12");
});

test("D-4.5 a row that left the pages already read makes it step back", () => {
  const cursor = pullFrom(null, 12);
  give(cursor, tie("abcdefghijkl"), { total: 17, more: true });
  // Two rows have gone: m stands where l was, and something may stand between them.
  expect(give(cursor, `${tie("no")} a2 b2`, { total: 17 })).toBe("no to 1, then 1+5/12");
  expect(give(cursor, `${tie("hijklmno")} a2 b2`, { total: 17 })).toBe("m to 2, then 2+0/12");
});

test("D-4.5 it steps back to the first row at most, from which it begins again", () => {
  const cursor = pullFrom(null, 12);
  give(cursor, tie("abcdefghijkl"), { total: 25, more: true });
  expect(give(cursor, tie("nopqrstuvwxy"), { total: 23, more: true })).toEndWith("then 1+5/12");
  expect(give(cursor, tie("nopqrstuvwxy"), { total: 17, more: true })).toEndWith("then 1+0/12");
  expect(give(cursor, tie("mnopqrstuvwx"), { total: 13, more: true })).toEndWith("then 1+11/12");
});

test("D-4.5 a record without a key proves no order", () => {
  const cursor = pullFrom(null, 12);
  give(cursor, tie("abcdefghijkl"), { total: 16, more: true });
  const { since, offset, limit } = cursor.request();
  const records = rows(`${tie("lmno")} p2`).map((row, i) => (i === 1 ? { at: time("1") } : row));
  const page = { table: "items", since, count: 5, total: 16, offset, limit };
  const { isDone } = cursor.accept({ ...page, hasMore: true, nextOffset: null, records });
  expect([isDone, next(cursor)]).toEqual([false, "1+0/12"]);
});

test("D-4.5 pages of one row get over a timestamp by the time just behind it", () => {
  const cursor = pullFrom(null, 1);
  expect(give(cursor, "a1", { total: 2, more: true })).toBe("a to 1, then 1+1/1");
  expect(give(cursor, "b2", { total: 2 })).toBe(" to 1, then 1+0/1");
  expect(give(cursor, "a1", { total: 2, more: true })).toBe(" to 1, then 1+1/1");
  const behind = "2026-03-01T10:00:01.000001Z";
  expect(give(cursor, "b2", { total: 2 })).toBe(` to ${behind}, then ${behind}+0/1`);
  expect(give(cursor, "b2", { total: 1 })).toBe("b to 2, then done");
});

test("D-4.5 rows without a timestamp that come first are read by offset, then the others by time", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  expect(give(cursor, "a-", { total: 4 })).toBe(" to null, then null+0/3");
  expect(give(cursor, "a- b- c1", { total: 4, more: true })).toBe("ab to null, then 1+0/3");
  expect(give(cursor, "c1 d2", { total: 2 })).toBe("cd to 2, then done");
});

test("D-4.5 pages of one row never show where the rows behind those without a timestamp begin", () => {
  const cursor = PullCursor.begin(TABLE, null, 1);
  give(cursor, "a-", { total: 3 });
  expect(give(cursor, "a-", { total: 3, more: true })).toBe("a to null, then null+1/1");
  expect(give(cursor, "b1", { total: 3, more: true })).toBe(" to null, then null+0/1");
  expect(give(cursor, "a-", { total: 3, more: true })).toBe(" to null, then null+1/1");
  expect(give(cursor, "c2", { total: 3, more: true })).toBe(
    " to null, then 0001-01-01T00:00:00Z+0/1",
  );
});

test("D-4.5 rows without a timestamp that come last are found by their number", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  expect(give(cursor, "a1", { total: 4 })).toBe(" to null, then 1+0/1");
  // Three rows have a timestamp, so one has none.
  expect(give(cursor, "a1", { total: 3 })).toBe(" to null, then 1+0/3");
  expect(give(cursor, "a1 b2 c3", { total: 3 })).toBe("abc to 3, then null+2/3");
  expect(give(cursor, "c3 d-", { total: 4 })).toBe("d to 3, then done");
});

test("D-4.5, D-7.5 where rows without a timestamp come first, a look at the first row tells that there is none", () => {
  const cursor = PullCursor.begin(TABLE, time("2"), 3, true);
  expect(cursor.tableRows).toBe(null);
  expect(give(cursor, "a1", { total: 9 })).toBe(" to null, then 2+0/3");
  expect(give(cursor, "b2 c3", { total: 2 })).toBe("bc to 3, then done");
  expect(cursor.tableRows).toBe(9);
  const whole = PullCursor.begin(TABLE, null, 3, true);
  expect(give(whole, "a1", { total: 2 })).toBe(" to null, then 1+0/3");
  const some = PullCursor.begin(TABLE, null, 3, true);
  expect(give(some, "a-", { total: 4 })).toBe(" to null, then null+0/3");
});

test("D-4.5 a table without timestamps is one group", () => {
  const cursor = PullCursor.begin(TIMELESS, null, 2);
  expect(next(cursor)).toBe("null+0/2");
  expect(give(cursor, "a- b-", { total: 3, more: true })).toBe("ab to null, then null+1/2");
  expect(give(cursor, "b- c-", { total: 3 })).toBe("c to null, then done");
});

test("D-4.5 a row that was replaced during a pass costs another pass, and not all of them", () => {
  const cursor = PullCursor.begin(TIMELESS, null, 3);
  expect(give(cursor, "a- b- x-", { total: 4, more: true })).toBe("abx to null, then null+2/3");
  // c has come for x, so there are four rows as before, and five different ones have come.
  expect(give(cursor, "d- c-", { total: 4 })).toBe("dc to null, then null+0/3");
  expect(give(cursor, "a- b- d-", { total: 4, more: true })).toBe(" to null, then null+2/3");
  expect(give(cursor, "d- c-", { total: 4 })).toBe(" to null, then done");
});

test("D-4.5 a group that never stands still is given up, with what to do", () => {
  const cursor = PullCursor.begin(TIMELESS, null, 2);
  const endless = () => {
    for (let i = 0; i < 200; i++) {
      give(cursor, "a- b-", { total: 4 + i, more: true });
      give(cursor, "b- c-", { total: 5 + i });
    }
  };
  expect(endless).toThrow('The remote\'s rows of "items" kept changing while they were read');
});

test("D-4.5 a group whose second page never follows on the first is given up, too", () => {
  const cursor = PullCursor.beginSince(TABLE, time("1"), 12);
  const endless = () => {
    for (let i = 0; i < 200; i++) {
      const isFirst = cursor.request().offset === 0;
      give(cursor, tie(isFirst ? "abcdefghijkl" : "opqrstuvwxyz"), { total: 26, more: true });
    }
  };
  expect(endless).toThrow("kept changing while they were read");
});

test.each([
  ["a0", "rows older than the since"],
  ["a-", "rows older than the since"],
  ["a2 b1", "not in the order of their timestamps"],
])("D-4.5 a page with %p is refused", (text, message) => {
  const cursor = pullFrom(time("1"));
  expect(() => give(cursor, text, { total: 3 })).toThrow(message);
});

test("D-4.5 times without an order are refused among rows without one, too", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  give(cursor, "a-", { total: 3 });
  const giving = () => give(cursor, "a- b2 c1", { total: 3 });
  expect(giving).toThrow("not in the order of their timestamps");
});

test("D-4.5 the number of rows is what the remote said at first, and more when more come", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  const totals: (number | null)[] = [];
  for (const [text, total, more] of [
    ["a1", 3, false],
    ["a1", 3, false],
    ["a1 b2 c3", 5, true],
    ["c3 d4 e5", 3, false],
  ] as const) {
    const { since, offset, limit } = cursor.request();
    const records = rows(text);
    const accepted = cursor.accept({
      ...{ table: "items", since, count: records.length, total, offset, limit },
      ...{ hasMore: more, nextOffset: null, records },
    });
    totals.push(accepted.totalRows);
  }
  expect(totals).toEqual([3, 3, 3, 5]);
});

test("D-4.5 rows that have lost their timestamps meanwhile are looked for before those that come last", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  give(cursor, "a1", { total: 4 });
  give(cursor, "a1", { total: 3 });
  expect(give(cursor, "a1 b2 c3", { total: 3 })).toBe("abc to 3, then null+2/3");
  // Without a timestamp b and c come before d, where only c stands at the place asked for.
  expect(give(cursor, "c- d-", { total: 4 })).toBe("cd to 3, then null+0/3");
  expect(give(cursor, "a1 b- c-", { total: 4, more: true })).toBe("b to 3, then null+2/3");
});

test("D-4.5 rows without a timestamp that are gone from their place are looked for before it", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  give(cursor, "a1", { total: 4 });
  give(cursor, "a1", { total: 3 });
  give(cursor, "a1 b2 c3", { total: 3 });
  // Two rows were removed, so the last one has moved up.
  expect(give(cursor, "", { total: 2 })).toBe(" to 3, then null+0/3");
  expect(give(cursor, "a1 d-", { total: 2 })).toBe("d to 3, then done");
});

test("D-4.5 pages of one row look for rows without a timestamp before their place, too", () => {
  const cursor = PullCursor.begin(TABLE, null, 1);
  give(cursor, "a1", { total: 3 });
  give(cursor, "a1", { total: 2 });
  expect(give(cursor, "a1", { total: 2, more: true })).toBe("a to 1, then 1+1/1");
  expect(give(cursor, "b1", { total: 2 })).toBe("b to 1, then 1+0/1");
  give(cursor, "a1", { total: 2, more: true });
  expect(give(cursor, "b1", { total: 2 })).toBe(" to 1, then null+1/1");
  expect(give(cursor, "", { total: 1 })).toBe(" to 1, then null+0/1");
  expect(give(cursor, "c-", { total: 1 })).toBe("c to 1, then done");
});

test("D-4.5 rows without a timestamp that have got one meanwhile are left to the next pull", () => {
  const cursor = PullCursor.begin(TABLE, null, 3);
  give(cursor, "a1", { total: 4 });
  give(cursor, "a1", { total: 3 });
  give(cursor, "a1 b2 c3", { total: 3 });
  expect(give(cursor, "c3 d4", { total: 4 })).toBe(" to 3, then done");
});

test("D-4.5 a group on one page is complete, also when it has changed since its last pass", () => {
  const cursor = PullCursor.begin(TIMELESS, null, 3);
  expect(give(cursor, "a- b-", { total: 3, more: true })).toBe("ab to null, then null+1/3");
  expect(give(cursor, "", { total: 1 })).toBe(" to null, then null+0/3");
  expect(give(cursor, "b- c- d-", { total: 3 })).toBe("cd to null, then done");
});
