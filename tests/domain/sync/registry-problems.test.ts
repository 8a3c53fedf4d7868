import { describe, expect, test } from "bun:test";
import { COLUMN_TYPES } from "../../../src/domain/sync/table/column-types.ts";
import { readRegistry } from "../../../src/domain/sync/table/registry.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { refused } from "../../support/failures.ts";

const PATTERN = "^[A-Za-z_][A-Za-z0-9_]{0,62}$";
const UNKNOWN = `unknown entry, or a name that does not fit ${PATTERN}`;

/** A table keyed by `k` with a datetime `t`, changed as a test needs it. */
const ITEMS = {
  upsert_key: ["k"],
  columns: { k: { type: "text" }, t: { type: "datetime" }, v: { type: "text" } },
} as const satisfies TableEntry;

function problemsOf(file: unknown): readonly string[] {
  return refused(() => readRegistry(file));
}

function problemsOfTable(change: object): readonly string[] {
  return problemsOf({ tables: { items: { ...ITEMS, ...change } } });
}

/** Those of a table that may be sound. */
function problemsOrNone(entry: object): readonly string[] {
  try {
    readRegistry({ tables: { items: entry } });
    return [];
  } catch {
    return problemsOf({ tables: { items: entry } });
  }
}

function problemsOfColumn(name: string, column: unknown): readonly string[] {
  return problemsOfTable({ columns: { ...ITEMS.columns, [name]: column } });
}

describe("readRegistry()", () => {
  test.each([
    [null, ["the registry: expected object"]],
    [[], ["the registry: expected object"]],
    ["{}", ["the registry: expected object"]],
    [{}, ["/tables: expected required property"]],
    [{ tables: [] }, ["/tables: expected object"]],
    [{ tables: {}, extra: 1 }, [`/extra: ${UNKNOWN}`]],
    [{ tables: { "a b": ITEMS } }, [`/tables/a b: ${UNKNOWN}`]],
    [{ tables: { a: null } }, ["/tables/a: expected object"]],
  ])("D-2.1 readRegistry() says where the structure of %j is wrong", (file, problems) => {
    expect(problemsOf(file)).toEqual(problems);
  });

  test("D-10.2 a mistake in the structure of a table hides no other of that table", () => {
    const columns = { k: { type: "number" }, t: { type: "text" }, K: { type: "text" } };
    const change = { upsert_key: ["k", "id"], timestamp_column: "t", lag_seconds: -1, columns };
    expect(problemsOfTable(change)).toEqual([
      "/tables/items/lag_seconds: expected number to be greater or equal to 0",
      `/tables/items/columns/k/type: must be one of ${COLUMN_TYPES.join(", ")}`,
      'Table "items": timestamp_column "t" must be a column of type datetime or date',
      'Table "items": upsert_key names the unknown column "id"',
      'Table "items": columns "k" and "K" differ only in case',
    ]);
    // Of these nothing can be said while the timestamp column is wrong itself.
    const timeless = { timestamp_column: 1, conflict: "newer", deletes: true, stamped: true };
    expect(problemsOfTable(timeless)).toEqual([
      `/tables/items/timestamp_column: must be one of a name that fits ${PATTERN}, null`,
    ]);
  });

  test.each([
    [{}, "needs a timestamp_column of type datetime"],
    [{ timestamp_column: "d" }, "needs a timestamp_column of type datetime"],
    [{ timestamp_column: "t", upsert_key: ["k", "t"] }, 'sets "t", which cannot be in upsert_key'],
    [{ timestamp_column: "t", update_columns: ["v"] }, 'sets "t", which update_columns leave out'],
    [{ timestamp_column: "t", update_columns: ["v", "t"] }, null],
    [{ timestamp_column: "t", update_columns: [] }, null],
    [{ timestamp_column: "t" }, null],
  ])("D-14.2.5 a stamped table with %j", (change, problem) => {
    const columns = { ...ITEMS.columns, d: { type: "date" } };
    const expected = problem === null ? [] : [`Table "items": stamped: true ${problem}`];
    expect(problemsOrNone({ ...ITEMS, columns, ...change, stamped: true })).toEqual(expected);
  });

  test.each([
    [{}, ['Table "items": deletes: true needs a timestamp_column of type datetime']],
    [
      { timestamp_column: "d" },
      ['Table "items": deletes: true needs a timestamp_column of type datetime'],
    ],
    [{ timestamp_column: "t" }, []],
  ])("D-2.1 a table with deletes and %j", (change, problems) => {
    const columns = { ...ITEMS.columns, d: { type: "date" } };
    expect(problemsOrNone({ ...ITEMS, columns, ...change, deletes: true })).toEqual(problems);
  });

  test.each([
    [{ upsert_key: "k" }, ["/tables/items/upsert_key: expected array"]],
    [
      { upsert_key: [] },
      ["/tables/items/upsert_key: expected array length to be greater or equal to 1"],
    ],
    [
      { upsert_key: ["k", "k"] },
      ["/tables/items/upsert_key: expected array elements to be unique"],
    ],
    [{ upsert_key: ["k "] }, [`/tables/items/upsert_key/0: expected string to match '${PATTERN}'`]],
    [
      { timestamp_column: 1 },
      [`/tables/items/timestamp_column: must be one of a name that fits ${PATTERN}, null`],
    ],
    [
      { timestamp_column: "" },
      [`/tables/items/timestamp_column: must be one of a name that fits ${PATTERN}, null`],
    ],
    [
      { update_columns: "all" },
      ["/tables/items/update_columns: must be one of __all__, a list of names"],
    ],
    [
      { update_columns: null },
      ["/tables/items/update_columns: must be one of __all__, a list of names"],
    ],
    [{ conflict: "older" }, ["/tables/items/conflict: must be one of overwrite, newer"]],
    [
      { lag_seconds: -1 },
      ["/tables/items/lag_seconds: expected number to be greater or equal to 0"],
    ],
    [{ lag_seconds: "60" }, ["/tables/items/lag_seconds: expected number"]],
    [{ columns: {} }, ["/tables/items/columns: expected object to have at least 1 properties"]],
    [{ primary_key: "k" }, [`/tables/items/primary_key: ${UNKNOWN}`]],
  ])(
    "D-2.1 readRegistry() says where the structure of a table with %j is wrong",
    (change, problems) => {
      expect(problemsOfTable(change)).toEqual(problems);
    },
  );

  test.each([
    ["c", "text", ["/tables/items/columns/c: expected object"]],
    ["c", { type: "text", nullable: "no" }, ["/tables/items/columns/c/nullable: expected boolean"]],
    ["c", { type: "text", serialize: 0 }, ["/tables/items/columns/c/serialize: expected boolean"]],
    [
      "c",
      { type: "text", max_length: 1.5 },
      ["/tables/items/columns/c/max_length: expected integer"],
    ],
    [
      "c",
      { type: "text", max_length: 0 },
      ["/tables/items/columns/c/max_length: expected integer to be greater or equal to 1"],
    ],
    ["c", { type: "text", default: "" }, [`/tables/items/columns/c/default: ${UNKNOWN}`]],
    ["9", { type: "text" }, [`/tables/items/columns/9: ${UNKNOWN}`]],
    ["x".repeat(64), { type: "text" }, [`/tables/items/columns/${"x".repeat(64)}: ${UNKNOWN}`]],
    ["é", { type: "text" }, [`/tables/items/columns/é: ${UNKNOWN}`]],
  ])(
    "D-2.1, D-2.2.9 readRegistry() says what is wrong with the column %j: %j",
    (name, column, problems) => {
      expect(problemsOfColumn(name, column)).toEqual(problems);
    },
  );

  test.each(["string", "TEXT", "int", "", null, 1])(
    "D-2.2.2 readRegistry() knows no column type %j",
    (type) => {
      expect(problemsOfColumn("c", { type })).toEqual([
        "/tables/items/columns/c/type: must be one of " +
          "text, integer, bigint, numeric, real, boolean, datetime, date, json",
      ]);
    },
  );

  test("D-2.1, D-2.2.12 a table has at most 500 columns", () => {
    const columnsOf = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`c${i}`, { type: "text" }]));
    expect(problemsOfTable({ upsert_key: ["c0"], columns: columnsOf(500) })).toEqual([]);
    expect(problemsOfTable({ upsert_key: ["c0"], columns: columnsOf(501) })).toEqual([
      "/tables/items/columns: expected object to have no more than 500 properties",
    ]);
  });

  test.each([
    [
      "D-2.2",
      { timestamp_column: "x" },
      'timestamp_column "x" must be a column of type datetime or date',
    ],
    [
      "D-2.2",
      { timestamp_column: "v" },
      'timestamp_column "v" must be a column of type datetime or date',
    ],
    [
      "D-2.2",
      { timestamp_column: "constructor" },
      'timestamp_column "constructor" must be a column of type datetime or date',
    ],
    ["D-2.2.6", { conflict: "newer" }, "conflict: newer needs a timestamp_column"],
    ["D-2.1", { upsert_key: ["x"] }, 'upsert_key names the unknown column "x"'],
    ["D-2.1", { upsert_key: ["toString"] }, 'upsert_key names the unknown column "toString"'],
    ["D-2.2.1", { update_columns: ["x"] }, 'update_columns names the unknown column "x"'],
    [
      "D-2.2.1",
      { update_columns: ["v", "__all__"] },
      'update_columns names the unknown column "__all__"',
    ],
  ])("%s readRegistry() refuses a table with %j: %s", (_rule, change, problem) => {
    expect(problemsOfTable(change)).toEqual([`Table "items": ${problem}`]);
  });

  test("D-2.2.1, D-2.2.11 update_columns cannot name an id that counts itself", () => {
    const columns = { ...ITEMS.columns, id: { type: "integer", auto_increment: true } };
    expect(problemsOfTable({ columns, update_columns: ["id"] })).toEqual([
      'Table "items": update_columns cannot name the auto-incrementing column "id"',
    ]);
  });

  test("D-2.2.5 timestamp and key columns cannot have serialize: false", () => {
    const t = { type: "datetime", serialize: false };
    expect(problemsOfTable({ timestamp_column: "t", columns: { ...ITEMS.columns, t } })).toEqual([
      'Table "items": timestamp_column "t" cannot have serialize: false',
    ]);
    expect(problemsOfColumn("k", { type: "text", serialize: false })).toEqual([
      'Table "items": upsert_key column "k" cannot have serialize: false',
    ]);
  });

  test("D-11.10.4 remote_only may name a column that is hidden here, and no other one", () => {
    const columns = (serialize: boolean) => ({
      k: { type: "text" },
      c: { type: "text", serialize },
    });
    const table = (serialize: boolean) => ({
      items: { upsert_key: ["k"], remote_only: ["c", "elsewhere"], columns: columns(serialize) },
    });
    expect(readRegistry({ tables: table(false) }).get("items")?.remoteOnly).toEqual([
      ...["c", "elsewhere"],
    ]);
    expect(problemsOf({ tables: table(true) })).toEqual([
      'Table "items": remote_only names "c", which is a column here',
    ]);
  });

  test("D-2.2.5 a column with serialize: false must be nullable", () => {
    expect(problemsOfColumn("c", { type: "text", serialize: false, nullable: false })).toEqual([
      'Table "items": column "c" with serialize: false must be nullable, as runs never send it',
    ]);
  });

  test.each(["numeric", "real", "json"])("D-2.2.7 a key column cannot be of type %s", (type) => {
    expect(problemsOfColumn("k", { type })).toEqual([
      `Table "items": upsert_key column "k" cannot be of type ${type}`,
    ]);
  });

  test.each([
    ["n", { type: "integer", auto_increment: true }],
    ["id", { type: "bigint", auto_increment: true }],
    ["ID", { type: "integer", auto_increment: true }],
  ])("S-4.2.7, D-2.2.11 auto_increment is refused for the column %j: %j", (name, column) => {
    expect(problemsOfColumn(name, column)).toEqual([
      `Table "items": auto_increment is only for a column "id" of type integer, not "${name}"`,
    ]);
  });

  test("D-2.2.4 max_length is refused for a column that is not text", () => {
    expect(problemsOfColumn("c", { type: "json", max_length: 5 })).toEqual([
      'Table "items": max_length is only for columns of type text, not "c"',
    ]);
  });

  test.each(["repsync_runs", "RepSync_x", "repsync_", "sqlite_master", "SQLITE_x", "__proto__"])(
    "D-2.2.10, D-2.1 the table name %s is reserved",
    (name) => {
      const file = JSON.parse(`{"tables":{"${name}":${JSON.stringify(ITEMS)}}}`);
      expect(problemsOf(file)).toEqual([
        `Table "${name}": this name is reserved, as are all that start with repsync_ or sqlite_`,
      ]);
    },
  );

  test.each([
    "_id",
    "_ID",
    "_bsontype",
    "__proto__",
    "repsync",
    "_repsync",
    "_repsync_order",
    "REPSYNC_x",
  ])("D-2.2.10 the column name %s is reserved", (name) => {
    const columns = `{"k":{"type":"text"},"${name}":{"type":"text"}}`;
    const file = JSON.parse(`{"tables":{"items":{"upsert_key":["k"],"columns":${columns}}}}`);
    expect(problemsOf(file)).toEqual([`Table "items": column name "${name}" is reserved`]);
  });

  test("D-2.2.9 names that differ only in case are refused", () => {
    expect(problemsOf({ tables: { items: ITEMS, Items: ITEMS, Profiles: ITEMS } })).toEqual([
      'Tables "items" and "Items" differ only in case',
      'Tables "profiles" and "Profiles" differ only in case',
    ]);
    expect(problemsOfColumn("K", { type: "text" })).toEqual([
      'Table "items": columns "k" and "K" differ only in case',
    ]);
  });

  test("D-2.1 readRegistry() reports every problem of every table at once", () => {
    const file = {
      tables: {
        a: { ...ITEMS, timestamp_column: "x", update_columns: ["y"] },
        repsync_b: { upsert_key: ["k", "z"], columns: { k: { type: "json" } } },
      },
    };
    expect(problemsOf(file)).toEqual([
      'Table "a": timestamp_column "x" must be a column of type datetime or date',
      'Table "a": update_columns names the unknown column "y"',
      'Table "repsync_b": this name is reserved, as are all that start with repsync_ or sqlite_',
      'Table "repsync_b": upsert_key column "k" cannot be of type json',
      'Table "repsync_b": upsert_key names the unknown column "z"',
    ]);
  });

  test("D-2.1 readRegistry() reports every structural problem at once", () => {
    expect(problemsOf({ tables: { a: {}, b: { ...ITEMS, conflict: 1 } } })).toEqual([
      "/tables/a/upsert_key: expected required property",
      "/tables/a/columns: expected required property",
      "/tables/b/conflict: must be one of overwrite, newer",
    ]);
  });

  test.each<[entry: object, problem: string]>([
    [{ delimiter: ";;" }, "expected string to match"],
    [{ decimal: ";" }, "/tables/items/import/decimal: must be one of ,, ."],
    [{ encoding: "ebcdic" }, "must be one of utf-8, utf-16"],
    [{ date_format: "DD.MM.YY" }, 'date_format "DD.MM.YY" is no date format'],
    [{ columns: { x: "X" } }, 'import.columns names the unknown column "x"'],
    [{ columns: { k: "A", v: "A" } }, 'import.columns has "A" twice'],
    [{ epoch: { v: "seconds" } }, 'import.epoch needs a column "v" of type datetime'],
    [{ number_rows: true }, 'number_rows needs the upsert_key ["row"], of type integer'],
  ])("D-14.1 files of a table cannot be like %j", (entry, problem) => {
    const problems = problemsOfTable({ import: entry }).join("\n");
    expect(problems).toContain(problem);
  });
});
