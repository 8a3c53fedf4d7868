// A row that was pulled and is pushed again must stay as it is, or two deployments would never come to rest.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJson } from "../../../../src/domain/shared/json.ts";
import { convertRecord, convertValue } from "../../../../src/domain/sync/rows/convert.ts";
import { COLUMN_TYPES, KEY_TYPES } from "../../../../src/domain/sync/table/column-types.ts";
import {
  LISTINGS,
  makeColumn,
  makeKeyColumn,
  makeTable,
} from "../../../support/rows/make-table.ts";
import { checkProperty } from "../../../support/seed.ts";

describe("convertValue()", () => {
  test.each(COLUMN_TYPES)(
    "D-3.3 convertValue() leaves what a column of type %s holds as it is",
    (type) => {
      checkIdempotence(makeColumn({ type }));
    },
  );

  test.each(KEY_TYPES)(
    "D-3.3 convertValue() leaves what a key of type %s holds as it is",
    (type) => {
      checkIdempotence(makeKeyColumn({ type }));
    },
  );

  test("D-3.3 convertValue() keeps the value of every number in numeric, bigint and real columns", () => {
    for (const type of ["numeric", "bigint", "real"] as const) {
      const column = makeColumn({ type });
      checkProperty(
        fc.property(numberTexts(), (text) => {
          const converted = convertValue(column, parseJson(text));
          expect(converted).toHaveProperty("value");
          expect(exactValue(valueText(converted))).toBe(exactValue(text));
        }),
        500,
      );
    }
  });

  test("D-3.3.5 convertValue() keeps the value of every number in an integer column or refuses it", () => {
    const column = makeColumn({ type: "integer" });
    checkProperty(
      fc.property(numberTexts(), (text) => {
        const converted = convertValue(column, parseJson(text));
        const value = exactValue(text);
        const isRefused = /^-?\d+$/.test(value) && BigInt(value) ** 2n >= 2n ** 126n;
        expect("problem" in converted).toBe(isRefused);
        if (!isRefused) expect(exactValue(valueText(converted))).toBe(value);
      }),
      500,
    );
  });
});

test("D-3.3 convertRecord() leaves a row as it is that was pulled and is pushed again", () => {
  const table = makeTable(LISTINGS, "listings");
  const optional = fc.option(values());
  const record = fc.record({
    shop: fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
    sku: fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
    price: optional,
    views: optional,
    active: optional,
    listed_on: optional,
    updated_at: optional,
    extra: optional,
  });
  checkProperty(
    fc.property(record, (members) => {
      const once = convertRecord(table, parseJson(objectText(members))).row;
      if (once === null) return;
      const pulled = JSON.stringify(once);
      expect(JSON.stringify(convertRecord(table, parseJson(pulled)).row)).toBe(pulled);
    }),
    1000,
  );
});

/** Converts values, writes the values as a pull page does, reads them as a push does, and converts them again. */
function checkIdempotence(column: ReturnType<typeof makeColumn>): void {
  checkProperty(
    fc.property(values(), (text) => {
      const once = convertValue(column, parseJson(text));
      if ("problem" in once) return;
      const pulled = JSON.stringify(once.value);
      const again = convertValue(column, parseJson(pulled));
      expect(again).toHaveProperty("value");
      expect(valueText(again)).toBe(pulled);
    }),
    2000,
  );
}

function valueText(converted: ReturnType<typeof convertValue>): string {
  return "value" in converted ? JSON.stringify(converted.value) : `fails: ${converted.problem}`;
}

/** JSON texts of every kind, most of them near what some column type looks for. */
function values(): fc.Arbitrary<string> {
  const asText = (text: string) => JSON.stringify(text);
  return fc.oneof(
    numberTexts(),
    numberTexts().map(asText),
    fc.constantFrom("null", "true", "false", "[]", "{}", '"true"', '"Yes"', '"0"', '""'),
    timeTexts().map(asText),
    fc.string({ unit: "binary" }).map(asText),
    fc.stringMatching(/^[+-]?\d{0,3}\.?\d{0,3}([eE][+-]?\d{0,3})?$/).map(asText),
    fc.json({ maxDepth: 3 }),
    numberTexts().map((text) => `{"a":[${text}]}`),
  );
}

function numberTexts(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,25})?([eE][+-]?\d{1,3})?$/),
    fc.stringMatching(/^-?(0|[1-9]\d?)(\.0{0,9}\d)?([eE][+-]?\d{1,2})?$/),
    fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
    fc.constantFrom(-1n, 0n, 1n).map((n) => String(2n ** 63n + n)),
    fc.constantFrom(-1n, 0n, 1n).map((n) => String(-(2n ** 53n) + n)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
    fc.tuple(fc.nat(999), fc.integer({ min: -500, max: 500 })).map(([n, e]) => `${n}e${e}`),
  );
}

function timeTexts(): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.stringMatching(/^(0001|1969|2024|9999)-(01|02|12)-(01|29|31)$/),
      fc.stringMatching(/^([T ][012][0-9]:[0-5][0-9](:[0-5][0-9](\.\d{1,9})?)?)?$/),
      fc.stringMatching(/^(Z|[+-][012][0-9]:?[0-5][0-9])?$/),
    )
    .map((parts) => parts.join(""));
}

function objectText(members: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(members).filter(([, text]) => text !== null);
  return `{${given.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
}

/** The exact value of a number's text, in one spelling: whole numbers as such, others with a power of ten. */
function exactValue(text: string): string {
  const [mantissa = "", power = "0"] = text.replaceAll('"', "").toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  let digits = BigInt(whole + fraction);
  let tens = Number(power) - fraction.length;
  if (digits === 0n) return "0";
  while (tens < 0 && digits % 10n === 0n) {
    digits /= 10n;
    tens++;
  }
  return tens < 0 ? `${digits}e${tens}` : `${digits * 10n ** BigInt(tens)}`;
}
