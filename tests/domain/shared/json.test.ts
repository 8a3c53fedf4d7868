import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  compareUtf8,
  isJsonObject,
  isRawNumber,
  numberText,
  parseJson,
  rawNumber,
} from "../../../src/domain/shared/json.ts";
import { checkProperty } from "../../support/seed.ts";

/** Numbers that a JS number would change, or print in another way. */
const UNFAITHFUL = [
  "9007199254740993",
  "-9223372036854775808",
  "123456789012345678901234567890",
  "0.1000000000000000055511151231257827",
  "1.0",
  "1.50",
  "0.0000001",
  "-0",
  "-0.0",
  "0e0",
  "1e5",
  "1E5",
  "1e-7",
  "1e400",
  "2.5e+300",
];

describe("parseJson()", () => {
  test.each(UNFAITHFUL)(
    "D-3.3.1 parseJson() keeps %s as it is written, wherever it stands",
    (n) => {
      for (const text of [n, `[${n}]`, `[1,${n}]`, `{"a":${n},"b":"x"}`, `{"a":[{"b":${n}}]}`]) {
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }
      expect(JSON.stringify(parseJson(` {\n"a" :\t ${n}\r\n, "b": [ ${n} ] } `))).toBe(
        `{"a":${n},"b":[${n}]}`,
      );
    },
  );

  test("D-3.3.1 parseJson() gives JS numbers where they print as written", () => {
    expect(parseJson("[0,1,-1,1.5,9007199254740991,0.000001,123456789.25]")).toEqual([
      0, 1, -1, 1.5, 9007199254740991, 0.000001, 123456789.25,
    ]);
  });

  test("D-3.3.1 parseJson() and JSON.stringify() keep the text of every number", () => {
    checkProperty(
      fc.property(jsonTexts(), ({ compact, spaced }) => {
        expect(JSON.stringify(parseJson(compact))).toBe(compact);
        expect(JSON.stringify(parseJson(spaced))).toBe(compact);
      }),
      1000,
    );
  });

  test.each([
    "",
    " ",
    "NaN",
    "Infinity",
    "-Infinity",
    "+1",
    "01",
    "1.",
    ".5",
    "1e",
    "0x10",
    "[1,]",
    "{'a':1}",
    "[1.0",
    "undefined",
    "[1e5 1e5]",
  ])("D-3.3.10 parseJson() refuses %p, which is not JSON", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test("D-3.3 parseJson() keeps members named as parts of a prototype, and changes no prototype", () => {
    const text = '{"__proto__":{"isAdmin":1.0},"constructor":{"prototype":1},"toString":"x"}';
    expect(JSON.stringify(parseJson(text))).toBe(text);
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
    expect(typeof {}.toString).toBe("function");
  });

  test("D-3.3 parseJson() keeps a lone surrogate for the conversion to refuse", () => {
    expect(parseJson('"\\ud83d"')).toBe("\ud83d");
    expect(parseJson('"\\ud83d\\ude00"')).toBe("😀");
  });

  test("D-3.3 parseJson() reads 1,000 levels", () => {
    const text = `${"[".repeat(1000)}1.0${"]".repeat(1000)}`;
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });

  test("D-3.3 parseJson() fails with a plain error where nesting is too deep for the parser", () => {
    const text = `${"[".repeat(1_000_000)}1.0${"]".repeat(1_000_000)}`;
    expect(() => parseJson(text)).toThrow(RangeError);
  });
});

test("D-3.3.1 a raw number is neither an object nor changed by JSON.stringify()", () => {
  const raw = rawNumber("1.50");
  expect(isRawNumber(raw)).toBe(true);
  expect(isJsonObject(raw)).toBe(false);
  expect(JSON.stringify({ price: raw })).toBe('{"price":1.50}');
});

test("D-3.3.1 isRawNumber() is not fooled by an object with the same member", () => {
  expect(isRawNumber(parseJson('{"rawJSON":"1"}'))).toBe(false);
  expect(isJsonObject(parseJson('{"rawJSON":"1"}'))).toBe(true);
});

test("D-3.5 isJsonObject() knows objects from every other kind of value", () => {
  expect(isJsonObject({})).toBe(true);
  for (const other of [undefined, null, [], [{}], "{}", 1, true]) {
    expect(isJsonObject(other)).toBe(false);
  }
});

test("D-3.3.1 numberText() gives the JSON text of a number however it is kept", () => {
  expect(numberText(12)).toBe("12");
  expect(numberText(-0)).toBe("-0");
  expect(numberText(1e21)).toBe("1e+21");
  expect(numberText(rawNumber("1.50"))).toBe("1.50");
});

describe("compareUtf8()", () => {
  test("D-3.1.1 compareUtf8() puts code points beyond U+FFFF after U+E000 to U+FFFF", () => {
    const ordered = ["", "A", "Z", "a", "a\u0000", "ab", "é", "日", "\ue000", "\uffff", "😀", "🙂"];
    expect(ordered.toReversed().sort(compareUtf8)).toEqual(ordered);
    expect(ordered.toReversed().sort()).not.toEqual(ordered);
  });

  test("D-3.1.1 compareUtf8() orders as the UTF-8 bytes do", () => {
    checkProperty(
      fc.property(unicodeTexts(), unicodeTexts(), (a, b) => {
        const expected = Buffer.compare(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));
        expect(Math.sign(compareUtf8(a, b))).toBe(expected);
      }),
      2000,
    );
  });
});

/** Short texts over few code points from every UTF-8 length, so that pairs often share a beginning. */
function unicodeTexts() {
  const few = fc.constantFrom("a", "é", "日", "\ud7ff", "\ue000", "\uffff", "😀", "\u{10ffff}");
  return fc.oneof(fc.string({ unit: few, maxLength: 5 }), fc.string({ unit: "binary" }));
}

/** JSON text without blanks, and the same with blanks at random. */
function jsonTexts() {
  const number = fc
    .stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/)
    .map((text) => [text]);
  const word = fc.constantFrom("null", "true", "false").map((text) => [text]);
  const string = fc.string({ unit: "binary" }).map((text) => [JSON.stringify(text)]);
  const tricky = fc.constantFrom(", 1.0", ":-0]", "[1e5").map((t) => [JSON.stringify(t)]);
  const tokens = fc.letrec<{ value: string[]; array: string[]; object: string[] }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, number, string, word, tricky, tie("array"), tie("object")),
    array: fc
      .array(tie("value"), { maxLength: 4 })
      .map((items) => ["[", ...items.flatMap((item, i) => (i === 0 ? item : [",", ...item])), "]"]),
    object: fc
      .array(tie("value"), { maxLength: 4 })
      .map((items) => [
        "{",
        ...items.flatMap((item, i) => [...(i === 0 ? [] : [","]), `"member ${i}"`, ":", ...item]),
        "}",
      ]),
  })).value;
  return fc
    .tuple(tokens, fc.infiniteStream(fc.constantFrom("", "", " ", "\n", "\t\r\n  ")))
    .map(([parts, blanks]) => ({
      compact: parts.join(""),
      spaced: parts.map((part) => `${blanks.next().value}${part}`).join("") + blanks.next().value,
    }));
}
