import { expect, test } from "bun:test";
import fc from "fast-check";
import { type JsonValue, parseJson } from "../../../src/domain/shared/json.ts";
import { PageSize } from "../../../src/domain/sync/rows/page-size.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { checkProperty } from "../../support/seed.ts";

/** The first rows whose list has at most so many bytes, found by writing each list. */
function firstRows(rows: readonly Row[], maxBytes: number): number {
  let count = Math.min(1, rows.length);
  while (count < rows.length) {
    if (Buffer.byteLength(JSON.stringify(rows.slice(0, count + 1))) > maxBytes) break;
    count++;
  }
  return count;
}

function takenRows(rows: readonly Row[], maxBytes: number): number {
  const size = new PageSize(maxBytes);
  const end = rows.findIndex((row) => !size.takes(row));
  return end === -1 ? rows.length : end;
}

const value = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom<JsonValue>(null, true, false, 0, -1.5e-7, 1.7976931348623157e308, '\u0000\\"'),
  fc.constantFrom("[1.10,12345678901234567890]", "9".repeat(80)).map(parseJson),
  fc.array(fc.string({ unit: "binary" }), { maxLength: 5 }),
);

test("D-7.9 PageSize takes as many rows as fit the bytes of JSON, and one at least", () => {
  const rows = fc.array(fc.dictionary(fc.constantFrom("a", "name", "updated_at"), value));
  checkProperty(
    fc.property(rows, fc.integer({ min: 0, max: 1500 }), (all, maxBytes) => {
      expect(takenRows(all as Row[], maxBytes)).toBe(firstRows(all as Row[], maxBytes));
    }),
  );
});

test.each(["a", "é", "€", "\u0000", "🦊", '"'])("D-7.9 PageSize counts the bytes of %j", (text) => {
  const row = { k: text.repeat(1000) };
  const rowBytes = Buffer.byteLength(JSON.stringify(row));
  const rows = Array.from({ length: 5 }, () => row);
  expect(takenRows(rows, 1 + 3 * (rowBytes + 1))).toBe(3);
  expect(takenRows(rows, 3 * (rowBytes + 1))).toBe(2);
});

test("D-11.2.4 PageSize takes rows with 2,000,000 values at most, and one at least", () => {
  const rowOf = (values: number): Row => ({
    k: "a",
    list: Array.from({ length: values - 3 }, () => 0),
  });
  const rows = Array.from({ length: 9 }, () => rowOf(300_000));
  expect(takenRows(rows, 1e9)).toBe(6);
  expect(takenRows([rowOf(2_100_000), rowOf(10)], 1e9)).toBe(1);
});
