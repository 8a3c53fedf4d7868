import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type JsonValue, parseJson } from "../../../src/domain/shared/json.ts";
import { JsonLimitError } from "../../../src/domain/shared/json-gaps.ts";
import { JsonReader } from "../../../src/domain/shared/json-reader.ts";
import { checkProperty } from "../../support/seed.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const decode = (bytes: Uint8Array) => decoder.decode(bytes);

/** The value that the reader makes of a text, in runs of so many bytes; null and the error when it makes none. */
function read(text: string | Uint8Array, runBytes: number): [JsonValue | null, unknown] {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  try {
    const reader = new JsonReader(bytes, { decode, runBytes });
    while (!reader.step());
    return [reader.finish(), null];
  } catch (error) {
    return [null, error];
  }
}

/** What the runtime's parser makes of it. */
function parsed(text: string): string | null {
  try {
    return JSON.stringify(parseJson(text));
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
        (whole, harm, runBytes) => {
          const at = harm === null ? 0 : harm[0] % (whole.length + 1);
          const given = (
            harm === null ? whole : whole.slice(0, at) + harm[2] + whole.slice(at + harm[1])
          ).toWellFormed();
          const [value, error] = read(given, runBytes);
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
  ])("D-7.9.1 JsonReader refuses %s at any size of its runs", (given) => {
    for (let runBytes = 1; runBytes < 12; runBytes++) {
      expect(read(given, runBytes)[1]).toBeInstanceOf(SyntaxError);
    }
  });

  test("D-7.9.1 JsonReader keeps every digit, duplicate names and __proto__", () => {
    const given = '{"a":1.10,"__proto__":[12345678901234567890],"a":[2.50,-0]}';
    for (let runBytes = 1; runBytes < 60; runBytes += 3) {
      const [value] = read(given, runBytes);
      expect(JSON.stringify(value)).toBe('{"a":[2.50,-0],"__proto__":[12345678901234567890]}');
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
  });

  test("D-7.9.1 JsonReader leaves out a byte order mark at the start, and only there", () => {
    expect(read("\ufeff[1,2,3]", 2)[0]).toEqual([1, 2, 3]);
    expect(read(" \ufeff[1,2,3]", 2)[1]).toBeInstanceOf(SyntaxError);
    expect(read('["\ufeffa","\ufeffb\ufeffb"]', 2)[0]).toEqual(["\ufeffa", "\ufeffb\ufeffb"]);
  });

  test("D-7.9.1 JsonReader refuses what is not UTF-8", () => {
    const bytes = new TextEncoder().encode('["aaaa","bbbb"]');
    bytes[3] = 0xff;
    expect(read(bytes, 4)[1]).toBeInstanceOf(TypeError);
    bytes.set([0xc3, 0x22], 3);
    expect(read(bytes, 4)[1]).toBeInstanceOf(Error);
  });

  test("D-7.9.1 JsonReader gives its caller a turn every some hundred kilobytes, whatever the text is", () => {
    const MIB = 1024 * 1024;
    const nested = (count: number, open: string, inner: string) => `${open.repeat(count)}${inner}`;
    const texts = {
      records: `[${'{"name":"some text","n":[1,{"a":null}]},'.repeat(50_000)}0]`,
      text: `["${"x\\n".repeat(MIB)}"]`,
      numbers: `[${"1,".repeat(MIB)}1]`,
      names: `{${Array.from({ length: 100_000 }, (_, i) => `"name-${i}":1`).join()}}`,
      deep: `${nested(12, `[${'"x",'.repeat(60_000)}`, "1")}${"]".repeat(12)}`,
      blanks: `${nested(12, `[${" ".repeat(200_000)}`, "1")}${`]${" ".repeat(200_000)}`.repeat(12)}`,
      blank: `${" ".repeat(MIB)}{${" ".repeat(MIB)}"a"${" ".repeat(MIB)}:${" ".repeat(MIB)}[1${" ".repeat(MIB)},2]}${" ".repeat(MIB)}`,
      keys: `${nested(12, `{"${"k".repeat(200_000)}":`, "1")}${"}".repeat(12)}`,
    };
    for (const [kind, given] of Object.entries(texts)) {
      const lengths: number[] = [];
      const bytes = new TextEncoder().encode(given);
      const counting = (part: Uint8Array) => {
        lengths.push(part.length);
        return decode(part);
      };
      const reader = new JsonReader(bytes, { decode: counting });
      let steps = 1;
      while (!reader.step()) steps++;
      expect([kind, JSON.stringify(reader.finish()) === JSON.stringify(JSON.parse(given))]).toEqual(
        [kind, true],
      );
      expect([kind, Math.max(...lengths) < 1.1 * MIB]).toEqual([kind, true]);
      expect([kind, steps > bytes.length / MIB]).toEqual([kind, true]);
    }
  });

  test.each([
    ["[".repeat(20_000), "is nested too deeply"],
    [`[${"1".repeat(2_000_000)}]`, "has a name or a number of more than 1 MiB"],
    [`{"${"k".repeat(2_000_000)}":1}`, "has a name or a number of more than 1 MiB"],
  ])("D-7.9.1 JsonReader refuses what would have to be parsed whole", (given, message) => {
    expect(read(given, 1000)[1]).toEqual(new JsonLimitError(message));
  });
});
