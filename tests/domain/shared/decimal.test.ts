import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  int64Digits,
  isSameDecimal,
  isWholeNumber,
  parseDecimal,
  parseInt64,
} from "../../../src/domain/shared/decimal.ts";
import { checkProperty } from "../../support/seed.ts";

const ZEROS_400 = "0".repeat(400);

describe("parseDecimal()", () => {
  test.each([
    ["0", "0"],
    ["12", "12"],
    ["12.50", "12.50"],
    ["-3.10", "-3.10"],
    ["+7", "7"],
    ["007.10", "7.10"],
    ["0012", "12"],
    ["00", "0"],
    ["0.00", "0.00"],
    ["-0", "0"],
    ["-0.00", "0.00"],
    [".5", "0.5"],
    ["5.", "5"],
    ["1e3", "1000"],
    ["1E3", "1000"],
    ["1e+3", "1000"],
    ["1.25e1", "12.5"],
    ["1.250e1", "12.50"],
    ["1.25e2", "125"],
    ["1.25e3", "1250"],
    ["125e-2", "1.25"],
    ["125e-3", "0.125"],
    ["125e-5", "0.00125"],
    ["0e5", "0"],
    ["0.0e1", "0"],
    ["0e-2", "0.00"],
    ["0.05e1", "0.5"],
    ["1e00000000000000000003", "1000"],
    ["123456789012345678901234567890.123456789", "123456789012345678901234567890.123456789"],
  ])("S-4.2.8, D-3.3.10, D-3.3.14 parseDecimal() reads %p as %p", (text, expected) => {
    expect(parseDecimal(text)).toBe(expected);
  });

  test.each([
    "",
    " ",
    "abc",
    "NaN",
    "Infinity",
    "-Infinity",
    "1,000",
    "1_000",
    " 1",
    "1 ",
    "1\n",
    "--1",
    ".",
    "-",
    "e5",
    "1e",
    "1e+",
    "1e1.5",
    "0x10",
    "1.2.3",
    "１２",
    "true",
    "1e1000000000001",
    "1e-99999999999999999999",
  ])("S-4.2.8, D-3.3.10 parseDecimal() does not take %p for a decimal", (text) => {
    expect(parseDecimal(text)).toBeNull();
  });

  test("D-3.3.10, D-3.3.14 parseDecimal() writes exponents out up to 400 digits and keeps longer ones", () => {
    expect(parseDecimal("1e399")).toBe(`1${ZEROS_400.slice(1)}`);
    expect(parseDecimal("1e400")).toBe("1e400");
    expect(parseDecimal("1e-399")).toBe(`0.${ZEROS_400.slice(2)}1`);
    expect(parseDecimal("1e-400")).toBe("1e-400");
    expect(parseDecimal("-12.50E+500")).toBe("-1.250e501");
    expect(parseDecimal("0.00e500")).toBe("0");
    expect(parseDecimal("1e999999999")).toBe("1e999999999");
  });

  test("D-3.3 parseDecimal() keeps a decimal of any length that has no exponent", () => {
    const long = `${"1234567890".repeat(500)}.${"0987654321".repeat(500)}`;
    expect(parseDecimal(long)).toBe(long);
    const small = `0.${ZEROS_400}${ZEROS_400}1`;
    expect(parseDecimal(small)).toBe(small);
  });

  test.each([
    [`${"0".repeat(300)}5e200`, `5${"0".repeat(200)}`],
    ["100000e-398", `0.${"0".repeat(392)}100000`],
    [`0.${"0".repeat(9)}1e395`, `1${"0".repeat(385)}`],
    [`${"7".repeat(450)}e-449`, `7.${"7".repeat(449)}`],
  ])(
    "D-3.3.10 parseDecimal() counts the digits of the result, not of the text",
    (text, expected) => {
      expect(parseDecimal(text)).toBe(expected);
      expect(parseDecimal(expected)).toBe(expected);
    },
  );

  test("D-3.3 parseDecimal() keeps the value of every decimal text", () => {
    checkProperty(
      fc.property(decimalTexts(), (text) => {
        const parsed = parseDecimal(text);
        expect(parsed).not.toBeNull();
        expect(rational(parsed as string)).toEqual(rational(text));
      }),
      1000,
    );
  });

  test("D-3.3 parseDecimal() leaves its own results as they are", () => {
    checkProperty(
      fc.property(decimalTexts(), (text) => {
        const once = parseDecimal(text) as string;
        expect(parseDecimal(once)).toBe(once);
      }),
      1000,
    );
  });
});

describe("parseInt64()", () => {
  test.each([
    ["0", 0n],
    ["-0", 0n],
    ["12", 12n],
    ["+12", 12n],
    ["0012", 12n],
    ["12.00", 12n],
    ["1e3", 1000n],
    ["1.5e1", 15n],
    ["1200e-2", 12n],
    ["0e999", 0n],
    ["0.000", 0n],
    ["9223372036854775807", 9223372036854775807n],
    ["-9223372036854775807", -9223372036854775807n],
    ["9223372036854775807.0", 9223372036854775807n],
  ])("D-2.2.8 parseInt64() reads %p", (text, expected) => {
    expect(parseInt64(text)).toBe(expected);
  });

  test.each([
    "9223372036854775808",
    "-9223372036854775808",
    "1e19",
    "1e500",
    "9".repeat(1_000_000),
    "1.5",
    "1e-1",
    "abc",
    "",
  ])("D-2.2.8 parseInt64() does not take %p", (text) => {
    expect(parseInt64(text)).toBeNull();
  });
});

test("D-3.3 int64Digits() takes the one spelling of a whole number within ±(2^63-1)", () => {
  const most = "9223372036854775807";
  for (const text of ["0", "-1", "10", most, `-${most}`]) expect(int64Digits(text)).toBe(text);
  const others = ["-0", "+1", "01", "1.0", "1e3", "", " 1", "9223372036854775808", `${most}0`];
  for (const text of [...others, "-9223372036854775808"]) expect(int64Digits(text)).toBeUndefined();
});

test("D-3.3.13 isWholeNumber() knows whole numbers of any size and spelling", () => {
  for (const whole of ["0", "-0.00", "12", "12.0", "1e5", "1e999999", "1.5e1", "1500e-2", "0e-9"]) {
    expect([whole, isWholeNumber(whole)]).toEqual([whole, true]);
  }
  for (const other of ["1.5", "15e-1", "1e-500", "1.25e1", "abc", "", "true"]) {
    expect([other, isWholeNumber(other)]).toEqual([other, false]);
  }
});

test("D-3.3 isSameDecimal() compares values, not spellings", () => {
  for (const [a, b] of [
    ["1.5", "15e-1"],
    ["100", "1e2"],
    ["0", "-0.000e9"],
    ["1.50", "+01.5"],
    ["1e-999999", "0.1e-999998"],
  ] as const) {
    expect([a, b, isSameDecimal(a, b)]).toEqual([a, b, true]);
  }
  for (const [a, b] of [
    ["1.5", "1.50000000000000000000000001"],
    ["1", "-1"],
    ["0", "1e-999999"],
    ["x", "x"],
  ] as const) {
    expect([a, b, isSameDecimal(a, b)]).toEqual([a, b, false]);
  }
});

test("D-3.3 a long run of zeros inside a decimal takes no more than linear time", () => {
  const long = `0.1${"0".repeat(2_000_000)}1`;
  expect(isSameDecimal(long, "0.1")).toBe(false);
  expect(isWholeNumber(long)).toBe(false);
  expect(parseDecimal(long)).toBe(long);
});

/** Signs, leading zeros, bare points, and exponents around the 400 digits. */
function decimalTexts() {
  const digits = fc.oneof(
    fc.stringMatching(/^\d{1,12}$/),
    fc.stringMatching(/^0{0,5}\d{0,30}0{0,5}$/).filter((text) => text !== ""),
    fc.tuple(fc.constantFrom("0", "7"), fc.nat(500)).map(([digit, n]) => digit.repeat(n + 1)),
  );
  const exponent = fc.option(
    fc.oneof(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -900, max: 900 })),
  );
  return fc
    .tuple(
      fc.constantFrom("", "-", "+"),
      digits,
      fc.option(digits),
      exponent,
      fc.constantFrom("e", "E"),
    )
    .map(([sign, whole, fraction, power, e]) => {
      const point = fraction === null ? "" : `.${fraction}`;
      return `${sign}${whole}${point}${power === null ? "" : `${e}${power}`}`;
    });
}

/** The value as a fraction in lowest terms of tens: the model, in integers only. */
function rational(text: string): { numerator: bigint; tens: number } {
  const [mantissa = "", power = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let numerator = BigInt(`${whole}${fraction}`.replace("+", ""));
  let tens = fraction.length - Number(power);
  while (numerator !== 0n && numerator % 10n === 0n) {
    numerator /= 10n;
    tens--;
  }
  return { numerator, tens: numerator === 0n ? 0 : tens };
}
