import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  compareDateTimes,
  dateTimeMs,
  formatMs,
  isCanonicalDate,
  isCanonicalDateTime,
  parseDate,
  parseDateTime,
  parseSince,
} from "../../../src/domain/shared/time.ts";
import { checkProperty } from "../../support/seed.ts";

const NOT_TIMES = [
  "",
  " ",
  "now",
  "yesterday",
  "2024",
  "2024-02",
  "2024-2-3",
  "20240203",
  "24-02-03",
  "2024-00-03",
  "2024-13-03",
  "2024-02-00",
  "2024-02-30",
  "2023-02-29",
  "1900-02-29",
  "2024-04-31",
  "0000-01-01",
  "2024-02-03T",
  "2024-02-03 ",
  "2024-02-03T04",
  "2024-02-03T24:00:00",
  "2024-02-03T04:60:00",
  "2024-02-03T04:05:60",
  "2024-02-03T04:05:06.",
  "2024-02-03T04:05:06.1234567890",
  "2024-02-03T04:05:06,123",
  "2024-02-03T04:05:06+24:00",
  "2024-02-03T04:05:06+01:60",
  "2024-02-03T04:05:06+0",
  "2024-02-03T04:05:06+01",
  "2024-02-03T04:05:06 UTC",
  "2024-02-03T04:05:06ZZ",
  "2024-02-03Z",
  "2024-02-03+01:00",
  "2024-02-03  04:05:06",
  " 2024-02-03",
  "2024-02-03\n",
  "2024-02-03T04:05:06Z\n",
  "+002024-02-03",
  "-2024-02-03",
  "٢٠٢٤-٠٢-٠٣",
  "1706933106",
];

describe("parseDateTime()", () => {
  test.each([
    ["2024-02-03T04:05:06Z", "2024-02-03T04:05:06Z"],
    ["2024-02-03 04:05:06", "2024-02-03T04:05:06Z"],
    ["2024-02-03T04:05:06", "2024-02-03T04:05:06Z"],
    ["2024-02-03T04:05", "2024-02-03T04:05:00Z"],
    ["2024-02-03 04:05+01:00", "2024-02-03T03:05:00Z"],
    ["2024-02-03", "2024-02-03T00:00:00Z"],
    ["2024-02-29", "2024-02-29T00:00:00Z"],
    ["2000-02-29", "2000-02-29T00:00:00Z"],
    ["2024-02-03T04:05:06+00:00", "2024-02-03T04:05:06Z"],
    ["2024-02-03T04:05:06-00:00", "2024-02-03T04:05:06Z"],
    ["2024-02-03T04:05:06+0530", "2024-02-02T22:35:06Z"],
    ["2024-02-03T04:05:06-08:00", "2024-02-03T12:05:06Z"],
    ["2024-12-31T23:59:59.999999-00:01", "2025-01-01T00:00:59.999999Z"],
    ["2024-02-03T04:05:06+23:59", "2024-02-02T04:06:06Z"],
  ])("D-3.2.4 parseDateTime() reads %p as %p", (text, expected) => {
    expect(parseDateTime(text)).toBe(expected);
  });

  test.each([
    ["0", ""],
    ["000000", ""],
    ["000000999", ""],
    ["1", ".100"],
    ["12", ".120"],
    ["123", ".123"],
    ["120", ".120"],
    ["123000", ".123"],
    ["1230001", ".123"],
    ["1234", ".123400"],
    ["12345", ".123450"],
    ["123456", ".123456"],
    ["1234569", ".123456"],
    ["123456789", ".123456"],
    ["000001", ".000001"],
    ["999999999", ".999999"],
  ])("D-3.3.2 parseDateTime() shows the fraction %p as %p", (fraction, expected) => {
    expect(parseDateTime(`2024-02-03T04:05:06.${fraction}Z`)).toBe(
      `2024-02-03T04:05:06${expected}Z`,
    );
    expect(parseDateTime(`2024-02-03 05:05:06.${fraction}+0100`)).toBe(
      `2024-02-03T04:05:06${expected}Z`,
    );
  });

  test.each(NOT_TIMES)("D-3.2.4 parseDateTime() does not take %p for a time", (text) => {
    expect(parseDateTime(text)).toBeNull();
  });

  test("D-3.3.2 parseDateTime() keeps to the years 0001 to 9999, also after the shift to UTC", () => {
    expect(parseDateTime("0001-01-01T00:00:00Z")).toBe("0001-01-01T00:00:00Z");
    expect(parseDateTime("0001-01-01T05:30:00+05:30")).toBe("0001-01-01T00:00:00Z");
    expect(parseDateTime("0001-01-01T05:29:59.999999+05:30")).toBeNull();
    expect(parseDateTime("9999-12-31T23:59:59.999999Z")).toBe("9999-12-31T23:59:59.999999Z");
    expect(parseDateTime("9999-12-31T22:59:59.999999-01:00")).toBe("9999-12-31T23:59:59.999999Z");
    expect(parseDateTime("9999-12-31T23:00:00-01:00")).toBeNull();
    expect(parseDateTime("0099-12-31T23:00:00-01:00")).toBe("0100-01-01T00:00:00Z");
  });

  test("D-3.2.4 parseDateTime() agrees with Date to the millisecond", () => {
    checkProperty(
      fc.property(writtenTimes(), ({ text, atMs, moreDigits }) => {
        const shown = new Date(atMs).toISOString();
        const micros = `${shown.slice(20, 23)}${moreDigits.slice(0, 3).padEnd(3, "0")}`;
        const needed = micros === "000000" ? "" : `.${micros.replace(/(?<=^.{3})000$/, "")}`;
        expect(parseDateTime(text)).toBe(`${shown.slice(0, 19)}${needed}Z`);
      }),
      2000,
    );
  });

  test("D-3.3 parseDateTime() leaves its own results as they are", () => {
    checkProperty(
      fc.property(writtenTimes(), ({ text }) => {
        const once = parseDateTime(text) as string;
        expect(parseDateTime(once)).toBe(once);
        expect(isCanonicalDateTime(once)).toBe(true);
      }),
    );
  });

  test("D-3.2.4 parseDateTime(), parseSince() and parseDate() take any text", () => {
    checkProperty(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect([parseDateTime(text), parseSince(text), parseDate(text)]).toEqual([
          null,
          null,
          null,
        ]);
      }),
    );
  });
});

describe("parseSince()", () => {
  test.each([
    ["2024-02-03T04:05:06 01:00", "2024-02-03T03:05:06Z"],
    ["2024-02-03T04:05:06.5 0100", "2024-02-03T03:05:06.500Z"],
    ["2024-02-03 04:05:06 01:00", "2024-02-03T03:05:06Z"],
    ["2024-02-03 04:05 01:00", "2024-02-03T03:05:00Z"],
    ["2024-02-03 04:05", "2024-02-03T04:05:00Z"],
    ["2024-02-03 04:05:06", "2024-02-03T04:05:06Z"],
    ["2024-02-03T04:05:06+01:00", "2024-02-03T03:05:06Z"],
    ["2024-02-03", "2024-02-03T00:00:00Z"],
  ])("D-3.2.5 parseSince() reads %p as %p", (text, expected) => {
    expect(parseSince(text)).toBe(expected);
  });

  test.each(["2024-02-03T04:05:06  01:00", "2024-02-03T04:05:06 1:00", "2024-02-03 04"])(
    "D-3.2.5 parseSince() does not take %p for a time",
    (text) => {
      expect(parseSince(text)).toBeNull();
    },
  );

  test("D-3.2.5 parseDateTime() reads no space as a plus: only a query loses it", () => {
    expect(parseDateTime("2024-02-03T04:05:06 01:00")).toBeNull();
  });
});

describe("parseDate()", () => {
  test.each([
    ["2024-02-03", "2024-02-03"],
    ["2024-02-03T23:59:59Z", "2024-02-03"],
    ["2024-02-03T23:59:59-08:00", "2024-02-03"],
    ["2024-02-03 00:00:01+0900", "2024-02-03"],
    ["0001-01-01T00:00:00+05:30", "0001-01-01"],
    ["9999-12-31T23:00:00-01:00", "9999-12-31"],
  ])("D-3.3.9 parseDate() keeps the date part of %p as written: %p", (text, expected) => {
    expect(parseDate(text)).toBe(expected);
  });

  test.each(NOT_TIMES)("S-4.2.8 parseDate() does not take %p for a date", (text) => {
    expect(parseDate(text)).toBeNull();
  });
});

test("D-3.3.2 isCanonicalDateTime() is true only for the form that pages show", () => {
  const canonical = [
    "2024-02-03T04:05:06Z",
    "2024-02-03T04:05:06.100Z",
    "0001-01-01T00:00:00.000001Z",
  ];
  for (const text of canonical) expect([text, isCanonicalDateTime(text)]).toEqual([text, true]);
  for (const text of [
    "2024-02-03",
    "2024-02-03T04:05Z",
    "2024-02-03 04:05:06Z",
    "2024-02-03T04:05:06",
    "2024-02-03T04:05:06+00:00",
    "2024-02-03T04:05:06.000Z",
    "2024-02-03T04:05:06.1Z",
    "2024-02-03T04:05:06.123000Z",
    "2024-02-30T04:05:06Z",
    "0000-01-01T00:00:00Z",
  ]) {
    expect([text, isCanonicalDateTime(text)]).toEqual([text, false]);
  }
});

test("D-3.3.2, D-3.3.3 isCanonicalDateTime() and isCanonicalDate() agree with what is parsed", () => {
  const nearlyCanonical = fc.oneof(
    fc.stringMatching(/^[0129]{4}-[01][0-9]-[0-3][0-9]$/),
    fc.stringMatching(/^(0000|2024|2100)-02-(28|29|30)T[0-2][0-9]:[0-6]0:[0-6]0(\.[01]{1,7})?Z?$/),
    fc.constantFrom(...NOT_TIMES),
  );
  checkProperty(
    fc.property(nearlyCanonical, (text) => {
      expect(isCanonicalDateTime(text)).toBe(parseDateTime(text) === text);
      expect(isCanonicalDate(text)).toBe(parseDate(text) === text);
    }),
    3000,
  );
});

test("S-2.5 formatMs() shows a time in milliseconds as pages do", () => {
  expect(formatMs(0)).toBe("1970-01-01T00:00:00Z");
  expect(formatMs(1_706_933_106_000)).toBe("2024-02-03T04:05:06Z");
  expect(formatMs(1_706_933_106_120)).toBe("2024-02-03T04:05:06.120Z");
});

test("D-3.3.2 dateTimeMs() gives milliseconds and cuts finer digits", () => {
  expect(dateTimeMs("1970-01-01T00:00:00Z")).toBe(0);
  expect(dateTimeMs("2024-02-03T04:05:06.120Z")).toBe(1_706_933_106_120);
  expect(dateTimeMs("2024-02-03T04:05:06.120999Z")).toBe(1_706_933_106_120);
  expect(dateTimeMs("0001-01-01T00:00:00Z")).toBe(-62_135_596_800_000);
});

test("D-3.1 compareDateTimes() orders by time, whatever the number of fraction digits", () => {
  const ordered = [
    "0001-01-01T00:00:00Z",
    "2024-02-03T04:05:05.999999Z",
    "2024-02-03T04:05:06Z",
    "2024-02-03T04:05:06.000001Z",
    "2024-02-03T04:05:06.001Z",
    "2024-02-03T04:05:06.001001Z",
    "2024-02-03T04:05:06.100Z",
    "2024-02-03T04:05:07Z",
    "9999-12-31T23:59:59.999999Z",
  ];
  expect(ordered.toReversed().sort(compareDateTimes)).toEqual(ordered);
  for (const time of ordered) expect(compareDateTimes(time, time)).toBe(0);
});

/** A time in milliseconds and one of the ways to write it, with further fraction digits. */
function writtenTimes() {
  const dayMs = 86_400_000;
  return fc
    .record({
      atMs: fc.integer({ min: Date.parse("0001-01-02"), max: Date.parse("9999-12-30") }),
      isWholeSecond: fc.boolean(),
      separator: fc.constantFrom("T", " "),
      zone: fc.oneof(
        fc.constantFrom("Z", ""),
        fc.record({
          minutes: fc.integer({ min: -1439, max: 1439 }),
          colon: fc.constantFrom(":", ""),
        }),
      ),
      moreDigits: fc.stringMatching(/^\d{0,6}$/),
    })
    .map(({ atMs: anyMs, isWholeSecond, separator, zone, moreDigits: digits }) => {
      const atMs = isWholeSecond ? anyMs - ((((anyMs % dayMs) + dayMs) % dayMs) % 1000) : anyMs;
      const moreDigits = isWholeSecond ? "" : digits;
      const shiftMinutes = typeof zone === "string" ? 0 : zone.minutes;
      const local = new Date(atMs + shiftMinutes * 60_000).toISOString();
      const fraction = isWholeSecond ? "" : `.${local.slice(20, 23)}${moreDigits}`;
      const zoneText = typeof zone === "string" ? zone : offsetText(zone.minutes, zone.colon);
      const text = `${local.slice(0, 10)}${separator}${local.slice(11, 19)}${fraction}${zoneText}`;
      return { text, atMs, moreDigits };
    });
}

function offsetText(minutes: number, colon: string): string {
  const [hh, mm] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(hh)}${colon}${two(mm)}`;
}
