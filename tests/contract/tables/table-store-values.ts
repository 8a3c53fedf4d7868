import { describe, expect } from "bun:test";
import fc from "fast-check";
import { type JsonValue, parseJson, rawNumber } from "../../../src/domain/shared/json.ts";
import type { ColumnType } from "../../../src/domain/sync/table/column-types.ts";
import type { ColumnValue } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { checkAsyncProperty } from "../../support/seed.ts";
import { type StoreHarness, storeTests } from "../harness.ts";
import { heldValues } from "../held-values.ts";
import { arbitraryValue } from "./table-arbitraries.ts";
import { TableUnderTest } from "./table-under-test.ts";

/** Values that stores are known to change, by column type. */
const HARD_VALUES: Readonly<Record<ColumnType, readonly ColumnValue[]>> = {
  text: [
    "",
    " ",
    "null",
    "0",
    "1.50",
    "\u0000",
    "a\u0000b\u0000",
    "\ufeffmarked",
    "\ufffe\uffff",
    "e\u0301 is not \u00e9",
    "👩‍👩‍👧‍👦",
    "'; DROP TABLE items; --",
    '"quoted" \\ back\nslash\r\t',
    "2024-01-01T00:00:00.000Z",
    "x".repeat(100_000),
    5,
    1.5,
    rawNumber("1.10"),
    rawNumber("12345678901234567890"),
    true,
    false,
  ],
  integer: [
    0,
    -1,
    9007199254740991,
    -9007199254740991,
    rawNumber("9007199254740992"),
    rawNumber("-9007199254740993"),
    rawNumber("9223372036854775807"),
    rawNumber("-9223372036854775807"),
    1.5,
    rawNumber("1.50"),
    "12",
    "",
    "a\u0000b",
    true,
    false,
  ],
  bigint: [
    "0",
    "-5",
    "9223372036854775808",
    "123456789012345678901234567890",
    "1.50",
    "1e400",
    "abc",
    "",
    "a\u0000b",
    true,
    false,
  ],
  numeric: [
    "0",
    "0.10",
    "-0.000000000000000000000000000001",
    "12345678901234567890.12345678901234567890",
    "1e5000",
    "1.5e-4000",
    "1".repeat(400),
    "NaN",
    "abc",
    "a\u0000b",
    true,
    false,
  ],
  real: [
    0,
    1,
    -1.5,
    0.1,
    1e300,
    -5e-324,
    1.7976931348623157e308,
    9007199254740994,
    1e21,
    rawNumber("1e400"),
    rawNumber("0.1000000000000000055511151231257827"),
    rawNumber("-0"),
    "1.5",
    "abc",
    true,
  ],
  boolean: [true, false],
  datetime: [
    "0001-01-01T00:00:00Z",
    "2024-02-29T23:59:59.999999Z",
    "2024-01-01T00:00:00.001Z",
    "9999-12-31T23:59:59Z",
    "2024-02-30T00:00:00Z",
    "2024-01-01T25:00:00Z",
    "soon",
    "",
    "a\u0000b",
    20240101,
    rawNumber("1.10"),
    true,
  ],
  date: [
    "0001-01-01",
    "2024-02-29",
    "9999-12-31",
    "2023-02-29",
    "20240101",
    "soon",
    "",
    20240101,
    true,
  ],
  json: [
    "",
    "text",
    "\u0000",
    0,
    -1.5,
    rawNumber("-0"),
    rawNumber("1.10"),
    rawNumber("12345678901234567890"),
    true,
    false,
    [],
    {},
    [null, [null], {}],
    { b: 1, a: { "": null } },
    { $set: { "a.b": 1 }, $where: "1", "a\u0000b": 2, "😀": 3, constructor: 4 },
    parseJson('{"__proto__":{"x":1},"2":2,"1":1}') as JsonValue,
    parseJson('[1.0,1E5,-0,0.1,123456789012345678901234567890,{"n":2.50}]'),
    nested(500),
  ],
};

/** Values of every column type come back as they were written. */
export function tableValueTests(harness: StoreHarness): void {
  const it = storeTests(harness);

  describe(`${harness.name}: values`, () => {
    for (const type of Object.keys(HARD_VALUES) as ColumnType[]) {
      it(`D-3.3 a ${type} column gives back the values that were written`, async (storage) => {
        const table = await TableUnderTest.prepare(storage, valueTable(type));
        const values = [...heldValues(harness, type, HARD_VALUES[type]), null];
        await table.write(...values.map((value, n) => ({ n, value })));
        expect(await table.column("value")).toEqual(values);
        expect(JSON.stringify(await table.column("value"))).toBe(JSON.stringify(values));
        await table.write(...values.map((value, n) => ({ n: values.length - n, value })));
        expect((await table.column("value")).slice(1)).toEqual(values.toReversed());
      });

      it(`D-3.3 a ${type} column gives back any value`, async (storage) => {
        const table = await TableUnderTest.prepare(storage, valueTable(type));
        let n = 0;
        await checkAsyncProperty(
          fc.asyncProperty(
            fc.array(arbitraryValue(type), { minLength: 1, maxLength: 50 }),
            async (any) => {
              const values = heldValues(harness, type, any);
              const offsetRows = n;
              await table.write(...values.map((value) => ({ n: n++, value })));
              expect(await table.column("value", { offsetRows })).toEqual(values);
            },
          ),
          harness.options.randomRuns,
        );
      });
    }
  });
}

function valueTable(type: ColumnType) {
  return makeTable({ upsert_key: ["n"], columns: { n: { type: "integer" }, value: { type } } });
}

/** Arrays within arrays, so many levels deep. */
function nested(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}
