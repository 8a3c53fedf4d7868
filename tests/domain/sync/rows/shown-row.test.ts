// Rows as browsers can take them. D-9.5.
import { expect, test } from "bun:test";
import { type JsonObject, parseJson } from "../../../../src/domain/shared/json.ts";
import { shownRow } from "../../../../src/domain/sync/by-hand/shown-rows.ts";

const shown = (text: string, maxChars?: number) =>
  JSON.stringify(shownRow(parseJson(text) as JsonObject, maxChars));

test.each([
  ['{"a":9007199254740991,"b":-9007199254740991}', '{"a":9007199254740991,"b":-9007199254740991}'],
  ['{"a":9007199254740993}', '{"a":"9007199254740993"}'],
  ['{"a":-9223372036854775807}', '{"a":"-9223372036854775807"}'],
  ['{"j":{"x":[1,9007199254740993,{"y":1.50}]}}', '{"j":{"x":[1,"9007199254740993",{"y":1.50}]}}'],
  [
    '{"j":[0.1234567890123456789,1.10,1e2,1e400,1e9999999999999]}',
    '{"j":["0.1234567890123456789",1.10,1e2,"1e400","1e9999999999999"]}',
  ],
  ['{"t":"9007199254740993","n":null,"b":true}', '{"t":"9007199254740993","n":null,"b":true}'],
  ['{"__proto__":{"a":9007199254740993}}', '{"__proto__":{"a":"9007199254740993"}}'],
])("D-9.5.3 %s is shown as %s", (row, expected) => {
  expect(shown(row)).toBe(expected);
});

test("D-9.5.6 long values of a large row are cut, and differ still", () => {
  const long = (end: string) => JSON.stringify({ k: "k", v: `${"x".repeat(10_000)}${end}` });
  const [a, b] = [JSON.parse(shown(long("a"), 1_000)), JSON.parse(shown(long("b"), 1_000))];
  expect(a["k"]).toBe("k");
  expect(a["v"]).toMatch(/^x{500} \(10001 characters, [0-9a-f]{8}\)$/);
  expect(a["v"]).not.toBe(b["v"]);
  const list = { j: Array.from({ length: 1_000 }, (_, n) => n) };
  expect(JSON.parse(shown(JSON.stringify(list), 100))["j"]).toStartWith("[0,1,2,");
  expect(shown('{"k":"k"}', 1_000)).toBe('{"k":"k"}');
});
