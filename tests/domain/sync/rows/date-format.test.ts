// Dates and times by a format.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatMs } from "../../../../src/domain/shared/time.ts";
import { DateFormat } from "../../../../src/domain/sync/table/date-format.ts";
import { checkProperty } from "../../../support/seed.ts";

const formatOf = (text: string) => {
  const format = DateFormat.parse(text);
  if (format === null) throw new Error(`${text} is no format`);
  return format;
};

describe("a date format", () => {
  test.each([
    ["DD.MM.YYYY", "24.11.2025", "2025-11-24"],
    ["DD.MM.YYYY", "4.11.2025", null],
    ["D.M.YYYY", "4.1.2025", "2025-01-04"],
    ["D.M.YYYY", "24.11.2025", "2025-11-24"],
    ["MM/DD/YYYY", "01/31/2025", "2025-01-31"],
    ["MM/DD/YYYY", "31/01/2025", null],
    ["YYYY/MM/DD HH:mm:ss", "2015/01/02 03:04:05", "2015-01-02T03:04:05Z"],
    ["YYYY/MM/DD HH:mm:ss", "2015/01/02", "2015-01-02"],
    ["YYYYMMDDHHmm", "201501020304", "2015-01-02T03:04:00Z"],
    ["DD.MM.YYYY H:mm", "24.11.2025 9:05", "2025-11-24T09:05:00Z"],
    ["DD.MM.YYYY HH:mm:ss.SSS", "24.11.2025 09:05:06.070", "2025-11-24T09:05:06.070Z"],
    ["HH:mm DD.MM.YYYY", "09:05 24.11.2025", "2025-11-24T09:05:00Z"],
    ["HH:mm DD.MM.YYYY", "24.11.2025", null],
    ["DD.MM.YYYY", "30.02.2025", null],
    ["DD.MM.YYYY HH:mm", "24.11.2025 25:00", null],
    ["YYYY年M月D日", "2025年1月4日", "2025-01-04"],
  ])("D-14.1 %s reads %p as %p", (format, text, result) => {
    expect(formatOf(format).read(text)).toBe(result);
  });

  test.each(["", "DD.MM.YY", "DD.MM", "DD.MMM.YYYY", "YYYY-MM-DD DD", "MM/M/DD/YYYY", "d.m.yyyy"])(
    "D-14.1 %p is none",
    (text) => {
      expect(DateFormat.parse(text)).toBeNull();
    },
  );

  test("D-14.1 what it writes it reads", () => {
    const formats = [
      "DD.MM.YYYY HH:mm:ss",
      "M/D/YYYY H:mm:ss",
      "YYYYMMDDHHmmss",
      "(HH-mm-ss) D+M*YYYY",
    ];
    const date = fc.date({
      min: new Date("0001-01-02T00:00:00Z"),
      max: new Date("9999-12-31T00:00:00Z"),
      noInvalidDate: true,
    });
    checkProperty(
      fc.property(fc.constantFrom(...formats), date, (text, at) => {
        const time = formatMs(Math.floor(at.getTime() / 1000) * 1000);
        const format = formatOf(text);
        expect(format.read(format.write(time))).toBe(time);
      }),
    );
    expect(formatOf("DD.MM.YYYY HH:mm").write("2025-11-24")).toBe("24.11.2025");
  });
});
