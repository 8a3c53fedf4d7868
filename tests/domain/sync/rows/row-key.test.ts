import { expect, test } from "bun:test";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import { compareKeys, convertKey, rowKey } from "../../../../src/domain/sync/rows/row-key.ts";
import type { ColumnValue } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";

function tableBy(type: "text" | "integer" | "bigint" | "boolean" | "datetime" | "date") {
  return makeTable({ upsert_key: ["c"], columns: { c: { type } } });
}

test.each<[Parameters<typeof tableBy>[0], ColumnValue[]]>([
  ["text", ["", "A", "a", "é", "日", "😀", 5]],
  [
    "integer",
    [rawNumber("-9223372036854775807"), -1, 0, 2, 10, rawNumber("9007199254740993"), "2"],
  ],
  ["bigint", ["-20", "3", "10", "9223372036854775807"]],
  ["boolean", [false, true]],
  ["datetime", ["2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000001Z", "2026-03-01T10:00:00.100Z"]],
  ["date", ["2026-02-28", "2026-03-01"]],
])("D-3.1 %s keys are in their order", (type, values) => {
  const table = tableBy(type);
  const shuffled = values.toReversed();
  expect(shuffled.sort((a, b) => compareKeys(table, { c: a }, { c: b }))).toEqual(values);
  for (const value of values) expect(compareKeys(table, { c: value }, { c: value })).toBe(0);
});

test("D-3.1 the first column that differs decides", () => {
  const table = makeTable({
    upsert_key: ["a", "b"],
    columns: { a: { type: "text" }, b: { type: "bigint" } },
  });
  expect(compareKeys(table, { a: "x", b: "10" }, { a: "x", b: "9" })).toBeGreaterThan(0);
  expect(compareKeys(table, { a: "w", b: "10" }, { a: "x", b: "9" })).toBeLessThan(0);
});

test("a record's key is converted as a push converts it; one that cannot be used is null", () => {
  const table = tableBy("bigint");
  expect(convertKey(table, { c: 7 })).toEqual({ c: "7" });
  expect(convertKey(table, { c: null })).toBe(null);
  expect(convertKey(table, {})).toBe(null);
  expect(rowKey(table, { c: 7, other: 1 }).columns).toEqual({ c: "7" });
  expect(rowKey(table, { c: {} }).columns).toEqual({ c: {} });
  expect(rowKey(table, {}).columns).toEqual({ c: null });
});

test("records of one row have the same key text, however they write it; one without a key is not usable", () => {
  const table = tableBy("bigint");
  expect(rowKey(table, { c: "007" }).text).toBe(rowKey(table, { c: 7 }).text);
  expect(rowKey(table, { c: "8" }).text).not.toBe(rowKey(table, { c: 7 }).text);
  expect(rowKey(table, { c: 7 }).isUsable).toBe(true);
  expect(rowKey(table, { c: {} }).isUsable).toBe(false);
  expect(rowKey(table, null).isUsable).toBe(false);
});
