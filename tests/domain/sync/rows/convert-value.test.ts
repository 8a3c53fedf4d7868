import { describe, expect, test } from "bun:test";
import { parseJson } from "../../../../src/domain/shared/json.ts";
import { convertValue } from "../../../../src/domain/sync/rows/convert.ts";
import type { ColumnType } from "../../../../src/domain/sync/table/column-types.ts";
import type { Column } from "../../../../src/domain/sync/table/table.ts";
import { makeColumn, makeKeyColumn } from "../../../support/rows/make-table.ts";

const OBJECT = "fails: must not be an object or an array";
const SURROGATE = "fails: must not hold a lone surrogate";
const BEYOND = "fails: is beyond the range of an integer, ±(2^63-1)";
const NO_KEY_NUMBER = "fails: must be a whole number within ±(2^63-1), as it is part of the key";
const NULL_KEY = "fails: is part of the key and must not be missing or null";

/** The value as JSON text, or why the record fails, for a value given as JSON text. */
function convert(column: Column, text: string): string {
  const converted = convertValue(column, parseJson(text));
  return "value" in converted ? JSON.stringify(converted.value) : `fails: ${converted.problem}`;
}

/** Values as they are pushed and pulled, by column type. `null` is the same for all. */
const CONVERSIONS: Record<ColumnType, readonly (readonly [pushed: string, pulled: string])[]> = {
  text: [
    ['"a"', '"a"'],
    ['""', '""'],
    ['" 1.50 "', '" 1.50 "'],
    ['"日本 😀 \\u0000"', '"日本 😀 \\u0000"'],
    ['"\\ud83d"', SURROGATE],
    ['"a\\udc00b"', SURROGATE],
    ["1", "1"],
    ["1.50", "1.50"],
    ["9007199254740993", "9007199254740993"],
    ["true", "true"],
    ["false", "false"],
    ["[]", OBJECT],
    ['["a"]', OBJECT],
    ["{}", OBJECT],
    ['{"a":1}', OBJECT],
  ],
  integer: [
    ["0", "0"],
    ["-0", "0"],
    ["12", "12"],
    ["12.0", "12"],
    ["1e3", "1000"],
    ["1.5", "1.5"],
    ["9007199254740991", "9007199254740991"],
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993.00", "-9007199254740993"],
    ["9223372036854775807", "9223372036854775807"],
    ["-9223372036854775807", "-9223372036854775807"],
    ["9223372036854775808", BEYOND],
    ["-9223372036854775808", BEYOND],
    ["1e19", BEYOND],
    ["1e500", BEYOND],
    ['"12"', '"12"'],
    ['"abc"', '"abc"'],
    ['"9223372036854775808"', '"9223372036854775808"'],
    ['"\\ud83d"', SURROGATE],
    ["true", "true"],
    ["[]", OBJECT],
    ["{}", OBJECT],
  ],
  bigint: [
    ["0", '"0"'],
    ["12", '"12"'],
    ["-12", '"-12"'],
    ['"12"', '"12"'],
    ['"+12"', '"12"'],
    ["9007199254740993", '"9007199254740993"'],
    ['"123456789012345678901234567890"', '"123456789012345678901234567890"'],
    ["1e3", '"1000"'],
    ['"12.50"', '"12.50"'],
    ['"abc"', '"abc"'],
    ['""', '""'],
    ['"\\ud83d"', SURROGATE],
    ["true", "true"],
    ["false", "false"],
    ["[1]", OBJECT],
    ['{"a":1}', OBJECT],
  ],
  numeric: [
    ["0", '"0"'],
    ["-0.0", '"0.0"'],
    ["1", '"1"'],
    ["1.5", '"1.5"'],
    ["1.50", '"1.50"'],
    ["0.0000001", '"0.0000001"'],
    ["1e-7", '"0.0000001"'],
    ["1E400", '"1e400"'],
    ["12345678901234567890.123456789012345678", '"12345678901234567890.123456789012345678"'],
    ['"1.50"', '"1.50"'],
    ['"-1.5e2"', '"-150"'],
    ['"+1"', '"1"'],
    ['"abc"', '"abc"'],
    ['"NaN"', '"NaN"'],
    ['"Infinity"', '"Infinity"'],
    ['" 1"', '" 1"'],
    ['""', '""'],
    ['"\\udc00"', SURROGATE],
    ["1e99999999999999999999", "1e99999999999999999999"],
    ["true", "true"],
    ["[]", OBJECT],
    ["{}", OBJECT],
  ],
  real: [
    ["0", "0"],
    ["0.0", "0"],
    ["-0.0", "-0"],
    ["-0e9", "-0"],
    ["1.5", "1.5"],
    ["1.50", "1.5"],
    ["1e3", "1000"],
    ["1e21", "1e+21"],
    ["1e-7", "1e-7"],
    ["0.0000001", "1e-7"],
    ["0.1", "0.1"],
    ["0.1000000000000000055", "0.1000000000000000055"],
    ["9007199254740992", "9007199254740992"],
    ["9007199254740993", "9007199254740993"],
    ["1e400", "1e400"],
    ["1e-400", "1e-400"],
    ["-1e-400", "-1e-400"],
    ['"1.5"', '"1.5"'],
    ['"abc"', '"abc"'],
    ['"\\ud83d"', SURROGATE],
    ["true", "true"],
    ["[1]", OBJECT],
    ["{}", OBJECT],
  ],
  boolean: [
    ["true", "true"],
    ["false", "false"],
    ['"true"', "true"],
    ['"TRUE"', "true"],
    ['"1"', "true"],
    ['"yes"', "true"],
    ['"Yes"', "true"],
    ['"false"', "false"],
    ['"0"', "false"],
    ['"no"', "false"],
    ['"on"', "false"],
    ['"y"', "false"],
    ['" true"', "false"],
    ['"true\\n"', "false"],
    ['"ye\\u017f"', "false"],
    ['"\\ud83d"', SURROGATE],
    ['""', "false"],
    ["0", "false"],
    ["-0", "false"],
    ["0.00", "false"],
    ["0e5", "false"],
    ["1", "true"],
    ["-1", "true"],
    ["0.5", "true"],
    ["0.10", "true"],
    ["1e-999", "true"],
    ["10.0", "true"],
    ["9007199254740993", "true"],
    ["[]", "false"],
    ["[0]", "true"],
    ["[null]", "true"],
    ["{}", "false"],
    ['{"a":null}', "true"],
    ['{"__proto__":1}', "true"],
  ],
  datetime: [
    ['"2024-02-03T04:05:06Z"', '"2024-02-03T04:05:06Z"'],
    ['"2024-02-03 05:05:06.1234567+01:00"', '"2024-02-03T04:05:06.123456Z"'],
    ['"2024-02-03"', '"2024-02-03T00:00:00Z"'],
    ['"2024-02-30"', '"2024-02-30"'],
    ['"2024-02-03T05:05:06 01:00"', '"2024-02-03T05:05:06 01:00"'],
    ['"yesterday"', '"yesterday"'],
    ['""', '""'],
    ['"\\ud83d"', SURROGATE],
    ["1706933106", "1706933106"],
    ["1706933106.50", "1706933106.50"],
    ["true", "true"],
    ["[]", OBJECT],
    ["{}", OBJECT],
  ],
  date: [
    ['"2024-02-03"', '"2024-02-03"'],
    ['"2024-02-03T23:59:59-08:00"', '"2024-02-03"'],
    ['"2024-02-03 00:00:01+09:00"', '"2024-02-03"'],
    ['"2024-02-30"', '"2024-02-30"'],
    ['"03.02.2024"', '"03.02.2024"'],
    ['"2024-02-03T25:00"', '"2024-02-03T25:00"'],
    ['""', '""'],
    ['"\\ud83d"', SURROGATE],
    ["20240203", "20240203"],
    ["false", "false"],
    ["[]", OBJECT],
    ["{}", OBJECT],
  ],
  json: [
    ["true", "true"],
    ["0", "0"],
    ["-0", "-0"],
    ["1.50", "1.50"],
    ["1e400", "1e400"],
    ["9007199254740993", "9007199254740993"],
    ['"2024-02-03 04:05:06"', '"2024-02-03 04:05:06"'],
    ['"\\ud83d"', SURROGATE],
    ["[]", "[]"],
    ['[null,1.0,"a",[],{}]', '[null,1.0,"a",[],{}]'],
    ['["\\ud83d"]', SURROGATE],
    ["{}", "{}"],
    ['{"b":1.0,"a":{"c":[true]}}', '{"b":1.0,"a":{"c":[true]}}'],
    ['{"a":{"b":"\\udc00"}}', SURROGATE],
    ['{"\\ud83d":1}', SURROGATE],
    ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":1},"constructor":2}'],
  ],
};

/** The rule that says how a column type is shown. */
const SHOWN: Record<ColumnType, string> = {
  text: "D-3.3.7",
  integer: "D-3.3.5",
  bigint: "D-3.3.4",
  numeric: "D-3.3.4",
  real: "D-3.3.5",
  boolean: "D-3.3.8",
  datetime: "D-3.3.2",
  date: "D-3.3.3",
  json: "D-3.3.6",
};
/** The rule that makes a record fail. */
const REFUSED = new Map([
  [OBJECT, "D-3.3.11"],
  [SURROGATE, "D-3.3.12"],
  [BEYOND, "D-3.3.13"],
]);

for (const [name, conversions] of Object.entries(CONVERSIONS)) {
  const type = name as ColumnType;
  describe(`convertValue() of type ${type}`, () => {
    const column = makeColumn({ type });

    test(`S-4.2.8 convertValue() keeps null in a column of type ${type}`, () => {
      expect(convert(column, "null")).toBe("null");
    });

    test(`D-2.2.3 convertValue() refuses null where a column of type ${type} may not be null`, () => {
      const required = makeColumn({ type, nullable: false });
      expect(convert(required, "null")).toBe("fails: must not be null");
    });

    test.each(
      conversions.map(([pushed, pulled]) => [REFUSED.get(pulled) ?? SHOWN[type], pushed, pulled]),
    )(
      `S-4.2.8, %s convertValue() in a column of type ${type} makes of %p %p`,
      (_, pushed, pulled) => {
        expect(convert(column, pushed ?? "")).toBe(pulled ?? "");
      },
    );
  });
}

describe("convertValue()", () => {
  test("S-4.2.8 every column type has conversions for every kind of JSON value", () => {
    for (const [type, conversions] of Object.entries(CONVERSIONS)) {
      const kinds = new Set(conversions.map(([pushed]) => kindOf(pushed)));
      expect([type, [...kinds].sort()]).toEqual([
        type,
        ["array", "boolean", "number", "object", "string"],
      ]);
    }
  });

  test.each([
    ["12", '"12"'],
    ['"12"', '"12"'],
    ['"0012.00"', '"12"'],
    ["1e3", '"1000"'],
    ["-0", '"0"'],
    ["9223372036854775807", '"9223372036854775807"'],
    ["-9223372036854775807", '"-9223372036854775807"'],
    ["9223372036854775808", NO_KEY_NUMBER],
    ["-9223372036854775808", NO_KEY_NUMBER],
    ['"1.5"', NO_KEY_NUMBER],
    ['"abc"', NO_KEY_NUMBER],
    ['""', NO_KEY_NUMBER],
    ["true", NO_KEY_NUMBER],
    ["null", NULL_KEY],
  ])("D-2.2.8 convertValue() makes of %p in a bigint key %p", (pushed, value) => {
    expect(convert(makeKeyColumn({ type: "bigint" }), pushed)).toBe(value);
  });

  test.each(["text", "integer", "boolean", "datetime", "date"] as const)(
    "D-3.5.6 convertValue() refuses null in a key column of type %s",
    (type) => {
      expect(convert(makeKeyColumn({ type }), "null")).toBe(NULL_KEY);
    },
  );

  test.each(["text", "integer", "bigint", "numeric", "real", "datetime", "date"] as const)(
    "D-3.3.7 convertValue() leaves in a column of type %s as it came what it cannot convert",
    (type) => {
      const column = makeColumn({ type });
      for (const text of ['"n/a"', '""', '" "', '"2024-02-30"', '"0x10"', "true", "false"]) {
        expect(convert(column, text)).toBe(text);
      }
    },
  );

  test("D-2.2.4 convertValue() counts max_length in code points", () => {
    const column = makeColumn({ type: "text", max_length: 3 });
    const problem = "fails: must not be longer than 3 characters";
    expect(convert(column, '"abc"')).toBe('"abc"');
    expect(convert(column, '"😀😀😀"')).toBe('"😀😀😀"');
    expect(convert(column, '"abcd"')).toBe(problem);
    expect(convert(column, '"😀😀😀😀"')).toBe(problem);
    expect(convert(column, '"ab😀d"')).toBe(problem);
  });

  test("D-3.3.6 convertValue() takes json of 500 levels and no more", () => {
    const column = makeColumn({ type: "json" });
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(convert(column, nested(500))).toBe(nested(500));
    expect(convert(column, nested(501))).toBe("fails: must not be nested deeper than 500 levels");
    expect(convert(column, nested(9_999))).toBe("fails: must not be nested deeper than 500 levels");
    const objects = `${'{"a":'.repeat(501)}1${"}".repeat(501)}`;
    expect(convert(column, objects)).toBe("fails: must not be nested deeper than 500 levels");
  });
});

function kindOf(text: string): string {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? "array" : typeof value;
}
