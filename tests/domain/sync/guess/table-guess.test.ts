// The key and the timestamp column that a table is guessed to have, and the names of its columns.
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../../src/domain/shared/json.ts";
import {
  type Declaration,
  type GuessedTable,
  type GuessWishes,
  NO_WISHES,
  TableGuess,
} from "../../../../src/domain/sync/guess/table-guess.ts";
import type { ValueForm } from "../../../../src/domain/sync/guess/value-kind.ts";
import { columnNameOf, registryNameOf } from "../../../../src/domain/sync/table/names.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { withStamp } from "../../../support/rows/with-stamp.ts";

interface Options {
  readonly name?: string;
  readonly form?: ValueForm;
  readonly declaration?: Declaration;
  readonly wishes?: Partial<GuessWishes>;
}

function guessOf(records: readonly JsonObject[], options: Options = {}) {
  const { name = "things", form = "field", declaration = null, wishes } = options;
  const guess = new TableGuess(name, form, declaration, { ...NO_WISHES, ...wishes });
  for (const [i, record] of records.entries()) guess.add(record, i + 2);
  return finish(guess);
}

function finish(guess: TableGuess): GuessedTable {
  return countSteps(guess).guessed;
}

function countSteps(guess: TableGuess) {
  const finishing = guess.finish();
  for (let steps = 0; ; steps++) {
    const { done, value } = finishing.next();
    if (done === true) return { steps, guessed: value };
  }
}

/** Records of columns that are written `a b c: 1 2 3; 4 5 6`. */
function rows(text: string): JsonObject[] {
  const [names = "", values = ""] = text.split(": ");
  return values.split("; ").map((row) => {
    const fields = row.split(" ");
    return Object.fromEntries(
      names.split(" ").map((n, i) => [n, fields[i] === "-" ? null : (fields[i] ?? null)]),
    );
  });
}

const keyOf = (text: string, options?: Options) =>
  guessOf(rows(text), options).entry?.upsert_key ?? null;

describe("the key", () => {
  test.each<[records: string, key: readonly string[] | null]>([
    ["name id: a 2; b 1", ["id"]],
    ["name ID: a 2; b 1", ["ID"]],
    ["other_id thing_id: 1 2; 2 1", ["thing_id"]],
    ["name sku: a 2; b 1", ["sku"]],
    ["customerId price: 1 2; 2 3", ["customerId"]],
    ["city land: x 2; y 1", ["city"]],
    ["id v: 1 a; 1 b; 2 a", ["id", "v"]],
    ["shop sku qty: 1 a 7; 1 b 8; 2 a 9", ["shop", "sku"]],
    ["order_id line price: 1 1 5; 1 2 6; 2 1 7", ["order_id", "line"]],
    ["a b c: 1 1 1; 1 1 2; 1 2 1; 2 1 1; 2 2 2; 1 2 2; 2 1 2; 2 2 1", ["a", "b", "c"]],
    [
      "sensor measured_at v: a 2026-01-01T00:00:00Z 1.5; b 2026-01-01T00:00:00Z 1.5; a 2026-01-02T00:00:00Z 1.5",
      ["sensor", "measured_at"],
    ],
    ["id v: 1 a; - b", ["v"]],
    ["price weight: 1.5 2.5; 1.6 2.6", null],
    ["a b: 1 2; 1 2", null],
    ["flag n: true x; false x", null],
  ])("D-10.2 of %s is %j", (records, key) => {
    expect(keyOf(records)).toEqual(key as string[] | null);
  });

  test("D-10.2 names with blanks are read as words", () => {
    const record = { Place: "x", "Thing ID": "1", "Last Modified": "2026-01-01T00:00:00Z" };
    expect(guessOf([record]).entry).toMatchObject({
      upsert_key: ["Thing_ID"],
      timestamp_column: "Last_Modified",
    });
  });

  test("D-10.2 times that are one are no key, in whatever zone they are written", () => {
    const at = "2026-01-01T00:00:00Z";
    expect(keyOf(`at: ${at}; 2026-01-01T01:00:00+01:00`)).toBeNull();
    expect(keyOf(`at: ${at}; 2026-01-01T00:00:01Z`)).toEqual(["at"]);
  });

  test("D-10.2 a declared key is taken, also where its values repeat in no sample", () => {
    const columns = ["a", "b"].map((name) => ({ name, type: "TEXT", isNotNull: false }));
    const declaration = { columns, key: ["b"] };
    const guess = guessOf([], { form: "sqlite", declaration });
    const entry: TableEntry = {
      upsert_key: ["b"],
      columns: { a: { type: "text" }, b: { type: "text", nullable: false } },
    };
    expect(guess.entry).toEqual(withStamp(entry));
    const real = [{ name: "a", type: "REAL", isNotNull: true }];
    expect(
      guessOf([], { form: "sqlite", declaration: { columns: real, key: ["a"] } }).entry,
    ).toBeNull();
  });

  test("D-10.2 memory is bounded: what was not compared any more is told", () => {
    const guess = new TableGuess("things", "json");
    for (let id = 0; id < 1_000_100; id++) guess.add({ id }, id);
    expect(finish(guess).keyReason).toContain("as far as compared: in the first 1,000,000 records");
  });
});

describe("the key of many records", () => {
  test("D-11.1 is looked for in small steps", () => {
    const guess = new TableGuess("things", "json");
    for (let i = 0; i < 20_000; i++) guess.add({ id: i % 19_999, a: i >> 1, b: i % 3 }, i + 1);
    const { steps, guessed } = countSteps(guess);
    expect(guessed.entry?.upsert_key).toEqual(["id", "a"]);
    expect(guessed.warnings).toHaveLength(2);
    // The records are looked at for `id`, for `id` and `a`, and for what is told of `id`; `a` repeats at once.
    expect(steps).toBeGreaterThanOrEqual(3 * 20);
  });
});

describe("what is told of the key", () => {
  const warningsOf = (text: string, options?: Options) => guessOf(rows(text), options).warnings;

  test("D-14.1 a key that values alone suggest is a guess from so many records", () => {
    expect(warningsOf("city land: x 2; y 1")).toEqual([
      "the key city is a guess from 2 records: look at it, or name another",
    ]);
    expect(warningsOf("city land: x 2")).toEqual([
      "the key city is a guess from 1 record: look at it, or name another",
    ]);
    expect(warningsOf("name id: a 2; b 1")).toEqual([]);
  });

  test("D-14.1 a key that would do but for a few lines is told", () => {
    expect(warningsOf("order_id line: 1 1; 1 2; 2 1; 3 1; - 1")).toEqual([
      "order_id would do as the key, but 2 records lack or repeat a value: line 3, 6",
    ]);
    const many = Array.from({ length: 2_000 }, (_, i) => `${i < 15 ? 0 : i} ${i}`).join("; ");
    expect(warningsOf(`id n: ${many}`)).toEqual([
      "the key id, n is a guess from 2,000 records: look at it, or name another",
      "id would do as the key, but 14 records lack or repeat a value: line 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and more",
    ]);
    const most = Array.from({ length: 2_000 }, (_, i) => `${i < 30 ? 0 : i} ${i}`).join("; ");
    expect(warningsOf(`id n: ${most}`)).toHaveLength(1);
  });

  test("D-14.1 a key with an empty value is none, and is told", () => {
    const records = [1, 2, 3, 4, 5].map((n) => ({ id: n === 3 ? "" : `k${n}`, n }));
    const { entry, warnings } = guessOf(records, { form: "json" });
    expect(entry?.upsert_key).toEqual(["n"]);
    expect(warnings).toContain(
      "id would do as the key, but 1 record lacks or repeats a value: line 4",
    );
  });

  test("D-14.1 of a declared key the records are told that lack a part, or have one that another has once it is read", () => {
    const columns = ["v", "id"].map((name) => ({ name, type: "TEXT", isNotNull: false }));
    const declaration = { columns, key: ["id"] };
    const ids = ["2026-01-01T00:00:00Z", null, "2026-01-01 00:00:00", null, "2026-01-02T00:00:00Z"];
    const records = ids.map((id) => ({ v: "x", id }));
    const { entry, keyReason, warnings } = guessOf(records, { form: "sqlite", declaration });
    expect([entry?.upsert_key, keyReason]).toEqual([["id"], "the database declares it"]);
    expect(warnings).toEqual(["id 3 records lack or repeat a value: line 3, 4, 5"]);
  });

  test("D-14.1 without a key, columns of numbers that no key may have are told with the way to take them", () => {
    for (const [text, type] of [
      ["id v: 18446744073709551615 a; 18446744073709551614 a", "numeric"],
      ["id v: 1.0 a; 2.0 a", "numeric"],
    ]) {
      const { entry, warnings } = guessOf(rows(text ?? ""));
      expect([entry, warnings]).toEqual([
        null,
        [`id tells rows apart, but no key may be ${type}: try the type id=text and the key id`],
      ]);
    }
    expect(guessOf(rows("v w: a 1.5; a 2.5")).warnings).toEqual([]);
    expect(guessOf(rows("id v: 1.0 a; 1.0 a")).warnings).toEqual([]);
  });

  test("D-14.1 a key that is named is taken, and the records in its way are told", () => {
    const wishes = { key: ["Order Id", "line"] };
    const record = (id: string | null, line: string) => ({ "Order Id": id, line });
    const guess = guessOf([record("1", "1"), record("1", "1"), record(null, "2")], { wishes });
    expect(guess.entry?.upsert_key).toEqual(["Order_Id", "line"]);
    expect(guess.warnings).toEqual(["Order Id, line 2 records lack or repeat values: line 3, 4"]);
    expect(() => guessOf([record("1", "1")], { wishes: { key: ["x"] } })).toThrow(
      '"things" has no column "x"; it has Order_Id, line',
    );
  });

  test("D-14.1 of a header without records the key is what is named so, else the first", () => {
    const headerOf = (...names: string[]) => {
      const guess = new TableGuess("things", "field");
      guess.declare(names);
      return finish(guess);
    };
    const named: TableEntry = {
      upsert_key: ["thing_id"],
      columns: { a: { type: "text" }, thing_id: { type: "text", nullable: false } },
    };
    expect(headerOf("a", "thing_id").entry).toEqual(withStamp(named));
    const { entry, warnings } = headerOf("a", "b");
    expect([entry?.upsert_key, warnings]).toEqual([
      ["a"],
      ["the key a is a guess from the header alone: look at it, or name another"],
    ]);
  });

  test("D-14.1 numbered rows have the key row", () => {
    const wishes = { files: { number_rows: true }, timestamp: null };
    expect(guessOf(rows("a: 1; 1"), { wishes }).entry).toEqual({
      upsert_key: ["row"],
      import: { number_rows: true },
      columns: { row: { type: "integer", nullable: false }, a: { type: "integer" } },
    });
  });
});

describe("the timestamp column", () => {
  test("D-14.1 why there is none is told with counts", () => {
    const reasonOf = (text: string, wishes?: Partial<GuessWishes>) =>
      guessOf(rows(text), wishes === undefined ? {} : { wishes }).timelessReason;
    expect(reasonOf("id name: 1 a")).toBe("no column is named as the time of a change");
    expect(reasonOf("id updated_at: 1 2026-01-01; 2 soon; 3 2026-01-02; 4 -")).toBe(
      'updated_at is named as a time, but 1 of 3 values is none, the first "soon" in line 3; ' +
        "named as the timestamp it is taken all the same, and an import fails those rows",
    );
    expect(reasonOf("id updated_at: 1 2026-01-01", { timestamp: null })).toBe("you asked for none");
  });

  test("D-14.1 one that is named is taken, with what is in its way", () => {
    const wishes = { timestamp: "seen", types: new Map([["n", "text"]] as const) };
    const guess = guessOf(rows("id seen n: 1 2026-01-01 5; 2 soon 6"), { wishes });
    expect(guess.entry).toMatchObject({
      timestamp_column: "seen",
      columns: { seen: { type: "datetime" }, n: { type: "text" } },
    });
    expect(guess.columns[1]?.misfits).toMatchObject({ count: 1, line: 3 });
  });

  test.each<[records: string, column: string | undefined]>([
    ["id created_at updated_at: 1 2026-01-01T00:00:00Z 2026-01-01T00:00:00Z", "updated_at"],
    ["id lastModified: 1 2026-01-01T00:00:00Z", "lastModified"],
    ["id date_updated: 1 2026-01-01", "date_updated"],
    ["id ts changed_on: 1 2026-01-01T00:00:00Z 2026-01-01", "changed_on"],
    ["id timestamp recorded_at: 1 2026-01-01T00:00:00Z 2026-01-01T00:00:00Z", undefined],
    ["id timestamp modified: 1 2026-01-01T00:00:00Z 2026-01-01T00:00:00Z", "modified"],
    ["id created_at: 1 2026-01-01T00:00:00Z", undefined],
    ["id updated_at: 1 yesterday", undefined],
    ["id updated_at: 1 -", undefined],
  ])("D-10.2 of %s is %j", (records, column) => {
    const entry = guessOf(rows(records)).entry;
    expect(entry?.stamped === true ? undefined : entry?.timestamp_column).toBe(column as string);
  });

  test.each<[fields: string, column: "updated_at" | "changed_at" | null]>([
    ["id name", "updated_at"],
    ["id created_at", "updated_at"],
    ["id Updated_At", "changed_at"],
    ["id changed_at", "updated_at"],
    ["id updated_at changed_at", null],
  ])("D-14.2.7 of %s without times repsync keeps %j", (fields, column) => {
    const text = `${fields}: 1 a b; 2 c d`;
    const asked = guessOf(rows(text), { wishes: { timestamp: null } }).entry;
    expect(asked).not.toHaveProperty("stamped");
    if (asked === null) throw new Error("no key");
    const expected = column === null ? asked : withStamp(asked, column);
    expect(guessOf(rows(text)).entry).toEqual(expected);
  });
});

describe("names", () => {
  test.each([
    ["order_id", "order_id"],
    ["Order Date", "Order_Date"],
    ["  price (€) ", "price"],
    ["Größe", "Gro_e"],
    ["2nd", "_2nd"],
    ["a".repeat(70), "a".repeat(63)],
    ["€", null],
    ["", null],
  ])("D-10.2 %j becomes %j", (text, name) => {
    expect(registryNameOf(text)).toBe(name as string);
  });

  test("D-11.1.1 a name of 100,000 underscores costs no more than reading it", () => {
    const text = `ä${"_".repeat(100_000)}ä`;
    const before = process.cpuUsage();
    expect(registryNameOf(text)).toBe("a".padEnd(63, "_"));
    const { user, system } = process.cpuUsage(before);
    // A pattern that is tried from each of them takes seconds.
    expect((user + system) / 1000).toBeLessThan(300);
  });

  test("D-10.2 reserved names of columns are given up or left out", () => {
    expect(["_id", "__proto__", "repsync_x", "_repsync", "_bsontype"].map(columnNameOf)).toEqual([
      ...["id", "proto__", null, null, "bsontype"],
    ]);
    const wishes = { timestamp: null };
    const guess = guessOf([{ _id: "1", repsync_x: "2", "": "3" }], { wishes });
    expect(Object.keys(guess.entry?.columns ?? {})).toEqual(["id"]);
    expect(guess.leftOut).toEqual(["repsync_x", ""]);
  });

  test("D-14.1 names without Latin letters become column_4, and what the file calls a column is kept", () => {
    const record = { id: "1", "Order Date": "x", größe: "2", 名前: "a" };
    const { entry } = guessOf([record], { wishes: { timestamp: null } });
    expect(Object.keys(entry?.columns ?? {})).toEqual(["id", "Order_Date", "gro_e", "column_4"]);
    expect(entry?.import).toEqual({
      columns: { Order_Date: "Order Date", gro_e: "größe", column_4: "名前" },
    });
  });

  test("D-10.2 two fields that would be one column are a failure, and too many columns", () => {
    expect(() => guessOf([{ "a b": "1", A_B: "2" }])).toThrow(
      '"a b" and "A_B" would be one column, A_B',
    );
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`c${i}`, "1"]));
    expect(() => guessOf([many])).toThrow('"things" has more than 500 columns');
  });
});
