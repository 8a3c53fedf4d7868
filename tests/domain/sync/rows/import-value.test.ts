// What values of a file become, type by type.
import { describe, expect, test } from "bun:test";
import { type JsonValue, parseJson } from "../../../../src/domain/shared/json.ts";
import { importValue } from "../../../../src/domain/sync/rows/import-value.ts";
import { makeTable } from "../../../support/rows/make-table.ts";

const TABLE = makeTable({
  upsert_key: ["sku", "part"],
  timestamp_column: "updated_at",
  columns: {
    sku: { type: "text" },
    part: { type: "boolean" },
    a_text: { type: "text", max_length: 3 },
    an_integer: { type: "integer", nullable: false },
    a_bigint: { type: "bigint" },
    a_numeric: { type: "numeric" },
    a_real: { type: "real" },
    a_boolean: { type: "boolean" },
    a_datetime: { type: "datetime" },
    a_date: { type: "date" },
    a_json: { type: "json" },
    updated_at: { type: "datetime" },
  },
});
const DAY_TABLE = makeTable({
  upsert_key: ["sku"],
  timestamp_column: "day",
  columns: { sku: { type: "text" }, day: { type: "date" } },
});

function read(columnName: string, value: JsonValue, table = TABLE) {
  const column = table.columns.find(({ name }) => name === columnName);
  if (column === undefined) throw new Error(`There is no column ${columnName}`);
  return importValue(table, column, value);
}

describe("values of a file", () => {
  test("D-10.3 booleans are the words of both kinds in any case, and 1 and 0", () => {
    for (const word of [
      "true",
      "TRUE",
      "1",
      "yes",
      "Yes",
      "on",
      "ON",
      "y",
      "Y",
      "t",
      "T",
      true,
      1,
    ]) {
      expect(read("a_boolean", word)).toEqual({ value: true, oddity: null, problem: null });
    }
    for (const word of [
      "false",
      "FALSE",
      "0",
      "no",
      "No",
      "off",
      "Off",
      "n",
      "N",
      "f",
      "F",
      false,
      0,
    ]) {
      expect(read("a_boolean", word)).toEqual({ value: false, oddity: null, problem: null });
    }
    expect(read("a_boolean", parseJson("1.0"))).toMatchObject({ value: true });
    expect(read("a_boolean", null)).toEqual({ value: null, oddity: null, problem: null });
  });

  test.each<[JsonValue]>([
    ["maybe"],
    [""],
    [" "],
    ["yess"],
    ["ja"],
    ["2"],
    [2],
    [-1],
    [0.5],
    [[]],
    [{}],
    [[1]],
    ["true\n"],
  ])("D-10.3 %p is no boolean, and fails", (value) => {
    expect(read("a_boolean", value)).toEqual({
      problem: "is none of true, 1, yes, on, y, t, false, 0, no, off, n, f",
    });
  });

  test.each<[string, JsonValue, JsonValue]>([
    ["a_text", "", ""],
    ["a_text", 5, "5"],
    ["a_text", 1.5, "1.5"],
    ["sku", true, "true"],
    ["an_integer", 7, 7],
    ["an_integer", 1e3, 1000],
    ["a_bigint", "123456789012345678901", "123456789012345678901"],
    ["a_bigint", "+07", "7"],
    ["a_bigint", 5, "5"],
    ["a_numeric", "1e3", "1000"],
    ["a_numeric", "1.10", "1.10"],
    ["a_numeric", 1.5, "1.5"],
    ["a_real", 1.5, 1.5],
    ["a_datetime", "2026-01-31 10:00", "2026-01-31T10:00:00Z"],
    ["a_datetime", "2026-01-31T10:00:00.123456789+02:00", "2026-01-31T08:00:00.123456Z"],
    ["a_datetime", "2026-01-31", "2026-01-31T00:00:00Z"],
    ["a_date", "2026-01-31T23:59:59-05:00", "2026-01-31"],
    ["a_json", "text", "text"],
    ["updated_at", "2026-01-31", "2026-01-31T00:00:00Z"],
    ["updated_at", null, null],
  ])("D-10.3 a %s of %p is %p, without a warning", (name, value, result) => {
    expect(read(name, value)).toEqual({ value: result, oddity: null, problem: null });
  });

  test("D-10.3 numbers that no JavaScript number holds are numbers, without a warning", () => {
    for (const [name, text] of [
      ["a_real", "0.100"],
      ["a_real", "-0"],
      ["a_real", "12345678901234568000000"],
      ["an_integer", "9223372036854775807"],
    ] as const) {
      expect(read(name, parseJson(text))).toMatchObject({ oddity: null, problem: null });
    }
  });

  test.each(["0.12345678901234567890", "0.10000000000000001", "1e400", "9007199254740993"])(
    "D-14.7 a real of %s is odd, as no double holds it",
    (text) => {
      const value = parseJson(text);
      const oddity = "is a number that no double holds";
      expect(read("a_real", value)).toEqual({ value, oddity, problem: null });
    },
  );

  test.each<[string, JsonValue, string]>([
    ["an_integer", 1.5, "is not a whole number"],
    ["an_integer", "7", "is not a whole number"],
    ["an_integer", "1,000", "is not a whole number"],
    ["a_bigint", "1.5", "is not a whole number"],
    ["a_bigint", "x", "is not a whole number"],
    ["a_bigint", true, "is not a whole number"],
    ["a_numeric", "1,5", "is not a decimal number"],
    ["a_numeric", "NaN", "is not a decimal number"],
    ["a_numeric", "", "is not a decimal number"],
    ["a_real", "1.5 kg", "is not a number"],
    ["a_datetime", "01/03/2026", "is not a time such as 2026-01-31T12:00:00Z"],
    ["a_datetime", "2026-02-30T00:00:00Z", "is not a time such as 2026-01-31T12:00:00Z"],
    ["a_datetime", 1767225600, "is not a time such as 2026-01-31T12:00:00Z"],
    ["a_date", "31.01.2026", "is not a date such as 2026-01-31"],
    ["a_date", "2026-13-01", "is not a date such as 2026-01-31"],
  ])("D-10.3 a %s of %p %s, and is written as it came", (name, value, oddity) => {
    expect(read(name, value)).toEqual({ value, oddity, problem: null });
  });

  test.each<[JsonValue]>([["01/03/2026"], ["soon"], [""], [5], [true]])(
    "D-10.3 a timestamp of %p is no time, and fails",
    (value) => {
      expect(read("updated_at", value)).toEqual({
        problem: "is not a time such as 2026-01-31T12:00:00Z, which the timestamp column needs",
      });
      expect(read("day", value, DAY_TABLE)).toEqual({
        problem: "is not a date such as 2026-01-31, which the timestamp column needs",
      });
    },
  );

  test("D-10.3 an empty part of the key fails, and so does whatever a push refuses", () => {
    const isEmpty = { problem: "is part of the key and must not be empty" };
    expect(read("sku", "")).toEqual(isEmpty);
    expect(read("part", "")).toEqual(isEmpty);
    expect(read("sku", " ")).toEqual({ value: " ", oddity: null, problem: null });
    expect(read("sku", null)).toEqual({
      problem: "is part of the key and must not be missing or null",
    });
    expect(read("an_integer", null)).toEqual({ problem: "must not be null" });
    expect(read("a_text", "four")).toEqual({ problem: "must not be longer than 3 characters" });
    expect(read("a_numeric", [1])).toEqual({ problem: "must not be an object or an array" });
  });

  test("D-14.7 what an export marked is taken as it is", () => {
    const exact = (name: string, value: JsonValue) => {
      const column = TABLE.columns.find((one) => one.name === name);
      if (column === undefined) throw new Error(`There is no column ${name}`);
      return importValue(TABLE, column, value, true);
    };
    for (const [name, value] of [
      ...([
        ["a_text", 5],
        ["an_integer", "7"],
        ["a_numeric", "1,5"],
        ["a_numeric", "1e21"],
        ["a_boolean", "yes"],
        ["a_boolean", "maybe"],
        ["sku", ""],
      ] as const),
      ...([
        ["updated_at", "soon"],
        ["a_date", 20260131],
        ["a_datetime", false],
      ] as const),
    ] as const) {
      expect([name, exact(name, value)]).toEqual([name, { value, oddity: null, problem: null }]);
    }
    expect(exact("a_text", "four")).toMatchObject({ problem: expect.stringContaining("longer") });
  });

  test("D-14.1 numbers since 1970 are times where the table's files have such", () => {
    const table = (unit: "seconds" | "milliseconds") =>
      makeTable({
        upsert_key: ["sku"],
        columns: { sku: { type: "text" }, at: { type: "datetime" } },
        import: { epoch: { at: unit } },
      });
    for (const [unit, value, time] of [
      ["seconds", 1767225600, "2026-01-01T00:00:00Z"],
      ["seconds", "1767225600", "2026-01-01T00:00:00Z"],
      ["seconds", -1, "1969-12-31T23:59:59Z"],
      ["milliseconds", 1767225600123, "2026-01-01T00:00:00.123Z"],
      ["milliseconds", "2026-01-01", "2026-01-01T00:00:00Z"],
    ] as const) {
      expect(read("at", value, table(unit))).toEqual({ value: time, oddity: null, problem: null });
    }
    for (const value of [1.5, 1e15, "soon", true]) {
      expect(read("at", value, table("seconds"))).toMatchObject({
        oddity: "is not a time such as 2026-01-31T12:00:00Z",
      });
    }
  });
});
