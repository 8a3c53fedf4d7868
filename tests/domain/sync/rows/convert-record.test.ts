import { describe, expect, test } from "bun:test";
import { type JsonObject, parseJson } from "../../../../src/domain/shared/json.ts";
import {
  convertPulled,
  convertRecord,
  placeOfRefused,
} from "../../../../src/domain/sync/rows/convert.ts";
import { recordKey } from "../../../../src/domain/sync/rows/row-key.ts";
import { LISTINGS, makeTable } from "../../../support/rows/make-table.ts";

describe("convertRecord()", () => {
  const listings = makeTable(LISTINGS, "listings");

  function convertText(text: string, table = listings): string {
    const { row, problem } = convertRecord(table, parseJson(text));
    return row === null ? `fails: ${problem}` : JSON.stringify(row);
  }

  test("S-4.2.7 convertRecord() takes the push columns, nulls for missing ones, and nothing else", () => {
    expect(
      convertText('{"sku":"1","shop":"a","id":7,"price":1.50,"other":[1],"active":"yes"}'),
    ).toBe(
      '{"shop":"a","sku":"1","price":"1.50","views":null,"active":true,"listed_on":null,' +
        '"updated_at":null,"extra":null}',
    );
  });

  test("D-2.2.5 convertRecord() leaves out a missing column with serialize: false, and only then", () => {
    expect(convertText('{"shop":"a","sku":"1"}')).not.toContain("secret");
    expect(convertText('{"shop":"a","sku":"1","secret":null}')).toContain('"secret":null');
    expect(convertText('{"shop":"a","sku":"1","secret":"x"}')).toContain('"secret":"x"');
  });

  test("S-4.2.7 convertRecord() takes id when it is part of the upsert key", () => {
    const table = makeTable({
      upsert_key: ["id"],
      columns: { id: { type: "integer", auto_increment: true }, name: { type: "text" } },
    });
    expect(convertText('{"id":7,"name":"a"}', table)).toBe('{"id":7,"name":"a"}');
    expect(convertText('{"name":"a"}', table)).toBe(
      "fails: id is part of the key and must not be missing or null",
    );
  });

  test("S-4.2.7 convertRecord() takes an id that does not count itself", () => {
    const table = makeTable({
      upsert_key: ["name"],
      columns: { id: { type: "integer" }, name: { type: "text" } },
    });
    expect(convertText('{"id":7,"name":"a"}', table)).toBe('{"id":7,"name":"a"}');
  });

  test.each(["null", "true", "1", "1.0", '"a"', "[]", '[{"shop":"a","sku":"1"}]'])(
    "D-3.5.5 convertRecord() refuses %p, which is not an object",
    (text) => {
      expect(convertText(text)).toBe("fails: record is not an object");
    },
  );

  test.each([
    ["{}", "fails: shop is part of the key and must not be missing or null"],
    ['{"shop":"a"}', "fails: sku is part of the key and must not be missing or null"],
    ['{"shop":"a","sku":null}', "fails: sku is part of the key and must not be missing or null"],
    ['{"shop":"a","sku":["1"]}', "fails: sku must not be an object or an array"],
    ['{"shop":"a","sku":"1","price":{}}', "fails: price must not be an object or an array"],
    ['{"shop":"\\ud83d","sku":"1"}', "fails: shop must not hold a lone surrogate"],
  ])("D-3.5.6 convertRecord() names the column that makes %p fail", (text, problem) => {
    expect(convertText(text)).toBe(problem);
  });

  test("D-2.2.3 convertRecord() refuses a record without a column that may not be null", () => {
    const table = makeTable({
      upsert_key: ["k"],
      columns: { k: { type: "text" }, name: { type: "text", nullable: false } },
    });
    expect(convertText('{"k":"a"}', table)).toBe("fails: name must not be null");
    expect(convertText('{"k":"a","name":""}', table)).toBe('{"k":"a","name":""}');
  });

  test("S-4.2.7 convertRecord() reads own members only, whatever they are called", () => {
    const names = ["k", "constructor", "toString"];
    const columns = Object.fromEntries(names.map((name) => [name, { type: "json" } as const]));
    const table = makeTable({ upsert_key: ["k"], columns: { ...columns, k: { type: "text" } } });
    expect(convertText('{"k":"a"}', table)).toBe('{"k":"a","constructor":null,"toString":null}');
    expect(convertText('{"k":"a","constructor":"c","toString":{"a":1}}', table)).toBe(
      '{"k":"a","constructor":"c","toString":{"a":1}}',
    );
    expect(convertText('{"__proto__":{"k":"a"}}', table)).toBe(
      "fails: k is part of the key and must not be missing or null",
    );
  });
});

test("D-7.7 convertPulled() leaves out what the remote did not send, and says which rows that makes impossible", () => {
  const table = makeTable({
    upsert_key: ["k"],
    columns: {
      k: { type: "text" },
      a: { type: "integer" },
      b: { type: "text", nullable: false },
      hidden: { type: "text", serialize: false },
    },
  });
  const pulled = (json: string) => convertPulled(table, parseJson(json));
  expect(pulled('{"k":"x","b":"y"}')).toEqual({
    row: { k: "x", b: "y" },
    problem: null,
  });
  expect(pulled('{"k":"x","a":null,"hidden":"no"}')).toEqual({
    row: { k: "x", a: null },
    refusedIfNew: "b must not be null",
    problem: null,
  });
  expect(pulled('{"k":"x","b":null}')).toEqual({ row: null, problem: "b must not be null" });
  const noKey = "k is part of the key and must not be missing or null";
  expect(pulled('{"b":"y"}')).toEqual({ row: null, problem: noKey });
  expect(pulled("[]")).toEqual({ row: null, problem: "record is not an object" });
});

test("D-7.7 placeOfRefused() keeps key and time, null for no time, and fails without a key or a timestamp column", () => {
  const columns = { k: { type: "text" }, v: { type: "integer" } } as const;
  const at = { type: "date", nullable: false } as const;
  const table = makeTable({
    ...{ timestamp_column: "at", upsert_key: ["k"] },
    columns: { ...columns, at },
  });
  const place = (json: string, of = table) =>
    placeOfRefused(of, parseJson(json) as JsonObject, "Not this");
  for (const [time, value] of [
    ['"2026-01-02"', "2026-01-02"],
    ["null", null],
    ['"soon"', null],
    ["{}", null],
  ] as const) {
    expect(place(`{"k":"x","v":1,"at":${time}}`)).toEqual({
      ...{ row: { k: "x", at: value }, problem: null, refused: "Not this" },
    });
  }
  const failed = { row: null, problem: "Not this" } as const;
  expect(place('{"k":null,"at":"2026-01-02"}')).toEqual(failed);
  expect(place('{"k":"x"}', makeTable({ upsert_key: ["k"], columns }))).toEqual(failed);
});

test("D-3.6.2 recordKey() gives the key as sent, in the order of upsert_key", () => {
  const table = makeTable({
    upsert_key: ["z", "a"],
    columns: { a: { type: "text" }, b: { type: "text" }, z: { type: "integer" } },
  });
  expect(JSON.stringify(recordKey(table, parseJson('{"a":"x","b":"y","z":1.0}')))).toBe(
    '{"z":1.0,"a":"x"}',
  );
  expect(JSON.stringify(recordKey(table, parseJson('{"a":"x"}')))).toBe('{"z":null,"a":"x"}');
  expect(JSON.stringify(recordKey(table, null))).toBe('{"z":null,"a":null}');
});
