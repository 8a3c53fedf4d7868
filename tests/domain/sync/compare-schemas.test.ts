// Two registrations of one table, every way in which they can differ.
import { describe, expect, test } from "bun:test";
import {
  compareSchemas,
  differencesOfRecord,
} from "../../../src/domain/sync/run/compare-schemas.ts";
import type { ColumnType } from "../../../src/domain/sync/table/column-types.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { SchemaColumn, TableSchema } from "../../../src/domain/sync/table/table-schema.ts";
import { makeTable } from "../../support/rows/make-table.ts";

const HERE: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k", "n"],
  lag_seconds: 60,
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    n: { type: "integer" },
    v: { type: "text" },
    at: { type: "datetime" },
    secret: { type: "text", serialize: false },
  },
};

const COLUMNS = { k: "text", n: "integer", v: "text", at: "datetime" } as const;

/** The same table as the remote tells it, without what is hidden there. */
function there(
  changes: Partial<TableSchema> = {},
  columns: Readonly<Record<string, ColumnType>> = COLUMNS,
): TableSchema {
  const entries = Object.entries(columns).map(([name, type]): [string, SchemaColumn] => [
    name,
    { type, nullable: true },
  ]);
  return {
    ...{ table: "items", timestampColumn: "at", upsertKey: ["k", "n"], updateColumns: "__all__" },
    ...{ columns: Object.fromEntries(entries), deletes: false, lagSeconds: 60 },
    ...{
      stamped: false,
      conflict: null,
      direction: null,
      remoteId: null,
      late: { mark: "0", from: null },
      ...changes,
    },
  };
}

const differences = (schema: TableSchema, changes: Partial<TableEntry> = {}) =>
  compareSchemas(makeTable({ ...HERE, ...changes }), schema);

/** With the texts of its problems. */
function compared(schema: TableSchema, changes: Partial<TableEntry> = {}) {
  const { problem, pushProblem, ...others } = differences(schema, changes);
  return { problem: problem?.text ?? null, pushProblem: pushProblem?.text ?? null, ...others };
}

const EQUAL = { problem: null, pushProblem: null, leftOut: [], warnings: [] };
const PUSH = 'A push of "items" would do harm: ';
const EQUAL_COLUMNS = "; make the columns equal in both registries";

describe("compareSchemas()", () => {
  test("D-14.2.5 a table that only one end stamps is a warning", () => {
    const told = (on: string, off: string) => [
      `Only one end gives times to rows without one: "stamped" is on ${on} and off ${off}`,
    ];
    expect(compared(there({ stamped: true })).warnings).toEqual(told("there", "here"));
    expect(compared(there(), { stamped: true }).warnings).toEqual(told("here", "there"));
    expect(compared(there({ stamped: true }), { stamped: true }).warnings).toEqual([]);
  });

  test("D-7.3 equal tables have no difference; an `id` that is numbered and hidden columns play no part", () => {
    expect(compared(there())).toEqual(EQUAL);
    expect(compared(there({}, { ...COLUMNS, id: "integer" }))).toEqual(EQUAL);
    expect(compared(there({}, { id: "text", ...COLUMNS }))).toEqual(EQUAL);
  });

  test("D-7.3 the order of columns and of the key, and what may be null, are no difference", () => {
    const { at, v, n, k } = COLUMNS;
    expect(compared(there({ upsertKey: ["n", "k"] }, { at, v, n, k }))).toEqual(EQUAL);
    const columns = { ...there().columns, v: { type: "text", nullable: false } } as const;
    expect(compared(there({ columns }))).toEqual(EQUAL);
  });

  test.each([
    [["k"], COLUMNS, "k (text)"],
    [["k", "n", "v"], COLUMNS, "k (text), n (integer), v (text)"],
    [["k", "v"], COLUMNS, "k (text), v (text)"],
    [["k", "n"], { ...COLUMNS, n: "bigint" }, "k (text), n (bigint)"],
    [["k", "n"], { k: "text", v: "text", at: "datetime" }, "k (text), n (no column)"],
  ] as const)(
    "D-7.3 the upsert key %p there ends the table in both directions",
    (key, columns, shown) => {
      const { problem } = compared(there({ upsertKey: key }, columns));
      expect(problem).toBe(
        `Table "items" has the upsert key k (text), n (integer) here and ${shown} there; make upsert_key equal in both registries`,
      );
    },
  );

  test.each([
    ["at", null, COLUMNS, 'the timestamp column "at" here and none there'],
    ["at", "day", { ...COLUMNS, day: "date" }, 'the timestamp column "at" here and "day" there'],
    [null, "at", COLUMNS, 'the timestamp column none here and "at" there'],
    [
      "at",
      "at",
      { k: "text", n: "integer", v: "text" },
      'the timestamp column "at" here and "at" there',
    ],
  ] as const)(
    "D-7.3 the timestamp column %p here and %p there ends the table in both directions",
    (...[own, other, columns, shown]) => {
      const { problem } = compared(there({ timestampColumn: other }, columns), {
        timestamp_column: own,
      });
      expect(problem).toBe(
        `Table "items" has ${shown}; make timestamp_column equal in both registries`,
      );
    },
  );

  test("D-7.3 no timestamp column at either end is equal", () => {
    expect(compared(there({ timestampColumn: null }), { timestamp_column: null })).toEqual(EQUAL);
  });

  test("D-7.3 a column of another type ends the push only", () => {
    expect(compared(there({}, { ...COLUMNS, v: "json", at: "date" }))).toEqual({
      ...EQUAL,
      pushProblem: `${PUSH}"at" is datetime here and date there, "v" is text here and json there${EQUAL_COLUMNS}`,
    });
  });

  test.each([
    ["__all__", "notes", true],
    [["v", "notes"], "notes", true],
    [["v"], "notes", false],
    [[], "notes", false],
    ["__all__", "id", false],
    [["id"], "id", true],
  ] as const)(
    "D-7.3 with update_columns %p there, a push would empty %p, which is only there: %p",
    (updateColumns, name, isEmptied) => {
      const columns = {
        k: { type: "text" },
        n: { type: "integer" },
        v: { type: "text" },
        at: { type: "datetime" },
      } as const;
      const schema = there({ updateColumns }, { ...COLUMNS, [name]: "text" });
      expect(compared(schema, { columns })).toEqual({
        ...EQUAL,
        pushProblem: isEmptied
          ? `${PUSH}"${name}" is only there and would be emptied${EQUAL_COLUMNS}`
          : null,
      });
    },
  );

  test("D-7.3 a column that is hidden here would be emptied there, as runs never send it", () => {
    expect(compared(there({}, { ...COLUMNS, secret: "text" }))).toEqual({
      ...EQUAL,
      pushProblem: `${PUSH}"secret" is hidden here and would be emptied${EQUAL_COLUMNS}`,
    });
  });

  test("D-7.3 columns here that are not there, or hidden there, are left out with a warning", () => {
    const columns = { ...HERE.columns, color: { type: "text" }, size: { type: "real" } } as const;
    expect(compared(there({}, { ...COLUMNS, size: "real" }), { columns })).toEqual({
      ...{ ...EQUAL, leftOut: ["color"] },
      warnings: ['Columns that the remote does not have are left out: "color"'],
    });
    expect(compared(there(), { columns })).toMatchObject({
      ...{ leftOut: ["color", "size"], problem: null, pushProblem: null },
      warnings: ['Columns that the remote does not have are left out: "color", "size"'],
    });
  });

  test("D-7.3 names that every object has are columns like others", () => {
    const columns = { ...HERE.columns, constructor: { type: "text" } } as const;
    expect(compared(there(), { columns })).toMatchObject({ leftOut: ["constructor"] });
    expect(
      compared(there({}, { ...COLUMNS, ["toString" as string]: "text" })).pushProblem,
    ).toContain('"toString"');
  });

  test("D-7.3 deletes at one end only are a warning", () => {
    const text = (on: string, off: string) => [
      `Deletes do not travel: "deletes" is on ${on} and off ${off}`,
    ];
    expect(compared(there(), { deletes: true })).toEqual({
      ...EQUAL,
      warnings: text("here", "there"),
    });
    expect(compared(there({ deletes: true }))).toEqual({
      ...EQUAL,
      warnings: text("there", "here"),
    });
    expect(compared(there({ deletes: true }), { deletes: true })).toEqual(EQUAL);
  });

  test("D-7.3 what to do is never cut off", () => {
    const long = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`column_number_${i}`, "text" as ColumnType]),
    );
    const { pushProblem } = differences(there({}, { ...COLUMNS, ...long }));
    expect(pushProblem?.messageWithin(200)).toHaveLength(200 - EQUAL_COLUMNS.length);
    expect(pushProblem?.text).toEndWith(EQUAL_COLUMNS);
    const { problem } = compared(there({ upsertKey: Object.keys(long) }, { ...COLUMNS, ...long }));
    expect(problem).toEndWith("; make upsert_key equal in both registries");
  });
});

describe("differencesOfRecord()", () => {
  const table = (changes: Partial<TableEntry> = {}) => makeTable({ ...HERE, ...changes });
  const problemOf = (...asked: Parameters<typeof differencesOfRecord>) =>
    differencesOfRecord(...asked).pushProblem?.text ?? null;

  test("D-7.3.2 fields that are columns here, and `id`, are no problem", () => {
    expect(problemOf(table(), { id: 7, k: "a", n: 1, v: "x", at: null })).toBe(null);
    expect(problemOf(table(), {})).toBe(null);
  });

  test("D-7.3.2 a field that is no column here ends the push, unless remote_only lists it", () => {
    const record = { k: "a", n: 1, notes: "x", color: null };
    const advice = "; send it too, or list it in remote_only";
    expect(problemOf(table(), record)).toBe(
      `${PUSH}"notes" is only there and would be emptied, "color" is only there and would be emptied${advice}`,
    );
    expect(problemOf(table({ remote_only: ["notes"] }), record)).toBe(
      `${PUSH}"color" is only there and would be emptied${advice}`,
    );
    expect(problemOf(table({ remote_only: ["notes", "color"] }), record)).toBe(null);
  });

  test("D-7.3.2 a field that is hidden here ends it too", () => {
    expect(problemOf(table(), { k: "a", secret: "x" })).toContain('"secret" is hidden here');
  });
});
