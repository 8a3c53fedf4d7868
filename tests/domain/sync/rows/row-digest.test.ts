import { expect, test } from "bun:test";
import { rawNumber } from "../../../../src/domain/shared/json.ts";
import { DigestSum } from "../../../../src/domain/sync/digest/digest-page.ts";
import { keyText, rowText } from "../../../../src/domain/sync/rows/row-key.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { LISTINGS, makeTable } from "../../../support/rows/make-table.ts";

const TABLE = makeTable(LISTINGS);
const ROW: Row = {
  ...{ id: 7, shop: "a", sku: "b", price: "1.50", views: "12", active: true },
  ...{ listed_on: "2026-03-01", updated_at: "2026-03-01T10:00:00Z" },
  ...{ extra: { x: 1, y: [null, "z"] }, secret: "s" },
};

/** Columns by name; every value shows its kind and where it ends; a decimal is its digits and where the point stands. */
const GOLDEN_TEXT = `+{'1:x#1e1;'1:y[~'1:z]}'10:2026-03-01"15e1"'1:a'1:b'20:2026-03-01T10:00:00Z"12e2"`;
const GOLDEN_DIGEST = "a2bedd5eac5b8b0a56b3419ca1d15c2b";

function digestOf(...rows: Row[]) {
  const sum = new DigestSum(TABLE);
  for (const row of rows) sum.add(row);
  return sum.result();
}

test("D-4.10 digests are as they were in the first version: other deployments depend on it", () => {
  expect(digestOf()).toEqual({ count: 0, digest: "00000000000000000000000000000000" });
  expect(rowText(TABLE, ROW)).toBe(GOLDEN_TEXT);
  expect(digestOf(ROW)).toEqual({ count: 1, digest: GOLDEN_DIGEST });
});

test("D-4.10 the order of the rows makes no difference, their number does", () => {
  const other = { ...ROW, sku: "c" };
  expect(digestOf(ROW, other)).toEqual(digestOf(other, ROW));
  expect(digestOf(ROW, ROW).digest).not.toBe(digestOf(ROW).digest);
});

test.each([
  ["the shop", { shop: "A" }],
  ["a null", { price: null }],
  ["an empty text instead of null", { shop: "" }],
  ["a decimal", { price: "1.51" }],
  ["a boolean", { active: false }],
  ["a microsecond", { updated_at: "2026-03-01T10:00:00.000001Z" }],
  ["a value inside json", { extra: { x: 1, y: [null, "Z"] } }],
  ["text in the place of a number", { extra: { x: "1", y: [null, "z"] } }],
  ["values that change places", { shop: "b", sku: "a" }],
])("D-4.10 a row that differs by %s has another digest", (_, changes) => {
  expect(digestOf({ ...ROW, ...changes }).digest).not.toBe(digestOf(ROW).digest);
});

test.each([
  ["zeros at the end of a decimal", { price: "1.5" }],
  ["a decimal with an exponent", { price: "15e-1" }],
  ["the order of json fields", { extra: { y: [null, "z"], x: 1 } }],
  ["how a json number is written", { extra: { x: rawNumber("1.0"), y: [null, "z"] } }],
  ["its own id, which every end numbers itself", { id: 8 }],
  ["a column that is not serialized", { secret: "t" }],
])("D-4.10 a row that differs only by %s has the same digest", (_, changes) => {
  expect(digestOf({ ...ROW, ...changes })).toEqual(digestOf(ROW));
});

test("D-4.10 keys have one text each, whatever their values hold", () => {
  expect(keyText(TABLE, { shop: "a", sku: "bc" })).not.toBe(
    keyText(TABLE, { shop: "ab", sku: "c" }),
  );
  expect(keyText(TABLE, { shop: "'1:a", sku: "" })).not.toBe(
    keyText(TABLE, { shop: "", sku: "'1:a" }),
  );
});

test("D-3.1 numbers in a key that are written differently are two keys, as they are two rows", () => {
  const keyOf = (text: string) => keyText(TABLE, { shop: rawNumber(text), sku: "a" });
  expect(keyOf("1.5")).not.toBe(keyOf("1.50"));
  expect(keyOf("1.50")).toBe(keyOf("1.50"));
});

test("D-4.10 a missing value is null", () => {
  const { price: _, ...without } = ROW;
  expect(digestOf(without)).toEqual(digestOf({ ...ROW, price: null }));
});
