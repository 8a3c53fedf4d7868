// Numbers and times of CSV files as people write them, and that exports write them so.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../../../../src/domain/shared/json.ts";
import {
  csvField,
  readCsvField,
  readFileNumber,
} from "../../../../src/domain/sync/rows/csv-fields.ts";
import { importValue } from "../../../../src/domain/sync/rows/import-value.ts";
import { COLUMN_TYPES, type ColumnType } from "../../../../src/domain/sync/table/column-types.ts";
import type { ImportEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { arbitraryValue } from "../../../contract/tables/table-arbitraries.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { checkProperty } from "../../../support/seed.ts";

describe("numbers of files", () => {
  test.each([
    ["1.234,56", "1234.56"],
    ["-1.234.567", "-1234567"],
    ["1 234,5", "1234.5"],
    ["1\u00a0234\u00a0567,5", "1234567.5"],
    ["1'234,5", "1234.5"],
    ["1234,5", "1234.5"],
    ["+0,5", "+0.5"],
    ["7", "7"],
    ["1,5e3", "1.5e3"],
    ["1.5", null],
    ["1.23,4", null],
    ["1.234 567", null],
    ["12.34.567", null],
    ["1,2,3", null],
    ["n/a", null],
  ])("D-14.1 %p with a decimal comma is %p", (text, number) => {
    expect(readFileNumber(text, ",")).toBe(number);
  });

  test("D-14.1 with a decimal point that is named, commas are between groups", () => {
    expect(readFileNumber("1,234.56", ".")).toBe("1234.56");
    expect(readFileNumber("1,5", ".")).toBe("1,5");
  });
});

/** A table with a column `c` whose files are like this. */
function tableOf(type: ColumnType, entry: ImportEntry) {
  const table = makeTable({
    upsert_key: ["k"],
    columns: { k: { type: "text" }, c: { type } },
    import: entry,
  });
  const column = table.columns[1];
  if (column === undefined) throw new Error("There is a second column");
  return { table, column };
}

describe("fields of files", () => {
  const german = { decimal: ",", date_format: "DD.MM.YYYY HH:mm" } as const;
  test.each<[ColumnType, ImportEntry, string, JsonValue]>([
    ["numeric", german, "1.234,50", "1234.50"],
    ["integer", german, "1.234", 1234],
    ["real", german, "0,5", 0.5],
    ["real", {}, ".5", 0.5],
    ["real", {}, "-007.50", -7.5],
    ["bigint", german, "12 345", "12345"],
    ["date", german, "24.11.2025", "2025-11-24"],
    ["date", german, "2025-11-24", "2025-11-24"],
    ["datetime", german, "24.11.2025 10:30", "2025-11-24T10:30:00Z"],
    ["datetime", german, "24.11.2025", "2025-11-24T00:00:00Z"],
    ["datetime", { epoch: { c: "seconds" } }, "1767225600", "2026-01-01T00:00:00Z"],
    ["text", german, "1.234,50", "1.234,50"],
  ])("D-14.1 a %s of files like %j reads %p as %p", (type, entry, field, value) => {
    const { table, column } = tableOf(type, entry);
    const read = readCsvField(column, field, table.files) ?? null;
    expect(importValue(table, column, read)).toEqual({ value, oddity: null, problem: null });
  });

  test.each<[ColumnType, ImportEntry, JsonValue, string]>([
    ["numeric", german, "1234.50", "1234,50"],
    ["numeric", german, "soon", '\\"soon"'],
    ["integer", german, 5, "5"],
    ["real", german, 0.5, "0,5"],
    ["datetime", german, "2025-11-24T10:30:00Z", "24.11.2025 10:30"],
    ["datetime", german, "2025-11-24T10:30:01Z", "2025-11-24T10:30:01Z"],
    ["date", german, "2025-11-24", "24.11.2025"],
    ["date", { date_format: "YYYY-DD-MM" }, "2025-01-02", "2025-02-01"],
    ["datetime", { date_format: "YYYY-DD-MM" }, "2025-01-02T10:00:00Z", "2025-01-02T10:00:00Z"],
    ["datetime", { epoch: { c: "seconds" } }, "2026-01-01T00:00:00Z", "1767225600"],
    [
      "datetime",
      { epoch: { c: "seconds" } },
      "2026-01-01T00:00:00.500Z",
      "2026-01-01T00:00:00.500Z",
    ],
    ["numeric", {}, "007", '\\"007"'],
    ["text", {}, 5, "\\5"],
  ])("D-14.1, D-14.7 a %s of files like %j writes %p as %p", (type, entry, value, field) => {
    const { table, column } = tableOf(type, entry);
    expect(csvField(column, value, table.files)).toBe(field);
  });

  test("D-14.7 a whole number in another form than the key's is written as JSON", () => {
    const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "bigint" } } });
    const [k] = table.keyColumns;
    if (k === undefined) throw new Error("There is a key");
    expect(csvField(k, "007", table.files)).toBe('\\"007"');
    expect(csvField(k, "7", table.files)).toBe("7");
  });

  test("D-14.1, D-14.7 what is written in any form is read as the same value", () => {
    const form = fc.record({
      decimal: fc.constantFrom("," as const, "." as const),
      date_format: fc.constantFrom("DD.MM.YYYY", "YYYY-DD-MM HH:mm", "M/D/YYYY H:mm:ss"),
      epoch: fc.constantFrom({}, { c: "seconds" as const }, { c: "milliseconds" as const }),
    });
    const values = fc
      .constantFrom(...COLUMN_TYPES)
      .chain((type) => fc.tuple(fc.constant(type), arbitraryValue(type)));
    checkProperty(
      fc.property(form, values, ({ epoch, ...rest }, [type, value]) => {
        const { table, column } = tableOf(type, type === "datetime" ? { ...rest, epoch } : rest);
        const made = importValue(table, column, value, true);
        if ("value" in made === false) return;
        const field = csvField(column, made.value, table.files);
        if (field?.startsWith("\\")) return;
        const read = readCsvField(column, field, table.files);
        expect(read === undefined ? read : importValue(table, column, read)).toEqual({
          ...{ value: made.value, oddity: null, problem: null },
        });
      }),
    );
  });
});
