import { expect, test } from "bun:test";
import { rawNumber } from "../../../src/domain/shared/json.ts";
import { compareKeys, convertKey, keyAsKept } from "../../../src/domain/sync/rows/row-order.ts";
import type { ColumnValue } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/make-table.ts";

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
  expect(shuffled.sort((a, b) => compareKeys(table, [a], [b]))).toEqual(values);
  for (const value of values) expect(compareKeys(table, [value], [value])).toBe(0);
});

test("D-3.1 the first column that differs decides", () => {
  const table = makeTable({
    upsert_key: ["a", "b"],
    columns: { a: { type: "text" }, b: { type: "bigint" } },
  });
  expect(compareKeys(table, ["x", "10"], ["x", "9"])).toBeGreaterThan(0);
  expect(compareKeys(table, ["w", "10"], ["x", "9"])).toBeLessThan(0);
});

test("a record's key is converted as a push converts it; one that cannot be used is null", () => {
  const table = tableBy("bigint");
  expect(convertKey(table, { c: 7 })).toEqual(["7"]);
  expect(convertKey(table, { c: null })).toBe(null);
  expect(convertKey(table, {})).toBe(null);
  expect(keyAsKept(table, { c: 7, other: 1 })).toEqual({ c: "7" });
  expect(keyAsKept(table, { c: {} })).toEqual({ c: {} });
  expect(keyAsKept(table, {})).toEqual({ c: null });
});
