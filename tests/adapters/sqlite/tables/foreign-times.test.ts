import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDateTime } from "../../../../src/domain/shared/time.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { checkAsyncProperty } from "../../../support/seed.ts";
import { SqliteFile } from "../support.ts";

const ENTRY: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "integer" }, at: { type: "datetime" } },
};
const TIMES = makeTable(ENTRY);
const DAYS = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, at: { type: "date" } } });

/** Texts that another tool wrote, and the times that they are in UTC; null for none. */
const TEXTS: readonly (readonly [text: string, time: string | null])[] = [
  ["2024-02-30", null],
  ["2024-02-30T10:00:00", null],
  ["2023-02-29 10:00:00Z", null],
  ["2024-02-29 10:00:00Z", "2024-02-29T10:00:00Z"],
  ["2024-13-01T00:00:00", null],
  ["2024-00-01T00:00:00", null],
  ["2024-01-00T00:00:00", null],
  ["2024-04-31T00:00:00.500", null],
  ["0000-01-01T00:00:00", null],
  ["2024-01-01T24:00:00", null],
  ["2024-01-01T23:60:00", null],
  ["2024-01-01T23:59:60", null],
  ["2024-01-01T10:00:00.", null],
  ["2024-01-01T10:00:00.1234567890", null],
  ["2024-01-01T10", null],
  ["2024-01-01T10:00:0", null],
  ["2024-01-01T10:00:00 ", null],
  ["2024-01-01T10:00:00 Z", null],
  ["2024-01-01t10:00:00z", null],
  ["2024-01-01T10:00:00+2", null],
  ["2024-01-01T10:00:00+24:00", null],
  ["2024-01-01T10:00:00+02:60", null],
  ["2024-01-01+02:00", null],
  ["2024-01-01T", null],
  [" 2024-01-01", null],
  ["now", null],
  ["subsec", null],
  ["12:00", null],
  ["2460000.5", null],
  ["", null],
  ["2024-1-1", null],
  ["2024-01-01T10:00:00", "2024-01-01T10:00:00Z"],
  ["2024-01-01T10:00:00+00:00", "2024-01-01T10:00:00Z"],
  ["2024-01-01T10:00:00-00:00", "2024-01-01T10:00:00Z"],
  ["2024-01-01T10:00:00.000", "2024-01-01T10:00:00Z"],
  ["2024-01-01T10:00:00.5Z", "2024-01-01T10:00:00.500Z"],
  ["2024-01-01T10:00:00.500000", "2024-01-01T10:00:00.500Z"],
  ["2024-01-01T10:00:00.123456789", "2024-01-01T10:00:00.123456Z"],
  ["2024-01-01T10:00:00.0000009", "2024-01-01T10:00:00Z"],
  ["2024-01-01 12:30+02:00", "2024-01-01T10:30:00Z"],
  ["2024-01-01T23:30:00-0130", "2024-01-02T01:00:00Z"],
  ["2024-03-01T00:30:00.25+01:00", "2024-02-29T23:30:00.250Z"],
  ["2024-12-31T23:59:59.999999-23:59", "2025-01-01T23:58:59.999999Z"],
  ["0001-01-01T00:30:00+00:30", "0001-01-01T00:00:00Z"],
  ["0001-01-01T00:29:00+00:30", null],
  ["9999-12-31T23:29:59.999999-00:30", "9999-12-31T23:59:59.999999Z"],
  ["9999-12-31T23:30:00-00:30", null],
];

/** Rows whose timestamps another tool wrote, the first with the key 0. */
async function prepareWith(file: SqliteFile, texts: readonly string[], table = TIMES) {
  const under = await TableUnderTest.prepare(await file.open(), table);
  const elsewhere = file.openElsewhere();
  elsewhere.run("DELETE FROM items");
  const insert = elsewhere.prepare("INSERT INTO items (k, at) VALUES (?, ?)");
  for (const [k, text] of texts.entries()) insert.run(k, text);
  insert.finalize();
  return under;
}

/** Keys in the order of D-3.1: by time, null first, then by key. */
function inOrder(times: readonly (string | null)[]): number[] {
  const sortable = (time: string | null) => (time === null ? "" : time.slice(0, -1));
  const places = times.map((time, k) => ({ k, at: sortable(time) }));
  return places
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.k - b.k))
    .map(({ k }) => k);
}

describe("SQLite: times that other tools wrote", () => {
  test("D-7.10.1 a text that is no valid time orders as null and matches no since, and a zone is honoured", () =>
    SqliteFile.use(async (file) => {
      const table = await prepareWith(
        file,
        TEXTS.map(([text]) => text),
      );
      const times = TEXTS.map(([, time]) => time);
      expect(await table.column("k")).toEqual(inOrder(times));
      const shown = new Map((await table.rows()).map(({ k, at }) => [k, at]));
      for (const [k, [text, time]] of TEXTS.entries()) expect(shown.get(k)).toBe(time ?? text);
      for (const sinceTime of times.filter((time) => time !== null)) {
        const later = inOrder(times).filter(
          (k) =>
            (times[k] ?? "") !== "" && (times[k]?.slice(0, -1) ?? "") >= sinceTime.slice(0, -1),
        );
        expect(await table.column("k", { sinceTime })).toEqual(later);
      }
    }));

  test("D-7.10.1 a date is that part of a valid time as written, and no other text is one", () =>
    SqliteFile.use(async (file) => {
      const texts = TEXTS.filter(([text]) => text > "0002" && text < "9999");
      const table = await prepareWith(
        file,
        texts.map(([text]) => text),
        DAYS,
      );
      const days = texts.map(([text, time]) => (time === null ? null : `${text.slice(0, 10)}Z`));
      expect(await table.column("k")).toEqual(inOrder(days));
    }));

  test("D-7.10.1 any text orders by the time that it is in UTC", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      const table = await TableUnderTest.prepare(storage, TIMES);
      const elsewhere = file.openElsewhere();
      const insert = elsewhere.prepare("INSERT INTO items (k, at) VALUES (?, ?)");
      await checkAsyncProperty(
        fc.asyncProperty(fc.array(arbitraryTimeText, { maxLength: 60 }), async (texts) => {
          elsewhere.run("DELETE FROM items");
          elsewhere.transaction(() => {
            for (const [k, text] of texts.entries()) insert.run(k, text);
          })();
          expect(await table.column("k")).toEqual(inOrder(texts.map(parseDateTime)));
        }),
        40,
      );
      insert.finalize();
    }));
});

/** Texts that are times in one of many notations, or nearly. */
const arbitraryTimeText = fc
  .record({
    date: fc.constantFrom(
      "2024-02-28",
      "2024-02-29",
      "2024-02-30",
      "2023-12-31",
      "2024-01-01",
      "0001-01-01",
      "9999-12-31",
    ),
    separator: fc.constantFrom("T", "T", " ", "t", ""),
    clock: fc.constantFrom("", "00:00", "23:59:59", "10:20:30", "24:00:00", "1:00"),
    fraction: fc.oneof(fc.constant(""), fc.stringMatching(/^\.[05]{0,10}$/)),
    zone: fc.oneof(
      fc.constantFrom("", "Z", " "),
      fc.stringMatching(/^[+-][012][0-9]:?[0567][0-9]$/),
    ),
    cut: fc.constantFrom(0, 0, 0, 1),
  })
  .map(({ date, separator, clock, fraction, zone, cut }) => {
    const text = date + separator + clock + fraction + zone;
    return text.slice(0, text.length - cut);
  });
