// The types that columns of files are guessed to have.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type JsonValue, parseJson, rawNumber } from "../../../../src/domain/shared/json.ts";
import { ColumnGuess } from "../../../../src/domain/sync/guess/column-guess.ts";
import type { ValueForm } from "../../../../src/domain/sync/guess/value-kind.ts";
import { readCsvField } from "../../../../src/domain/sync/rows/csv-fields.ts";
import { importValue } from "../../../../src/domain/sync/rows/import-value.ts";
import type { ColumnType } from "../../../../src/domain/sync/table/column-types.ts";
import { fileFormOf } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { checkProperty } from "../../../support/seed.ts";

const FORM = fileFormOf();

function guessOf(form: ValueForm, values: readonly JsonValue[], name = "c", declared = "") {
  const guess = new ColumnGuess(name, { form, declared, files: FORM });
  for (const [i, value] of values.entries()) guess.add(value, i + 2);
  return guess;
}

function askedOf(wanted: ColumnType, form: ValueForm, values: readonly JsonValue[]) {
  const guess = new ColumnGuess("c", { form, files: FORM, wanted });
  for (const [i, value] of values.entries()) guess.add(value, i + 2);
  guess.ask();
  return guess;
}

const typeOf = (form: ValueForm, values: readonly JsonValue[], name?: string, declared?: string) =>
  guessOf(form, values, name, declared).type();

describe("fields of a CSV file", () => {
  test.each<[fields: readonly (string | null)[], type: ColumnType]>([
    [["1", "-20", "0"], "integer"],
    [["9007199254740991"], "integer"],
    [["9007199254740992", "1"], "bigint"],
    [["-9223372036854775807"], "bigint"],
    [["9223372036854775808"], "numeric"],
    [["1.50", "2"], "numeric"],
    [["9007199254740993", "0.1"], "numeric"],
    [["0.1234567890123456"], "real"],
    [["6.02e23", "1"], "real"],
    [["1.5e-7", "9007199254740993"], "numeric"],
    [["01234", "56789"], "text"],
    [["+491234"], "text"],
    [["1,50"], "text"],
    [["1", "n/a"], "text"],
    [[" 1"], "text"],
    [["NaN"], "text"],
    [["0", "1"], "integer"],
    [["true", "FALSE"], "boolean"],
    [["true", "true"], "boolean"],
    [["yes", "no"], "boolean"],
    [["Y", "N", "1"], "boolean"],
    [["NO", "NO"], "text"],
    [["m", "f"], "text"],
    [["2026-01-31", "0001-02-28"], "date"],
    [["2026-01-31", "2026-02-30"], "text"],
    [["2026-01-31", "2026-01-31 10:00"], "datetime"],
    [["2026-01-31T10:00:00.123456+02:00"], "datetime"],
    [["31.01.2026"], "text"],
    [["20260131"], "integer"],
    [['{"a": 1}', "[]"], "json"],
    [['{"a": 1}', "1"], "text"],
    [["{a}"], "text"],
    [[null, ""], "text"],
    [[null, "7"], "integer"],
    [['\\"a"', "b"], "text"],
  ])("D-10.2 %j are %s", (fields, type) => {
    expect(typeOf("field", fields)).toBe(type);
  });

  test("D-10.2 0 and 1 are booleans where the name says so", () => {
    for (const name of ["is_new", "isNew", "active", "Verified", "HAS_STOCK"]) {
      expect([name, typeOf("field", ["0", "1"], name)]).toEqual([name, "boolean"]);
    }
    expect(typeOf("field", ["0", "2"], "active")).toBe("integer");
    expect(typeOf("field", ["no"], "deleted")).toBe("boolean");
  });

  test("D-14.1 seconds and milliseconds since 1970 are times where the name says so", () => {
    expect(typeOf("field", ["1767225600"], "seen_at")).toBe("datetime");
    expect(guessOf("json", [1767225600123, "2026-01-01"], "updated").epoch()).toBe("milliseconds");
    expect(typeOf("field", ["1767225600"], "serial")).toBe("integer");
    expect(typeOf("field", ["1767225600", "12"], "seen_at")).toBe("integer");
    expect(typeOf("field", ["1767225600", "1767225600123"], "seen_at")).toBe("integer");
  });

  test("D-14.1 a type that was asked for is taken, and what it does not understand is counted", () => {
    const guess = askedOf("datetime", "field", ["2026-01-31", "soon", "later", null]);
    expect([guess.type(), guess.misfits()]).toEqual([
      "datetime",
      { count: 2, text: '"soon"', line: 3 },
    ]);
    expect(guess.reason(4)).toBe(
      'as asked, but 2 of 3 values are none, the first "soon" in line 3, empty in 1',
    );
  });

  test.each<[ColumnType, ValueForm, readonly JsonValue[], number]>([
    ["bigint", "json", ["5", 6, "x", 1.5], 2],
    ["json", "field", ["true", "1", "x", "[1"], 2],
    ["integer", "field", ['\\"many"', "\\{}", "+7", "7.5"], 2],
    ["datetime", "field", ["1767225600", "1767225601", "1767225600123", "soon"], 2],
    ["datetime", "field", ["12", "2026-01-31"], 1],
    ["real", "field", ["0.10000000000000001", "1e400", "0.100", "x"], 3],
  ])(
    "D-14.1 as %s of %s the values %j have as many misfits as an import",
    (type, form, values, count) => {
      expect(askedOf(type, form, values).misfits()?.count).toBe(count);
    },
  );

  test("D-14.1 a bigint key has misfits beyond 64 bits, another column none", () => {
    const values = ["1", "9223372036854775808"];
    expect(askedOf("bigint", "field", values).misfits()).toBeNull();
    const key = askedOf("bigint", "field", values);
    key.beKey();
    expect(key.misfits()).toMatchObject({ count: 1, line: 3 });
  });

  test("D-10.2 what a guess rests on is told", () => {
    expect(guessOf("field", ["1", null, "n/a", "3"]).reason(4)).toBe(
      '1 of 3 values is no number, the first "n/a" in line 4, empty in 1',
    );
    for (const [fields, reason] of [
      [["31.01.2026"], `dates such as "31.01.2026": name the date format 'DD.MM.YYYY'`],
      [["1.2.2026", "31.12.2026"], `dates such as "1.2.2026": name the date format 'D.M.YYYY'`],
      [
        ["2026/01/31 10:00"],
        `dates such as "2026/01/31 10:00": name the date format 'YYYY/MM/DD HH:mm'`,
      ],
      [["01/31/2026"], `dates such as "01/31/2026": name the date format 'MM/DD/YYYY'`],
      [
        ["01/02/2026"],
        `dates such as "01/02/2026": name the date format 'DD/MM/YYYY' or 'MM/DD/YYYY'`,
      ],
      [["1.234,50", "7"], 'numbers such as "1.234,50": name the decimal sign ,'],
      [["1,234", "12,500", "7"], 'numbers such as "1,234": name the decimal sign , or .'],
      [["1,234", "12,50"], 'numbers such as "1,234": name the decimal sign ,'],
      [["1,234", "1,234.50"], 'numbers such as "1,234": name the decimal sign .'],
      [
        ["2026-01-31", "soon", "2026-02-01"],
        '1 of 3 values is no time, the first "soon" in line 3',
      ],
      [["yes", "no", "maybe"], '1 of 3 values is no boolean, the first "maybe" in line 4'],
    ] as const) {
      expect(guessOf("field", fields).reason(fields.length)).toBe(reason);
    }
    expect(guessOf("field", ["1767225600"], "seen_at").reason(1)).toBe(
      'seconds since 1970, such as "1767225600"',
    );
    expect(guessOf("field", ["a"]).reason(1)).toBe('such as "a"');
    expect(guessOf("field", [null]).reason(1)).toBe("no values");
  });
});

describe("values of JSON", () => {
  test.each<[json: string, type: ColumnType]>([
    ["[1, 0]", "integer"],
    ["[9007199254740993]", "bigint"],
    ["[12345678901234567890]", "numeric"],
    ["[1.5, 2]", "numeric"],
    ["[0.30000000000000004]", "real"],
    ["[true, false]", "boolean"],
    ["[true, 1]", "json"],
    ['["2026-01-31"]', "date"],
    ['["2026-01-31T10:00:00Z", null]', "datetime"],
    ['["12.50", "7.00"]', "numeric"],
    ['["12.50", 7]', "numeric"],
    ['["1250", "7"]', "text"],
    ['["true"]', "text"],
    ['["a", 1]', "text"],
    ['["a", true]', "text"],
    ['["2026-01-31", 1]', "text"],
    ["[{}, []]", "json"],
    ['[{}, "a"]', "json"],
  ])("D-10.2 %s is %s", (json, type) => {
    expect(typeOf("json", parseJson(json) as readonly JsonValue[])).toBe(type);
  });
});

describe("values of a SQLite file", () => {
  test.each<[declared: string, values: readonly JsonValue[], type: ColumnType]>([
    ["BOOLEAN", [0, 1], "boolean"],
    ["BOOLEAN", [0, 2], "integer"],
    ["INT", [0, 1], "integer"],
    ["bigint", [5], "bigint"],
    ["DECIMAL(10,2)", [10.5, 11], "numeric"],
    ["REAL", [10, 11], "real"],
    ["", [10.5], "real"],
    ["REAL", [1e16, 0.5], "real"],
    ["REAL", [rawNumber("9007199254740993"), 0.5], "numeric"],
    ["TIMESTAMP", ["2026-01-31 10:00:00"], "datetime"],
    ["TIMESTAMP", [1_700_000_000], "datetime"],
    ["INTEGER", [1_700_000_000], "integer"],
    ["VARCHAR(20)", ["1"], "text"],
    ["", ["a", 1], "text"],
    ["VARCHAR(20)", [], "text"],
    ["DATETIME", [], "datetime"],
    ["DATE", [], "date"],
    ["double precision", [], "real"],
    ["NUMERIC", [], "numeric"],
    ["INTEGER", [], "integer"],
    ["JSON", [], "json"],
    ["Bool", [], "boolean"],
  ])("D-10.2 %s with %j is %s", (declared, values, type) => {
    expect(typeOf("sqlite", values, "c", declared)).toBe(type);
  });
});

describe("what was guessed", () => {
  const field = fc.oneof(
    fc.constantFrom(
      "0",
      "1",
      "007",
      "-0",
      "1.",
      ".5",
      "-.5",
      "1e5",
      "1E-400",
      "yes",
      "no",
      "t",
      "",
    ),
    fc.constantFrom("2026-01-31", "2026-01-31 10:00", "2026-02-30", "{}", "[1", '\\"x"', "\\"),
    fc.integer().map(String),
    fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
    fc.double().map(String),
    fc.string(),
    fc.json(),
    fc.constant(null),
  );
  // A backslash and JSON is how exports mark a value that is not of its column's type.
  const unmarked = (text: string | null) => !/^\\./.test(text ?? "") || text === '\\"x"';
  const sameKind = fc
    .constantFrom(
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.constantFrom("true", "no", "1", "Y", "off"),
      fc.json(),
    )
    .chain((one) => fc.array(fc.oneof(one, fc.constant(null)), { minLength: 1, maxLength: 8 }));

  const isRead = (type: ColumnType, value: JsonValue | undefined) => {
    const table = makeTable({
      upsert_key: ["k"],
      columns: { k: { type: "text" }, c: { type } },
    });
    const column = table.columns[1];
    if (column === undefined) throw new Error("There is a second column");
    return value !== undefined && importValue(table, column, value);
  };

  test("D-10.2, D-10.3 reads every field of a CSV file without a warning", () => {
    const fields = fc.oneof(
      fc.array(field.filter(unmarked), { minLength: 1, maxLength: 8 }),
      sameKind,
    );
    checkProperty(
      fc.property(fields, (texts) => {
        const type = typeOf("field", texts);
        const column = { name: "c", type } as Parameters<typeof readCsvField>[0];
        for (const text of texts) {
          expect(isRead(type, readCsvField(column, text, FORM))).toMatchObject({
            problem: null,
            oddity: null,
          });
        }
      }),
    );
  });

  test("D-10.2, D-10.3 reads every value of a JSON file without a warning", () => {
    const value = fc.jsonValue({ maxDepth: 2 });
    const some = fc.array(fc.oneof(value, fc.constantFrom("1.50", "2026-01-31", true, 7, null)));
    checkProperty(
      fc.property(some, (values) => {
        const read = parseJson(JSON.stringify(values)) as readonly JsonValue[];
        const type = typeOf("json", read);
        for (const one of read) {
          expect(isRead(type, one)).toMatchObject({ problem: null, oddity: null });
        }
      }),
    );
  });
});
