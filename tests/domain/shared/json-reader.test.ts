import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type JsonValue, rawNumber } from "../../../src/domain/shared/json.ts";
import {
  JsonLimitError,
  type JsonLimits,
  JsonReader,
} from "../../../src/domain/shared/json-reader.ts";
import { checkProperty } from "../../support/seed.ts";

/** The value that the reader makes of a text, in pieces of so many characters; null and the error when it makes none. */
function read(text: string, pieceChars: number, limits?: JsonLimits): [JsonValue | null, unknown] {
  try {
    const reader = new JsonReader(limits);
    for (let at = 0; at < text.length; at += pieceChars) {
      reader.read(text.slice(at, at + pieceChars));
    }
    return [reader.finish(), null];
  } catch (error) {
    return [null, error];
  }
}

/** What the runtime's parser makes of it, which tells the source of every number. */
function parsed(text: string): string | null {
  const keepDigits = (_name: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" ? rawNumber(context?.source ?? "") : value;
  try {
    return JSON.stringify(
      JSON.parse(text, keepDigits as (name: string, value: unknown) => unknown),
    );
  } catch {
    return null;
  }
}

const number = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom(
    "1.10",
    "-0",
    "1e5",
    "12345678901234567890",
    "0.0000001",
    "1.7976931348623157e308",
  ),
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '"\\u00e9\\uD83D\\ude00"',
    '"\\"\\\\\\/"',
    '"[{,:}]"',
    '"',
    '"\\u00"',
    '"\\x"',
    '"a\nb"',
  ),
);
const blank = fc.constantFrom("", "", "", " ", "\n\t \r");
const name = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"a"', '"__proto__"', '"constructor"', '"1"', '"0"', '""'),
  text,
);

/** JSON as text with blanks, duplicate names and, at times, parts that are not JSON. */
const { json } = fc.letrec<{ json: string }>((tie) => {
  const list = (item: fc.Arbitrary<string>, open: string, close: string) =>
    fc
      .tuple(
        fc.array(
          fc.tuple(blank, item, blank).map((parts) => parts.join("")),
          { maxLength: 6 },
        ),
        blank,
      )
      .map(([items, inner]) => `${open}${items.length === 0 ? inner : items.join(",")}${close}`);
  const member = fc
    .tuple(name, blank, blank, tie("json"))
    .map(([key, before, after, value]) => `${key}${before}:${after}${value}`);
  return {
    json: fc.oneof(
      { maxDepth: 5, depthIdentifier: "json" },
      fc.oneof(number, text, fc.constantFrom("true", "false", "null")),
      list(tie("json"), "[", "]"),
      list(member, "{", "}"),
    ),
  };
});

describe("JsonReader", () => {
  test("D-7.9.1 JsonReader makes of any text what the runtime's parser makes of it", () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.nat({ max: 2 }),
      fc.constantFrom("", ",", "]", "}", "[", "{", '"', ":", " ", "1"),
    );
    checkProperty(
      fc.property(
        json,
        fc.option(damage),
        fc.integer({ min: 1, max: 40 }),
        (whole, harm, pieceChars) => {
          const at = harm === null ? 0 : harm[0] % (whole.length + 1);
          const given = (
            harm === null ? whole : whole.slice(0, at) + harm[2] + whole.slice(at + harm[1])
          ).toWellFormed();
          const [value, error] = read(given, pieceChars);
          expect(error === null ? JSON.stringify(value) : null).toBe(parsed(given));
        },
      ),
      5_000,
    );
  });

  test.each([
    "[1,]",
    "[,1]",
    "[1,,2]",
    '{"a":1,}',
    "[1 2]",
    "[[1][2]]",
    '{"a":[1]"b":2}',
    "[1]]",
    "[1]1",
    "1,2",
    '{"a"}',
    '{"a":}',
    "{1:2}",
    "nul",
    "[tru]",
    "[01]",
    "[1.]",
    "[-]",
    "[1e]",
    "[.5]",
    "[+1]",
    '["\\u00g0"]',
    '["a',
    "[1",
    "",
    " ",
  ])("D-7.9.1 JsonReader refuses %s in pieces of any size", (given) => {
    for (let pieceChars = 1; pieceChars < 12; pieceChars++) {
      expect(read(given, pieceChars)[1]).toBeInstanceOf(SyntaxError);
    }
  });

  test("D-7.9.1 JsonReader keeps every digit, duplicate names and __proto__", () => {
    const given = '{"a":1.10,"__proto__":[12345678901234567890],"a":[2.50,-0]}';
    for (let pieceChars = 1; pieceChars < 60; pieceChars += 3) {
      const [value] = read(given, pieceChars);
      expect(JSON.stringify(value)).toBe('{"a":[2.50,-0],"__proto__":[12345678901234567890]}');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
  });

  test.each([
    ["[".repeat(20_000), "is nested too deeply"],
    [`[${"1".repeat(2_000_000)}]`, "has a name or a number of more than 1 MiB"],
    [`{"${"k".repeat(2_000_000)}":1}`, "has a name or a number of more than 1 MiB"],
  ])("D-7.9.1 JsonReader refuses what it would have to read whole", (given, message) => {
    expect(read(given, 1000)[1]).toEqual(new JsonLimitError(message));
  });

  test("D-7.9.1 JsonReader reads a long text piece by piece", () => {
    const given = "x\\n\\u00e9€".repeat(300_000);
    expect(read(`["${given}"]`, 1000)[0]).toEqual([JSON.parse(`"${given}"`)]);
  });

  test.each([
    ['{"records":[{"a":[1,"x",{}]},null]}', 6],
    ['{"rec\\u006frds":[1,2]}', 2],
    ['{"table":"t","records":[],"deleted":[{}]}', 3],
    ['{"a":{"records":[1]}}', 3],
    ["[[],[[]]]", 3],
    ['{"records":{"a":1}}', 2],
    ["1.0", 0],
  ])("D-11.2.1 JsonReader counts the values of %s: %d", (given, count) => {
    for (const pieceChars of [1, 7, 1000]) {
      expect(read(given, pieceChars, { maxValues: count })[1]).toBeNull();
      const problem = new JsonLimitError(`has more than ${count - 1} values`, { isTooMuch: true });
      if (count > 0) expect(read(given, pieceChars, { maxValues: count - 1 })[1]).toEqual(problem);
    }
  });

  test("D-11.2.1 JsonReader counts records and tombstones together, before it has read the rest", () => {
    const given = '{"records":[{"a":[1,2,3]},2],"x":[1,2,3,4],"deleted":[{}]}';
    expect(read(given, 9, { maxRecords: 3 })[1]).toBeNull();
    const reader = new JsonReader({ maxRecords: 2 });
    const problem = "has more than 2 records and tombstones";
    expect(() => reader.read(given.slice(0, -3))).toThrow(problem);
  });
});
