import { describe, expect, test } from "bun:test";
import { parseJson } from "../../../src/domain/shared/json.ts";
import { cutText } from "../../../src/domain/shared/text.ts";
import {
  commitFailedResult,
  pushedResult,
  type RecordFailure,
} from "../../../src/domain/sync/rows/push-result.ts";
import { LISTINGS, makeTable } from "../../support/rows/make-table.ts";

const listings = makeTable(LISTINGS, "listings");

/** The result of pushing these records, given as JSON text. */
function pushed(recordsText: string, failures: readonly RecordFailure[]) {
  const records = parseJson(recordsText);
  if (!Array.isArray(records)) throw new Error("not an array");
  return pushedResult(listings, { records, failures, integrity: "no_checksum" });
}

describe("pushedResult()", () => {
  test("S-2.4, D-3.6.1, D-3.6.2 pushedResult() lists what failed and counts the others", () => {
    const records = '[{"shop":"a","sku":"1"},{"shop":"a","sku":"2"},{"shop":"a","sku":"3"}]';
    const failures = [
      { index: 2, message: "price must not be null" },
      { index: 0, message: "Value refused" },
    ];
    expect(JSON.stringify(pushed(records, failures))).toBe(
      '{"table":"listings","received":3,"upserted":1,"integrity":"no_checksum","errors":' +
        '["shop=a, sku=1: Value refused","shop=a, sku=3: price must not be null"],"errorCount":2}',
    );
  });

  test("S-2.4, S-8.5 pushedResult() cuts each message to 100 characters", () => {
    const records = '[{"shop":"a","sku":"1"}]';
    const [error] = pushed(records, [{ index: 0, message: "x".repeat(101) }]).errors ?? [];
    expect(error).toBe(`shop=a, sku=1: ${"x".repeat(100)}`);
  });

  test.each([
    ['{"sku":"1"}', "shop=null, sku=1: m"],
    ['{"shop":null,"sku":"1"}', "shop=null, sku=1: m"],
    ['{"shop":"","sku":12}', "shop=, sku=12: m"],
    ['{"shop":1.50,"sku":9007199254740993}', "shop=1.50, sku=9007199254740993: m"],
    ['{"shop":true,"sku":false}', "shop=true, sku=false: m"],
    ['{"shop":[1],"sku":{"a":1}}', "shop=[…], sku={…}: m"],
    ['{"shop":"\\ud83d","sku":"😀"}', "shop=\ufffd, sku=😀: m"],
    ['"text"', "shop=null, sku=null: m"],
    ["null", "shop=null, sku=null: m"],
    ["[1]", "shop=null, sku=null: m"],
    ["1.0", "shop=null, sku=null: m"],
    ['{"__proto__":{"shop":"a","sku":"1"}}', "shop=null, sku=null: m"],
  ])("D-3.6.2 pushedResult() names the key of %p", (record, error) => {
    expect(pushed(`[${record}]`, [{ index: 0, message: "m" }]).errors).toEqual([error]);
  });

  test("D-3.6.2 pushedResult() cuts each key value to 100 characters", () => {
    const record = JSON.stringify({ shop: "é".repeat(101), sku: "😀".repeat(101) });
    expect(pushed(`[${record}]`, [{ index: 0, message: "m" }]).errors).toEqual([
      `shop=${"é".repeat(100)}, sku=${"😀".repeat(100)}: m`,
    ]);
  });

  test("D-3.6.2 pushedResult() names key columns in the order of upsert_key", () => {
    const table = makeTable({
      upsert_key: ["z", "a"],
      columns: { a: { type: "text" }, z: { type: "text" } },
    });
    const push = { records: [{ a: "1", z: "2" }], integrity: "no_checksum" } as const;
    const result = pushedResult(table, { ...push, failures: [{ index: 0, message: "m" }] });
    expect(result.errors).toEqual(["z=2, a=1: m"]);
  });
});

test("S-2.4, S-4.2.11, S-8.6 commitFailedResult() cuts the text to 200 characters", () => {
  expect(JSON.stringify(commitFailedResult(listings, "Disk is full"))).toBe(
    '{"table":"listings","upserted":0,"error":"Disk is full"}',
  );
  expect(commitFailedResult(listings, "x".repeat(201)).error).toBe("x".repeat(200));
});

test("S-8.5 cutText() counts code points and splits none", () => {
  expect(cutText("abc", 3)).toBe("abc");
  expect(cutText("abcd", 3)).toBe("abc");
  expect(cutText("😀😀😀", 3)).toBe("😀😀😀");
  expect(cutText("😀😀😀😀", 3)).toBe("😀😀😀");
  expect(cutText("ab😀cd", 3)).toBe("ab😀");
  expect(cutText("", 3)).toBe("");
});
