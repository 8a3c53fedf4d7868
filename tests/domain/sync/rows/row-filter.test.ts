// Which rows a filter by hand finds, by the type of its column.
import { describe, expect, test } from "bun:test";
import { type JsonValue, rawNumber } from "../../../../src/domain/shared/json.ts";
import { readRowFilter } from "../../../../src/domain/sync/by-hand/shown-rows.ts";
import { makeTable } from "../../../support/rows/make-table.ts";

const TABLE = makeTable({
  upsert_key: ["sku"],
  timestamp_column: "updated_at",
  columns: {
    sku: { type: "text" },
    name: { type: "text", max_length: 3 },
    n: { type: "integer" },
    big: { type: "bigint" },
    price: { type: "numeric" },
    weight: { type: "real" },
    sold: { type: "boolean" },
    at: { type: "datetime" },
    day: { type: "date" },
    tags: { type: "json" },
    secret: { type: "text", serialize: false },
    updated_at: { type: "datetime" },
  },
});

/** Those of some values that a filter finds in its column. */
function found(where: string, values: readonly JsonValue[]): JsonValue[] {
  const { filter } = readRowFilter(TABLE, where);
  if (filter === null) throw new Error(`${where} is refused`);
  const [column = ""] = where.split(":");
  return values.filter((value) => filter({ sku: "s", [column]: value }));
}

describe("filters by hand", () => {
  test("D-14.5 a column of texts contains the text, letter case aside, and what is no text is found as it is shown", () => {
    const values = [
      "Maria:Bär",
      "MARIA:BÄR",
      "maría",
      "mar",
      null,
      "",
      12,
      rawNumber("1.20"),
      true,
    ];
    expect(found("name:aria:bä", values)).toEqual(["Maria:Bär", "MARIA:BÄR"]);
    expect(found("name:ß", ["STRASSE", "Straße", "Strase"])).toEqual(["STRASSE", "Straße"]);
    expect(found("name:1", values)).toEqual([12, rawNumber("1.20")]);
    expect(found("name:TRUE", values)).toEqual([true]);
    expect(found("name:", values)).toEqual(values.filter((value) => value !== null));
    expect(found("name:longer than the column", values)).toEqual([]);
  });

  test("D-14.5 a column of any other type equals the text as a value", () => {
    const large = rawNumber("9007199254740993");
    for (const [where, hits, others] of [
      ["n:5", [5], [50, "5", null, true, 5.5]],
      ["n:+005", [5], [null]],
      ["n:9007199254740993", [large], [9007199254740992]],
      ["n:soon", ["soon"], [0, null]],
      ["big:7", ["7"], ["70", null]],
      ["price:1.5", ["1.50", "1.5"], ["1.51", "15", null]],
      ["weight:0.5", [0.5], [5, "0.5"]],
      ["sold:yes", [true], [false, null]],
      ["sold:off", [false], [true, null]],
      ["at:2026-01-01 01:00+01:00", ["2026-01-01T00:00:00Z"], ["2026-01-01T01:00:00Z", null]],
      ["day:2026-01-02T03:04:05Z", ["2026-01-02"], ["2026-01-03", null]],
      ['tags:{"b":1.0,"a":[2]}', [{ a: [2], b: 1 }], [{ a: [2] }, null]],
      ["tags:word", ["word"], [["word"], null]],
    ] as const) {
      const values = [...hits, ...others] as JsonValue[];
      expect([where, found(where, values)]).toEqual([where, [...hits] as JsonValue[]]);
    }
    for (const name of ["n", "big", "price", "weight", "sold", "at", "day", "tags"]) {
      expect(found(`${name}:`, [null, 0, "", false])).toEqual([null]);
    }
  });

  test("D-14.5 what names no column that is shown, or can be in none, is refused", () => {
    for (const where of [
      "sku",
      "",
      ":x",
      "none:1",
      "secret:x",
      "Name:x",
      "sold:maybe",
      "updated_at:now",
    ]) {
      const { filter, problem } = readRowFilter(TABLE, where);
      expect([where, filter, typeof problem]).toEqual([where, null, "string"]);
    }
    expect(readRowFilter(TABLE, "secret:x").problem).not.toContain("secret");
    expect(readRowFilter(TABLE, "sold:maybe").problem).toStartWith("sold is none of true");
  });
});
