// What an edit by hand becomes, and when it is refused.
import { describe, expect, test } from "bun:test";
import {
  type JsonObject,
  type JsonValue,
  parseJson,
  rawNumber,
} from "../../../../src/domain/shared/json.ts";
import {
  editRefusal,
  isExpected,
  readEdit,
  readKeyByHand,
  stampedEdit,
  withNumbers,
} from "../../../../src/domain/sync/by-hand/row-edit.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { makeTable } from "../../../support/rows/make-table.ts";

const ENTRY: TableEntry = {
  upsert_key: ["sku", "n"],
  timestamp_column: "at",
  columns: {
    id: { type: "integer", auto_increment: true },
    sku: { type: "text", max_length: 3 },
    n: { type: "integer" },
    price: { type: "numeric" },
    name: { type: "text", nullable: false },
    weight: { type: "real" },
    tags: { type: "json" },
    secret: { type: "text", serialize: false },
    at: { type: "datetime" },
  },
};
const TABLE = makeTable(ENTRY);

const READ = {
  ...{ id: 4, sku: "a", n: "9007199254740993", price: "1.50", name: "x", weight: 0.5 },
  ...{ tags: { big: "9007199254740993" }, at: "2026-01-01T00:00:00Z" },
};
const NOW = Date.parse("2026-03-01T12:00:00Z");

function edit(row: JsonObject, expected: JsonObject | null = READ) {
  const { edit: read, problems } = readEdit(TABLE, { row, expected });
  return read === null ? problems.map(({ column, message }) => `${column}: ${message}`) : read;
}

describe("edits by hand", () => {
  const key = { sku: "a", n: rawNumber("9007199254740993") };

  test("D-14.3 only what differs from the row as it was read is changed, numbers may be texts", () => {
    expect(edit({})).toEqual({ key, changes: {} });
    expect(edit({ ...READ, price: "1.5", weight: "0.50" })).toEqual({ key, changes: {} });
    expect(edit({ price: 2, weight: "1e2", tags: [1] })).toEqual({
      key,
      changes: { price: "2", weight: 100, tags: [1] },
    });
    expect(edit({ price: null, at: null, sku: "a" })).toEqual({ key, changes: { price: null } });
    expect(edit({ at: "2026-02-01 10:00" })).toEqual({
      key,
      changes: { at: "2026-02-01T10:00:00Z" },
    });
  });

  test("D-14.3 a new row has null where nothing is given, and its key", () => {
    expect(edit({ sku: "b", n: "7", name: "" }, null)).toEqual({
      key: { sku: "b", n: 7 },
      changes: { price: null, name: "", weight: null, tags: null, secret: null },
    });
    expect(edit({ id: null, sku: "b", price: "x" }, null)).toEqual([
      "n: n is part of the key and must not be missing or null",
      "price: price is not a decimal number",
      "name: name must not be null",
    ]);
  });

  test("D-14.3 what columns refuse is told at once: other keys, numbered and hidden columns, wrong values", () => {
    const wrong = { sku: "b", id: 5, secret: "s", other: 1, price: [], weight: "much", name: null };
    expect(edit(wrong)).toEqual([
      'secret: There is no column "secret"',
      'other: There is no column "other"',
      "id: id is numbered by the store",
      "sku: sku is part of the key and stays as it is",
      "price: price must not be an object or an array",
      "name: name must not be null",
      "weight: weight is not a number",
    ]);
    expect(edit({ weight: rawNumber("1e400") })).toEqual([
      "weight: weight is a number that no double holds",
    ]);
    expect(edit({ sku: "long" }, { ...READ, sku: "long" })).toMatchObject({ key: { sku: "long" } });
    const odd = { ...READ, price: "soon" };
    expect(edit({ ...odd, name: "y" }, odd)).toMatchObject({ changes: { name: "y" } });
    expect(edit({}, { sku: "a" })).toEqual(["sku: The expected row has no key"]);
  });

  test("D-14.3 a row is the expected one by its values as a browser shows them", () => {
    const here = {
      ...{ ...READ, n: rawNumber("9007199254740993"), price: "1.5", secret: "s" },
      tags: parseJson('{"big":9007199254740993}'),
    };
    expect(isExpected(TABLE, here, READ)).toBe(true);
    const { weight: _, ...without } = READ;
    expect(isExpected(TABLE, here, without)).toBe(false);
    for (const change of [
      { n: "9007199254740992" },
      { tags: null },
      { price: null },
      { name: "X" },
    ]) {
      expect(isExpected(TABLE, here, { ...READ, ...change })).toBe(false);
    }
  });

  test("D-14.3 numbers within JSON that were shown as texts stay numbers, and only those", () => {
    const big = rawNumber("9007199254740993");
    const text = "9007199254740993";
    const withTags = (tags: JsonValue, here: JsonValue) =>
      withNumbers(TABLE, { key, changes: { tags } }, { ...READ, tags: here }).changes["tags"];
    expect(withTags({ a: [text, 1], b: text, toString: text }, { a: [big], b: "x" })).toEqual({
      ...{ a: [big, 1], b: text, toString: text },
    });
    expect(withTags([text], { a: big })).toEqual([text]);
    expect(withTags({ a: text }, [big])).toEqual({ a: text });
  });

  test("D-14.3 a column outside update_columns, and what is a profile's owner's, is refused", () => {
    const table = makeTable({ ...ENTRY, update_columns: ["price"] });
    const here = { ...READ, secret: null };
    expect(editRefusal(table, here, { key, changes: { price: "2" } }, null)).toBeNull();
    const refused = editRefusal(table, here, { key, changes: { name: "y" } }, null);
    expect(refused).toBe('Column "name" is not updated, as "update_columns" says');
    expect(editRefusal(table, null, { key, changes: { name: "y" } }, null)).toBeNull();
  });

  test("D-14.3 a row that brings no other time gets one behind what was read", () => {
    const stamp = (here: JsonObject | null, changes: JsonObject, table = TABLE) =>
      stampedEdit(table, here, { key, changes }, NOW)["at"];
    expect(stamp(null, {})).toBe("2026-03-01T12:00:00Z");
    expect(stamp(READ, { name: "y" })).toBe("2026-03-01T12:00:00Z");
    const ahead = { ...READ, at: "2026-03-01T12:04:00Z" };
    expect(stamp(ahead, { name: "y" })).toBe("2026-03-01T12:04:00.000001Z");
    expect(stamp({ ...READ, at: "2026-03-01T12:06:00Z" }, {})).toBe("2026-03-01T12:00:00Z");
    expect(stamp(READ, { at: "2020-01-01T00:00:00Z" })).toBe("2020-01-01T00:00:00Z");
    const kept = makeTable({ ...ENTRY, update_columns: ["price"] });
    expect(stamp(READ, { price: "2" }, kept)).toBeUndefined();
    const days = makeTable({ ...ENTRY, columns: { ...ENTRY.columns, at: { type: "date" } } });
    expect(stamp({ ...READ, at: "2026-03-01" }, {}, days)).toBe("2026-03-01");
    expect(stamp({ ...READ, at: "2026-02-01" }, {}, days)).toBe("2026-03-01");
  });

  test("D-14.3 a key is read as the table keeps it", () => {
    expect(readKeyByHand(TABLE, { sku: "longer", n: "07" })).toEqual({ sku: "longer", n: 7 });
    expect(readKeyByHand(TABLE, { sku: 5, n: "x" })).toEqual({ sku: 5, n: "x" });
    for (const named of [{}, { sku: "a" }, { sku: "a", n: null }, { sku: {}, n: 1 }]) {
      expect(readKeyByHand(TABLE, named)).toBeNull();
    }
  });
});
