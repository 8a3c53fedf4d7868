// Random values, tables and pushes for the properties of the contract.
import fc from "fast-check";
import { parseJson, rawNumber } from "../../../src/domain/shared/json.ts";
import {
  COLUMN_TYPES,
  type ColumnType,
  KEY_TYPES,
} from "../../../src/domain/sync/table/column-types.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type {
  ColumnValue,
  ConflictRule,
  Row,
  Table,
} from "../../../src/domain/sync/table/table.ts";
import type { PageQuery } from "../../support/rows/read-rows.ts";

/** The last ones are ahead of any clock. */
const FEW_DATES = ["2023-12-31", "2024-01-01", "2024-01-02", "2999-01-01"];
const FEW_TIMES = [
  "2023-12-31T23:59:59.999999Z",
  "2024-01-01T00:00:00Z",
  "2024-01-01T00:00:00.000001Z",
  "2024-01-01T00:00:00.001Z",
  "2024-01-01T12:00:00Z",
  "2024-01-02T00:00:00Z",
  "2999-01-01T00:00:00Z",
];
const MAX_INT64 = 9223372036854775807n;

const anyText = fc.string({ unit: "binary", maxLength: 12 });
const wholeNumber = fc.oneof(
  fc.bigInt({ min: -20n, max: 20n }),
  fc.bigInt({ min: -MAX_INT64, max: MAX_INT64 }),
);
const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,30})(\.\d{1,20})?$/);
const anyBoolean = fc.boolean();

/** Texts that are no time, though some come near. */
const noTime = fc.oneof(
  fc.constantFrom(
    "",
    "soon",
    "2024-02-30",
    "2024-02-30T00:00:00Z",
    "2024-01-01T24:00:00Z",
    "123-45-67T89:01:2",
  ),
  anyText.filter((text) => !/^\d{4}-/.test(text)),
);

/** Numbers as JSON has them, in all spellings. */
const jsonNumber = fc.oneof(
  fc.integer().map(String),
  digits,
  fc.constantFrom("-0", "1e5", "1E-400", "0.10", "12345678901234567890", "9007199254740993"),
);

const anyDate = fc
  .tuple(
    fc.constantFrom("0001", "1969", "2024", "9999"),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
  )
  .map(([year, month, day]) => `${year}-${pad(month)}-${pad(day)}`);

const anyTime = fc
  .tuple(
    anyDate,
    fc.constantFrom("00:00:00", "00:00:01", "23:59:59"),
    fc.constantFrom("", "", ".001", ".100", ".000001", ".001001", ".999999"),
  )
  .map(([date, time, fraction]) => `${date}T${time}${fraction}Z`);

const jsonValue = fc
  .letrec<{ value: string; list: string; object: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("null", "true", "false"),
      jsonNumber,
      anyText.map((text) => JSON.stringify(text)),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    object: fc
      .array(
        fc.tuple(fc.oneof(anyText, fc.constantFrom("$a", "a.b", "__proto__", "1")), tie("value")),
        { maxLength: 4 },
      )
      .map(
        (members) =>
          `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`,
      ),
  }))
  .value.map((text) => parseJson(text));

/** Values of the column's own type, as the domain makes them. */
function ownValue(type: ColumnType, isKey: boolean): fc.Arbitrary<ColumnValue> {
  switch (type) {
    case "text":
      return anyText;
    case "integer":
      return wholeNumber.map(integerValue);
    case "bigint":
      return isKey ? wholeNumber.map(String) : fc.oneof(wholeNumber.map(String), digits, anyText);
    case "numeric":
      return fc.oneof(digits, anyText);
    case "real":
      return fc
        .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer())
        .map((n) => n + 0);
    case "boolean":
      return anyBoolean;
    case "datetime":
      return anyTime;
    case "date":
      return anyDate;
    case "json":
      return jsonValue;
  }
}

/** Scalars that conversion leaves unchanged in a column of another type. S-4.2.8. */
function oddValue(type: ColumnType, isKey: boolean): fc.Arbitrary<ColumnValue> | null {
  const oddNumber = jsonNumber.map((text) => parseJson(text));
  switch (type) {
    case "text":
      return fc.oneof(oddNumber, anyBoolean);
    case "integer":
      return fc.oneof(
        fc.constantFrom<ColumnValue>(1.5, rawNumber("1.50"), "5", true, false),
        anyText,
      );
    case "bigint":
      return isKey ? null : anyBoolean;
    case "numeric":
      return anyBoolean;
    case "real":
      return fc.oneof(
        fc.constantFrom<ColumnValue>(rawNumber("1e400"), rawNumber("-0"), true),
        anyText,
      );
    case "datetime":
    case "date":
      return fc.oneof(noTime, oddNumber, anyBoolean);
    case "boolean":
    case "json":
      return null;
  }
}

/** Any value a column may get, null included. */
export function arbitraryValue(type: ColumnType): fc.Arbitrary<ColumnValue> {
  const odd = oddValue(type, false);
  const own = { weight: 6, arbitrary: ownValue(type, false) };
  const none = { weight: 1, arbitrary: fc.constant<ColumnValue>(null) };
  return odd === null ? fc.oneof(own, none) : fc.oneof(own, none, { weight: 2, arbitrary: odd });
}

/** A registry entry with any key, timestamp, conflict rule and update columns. */
export const arbitraryEntry: fc.Arbitrary<TableEntry> = fc
  .record({
    keyTypes: fc.array(fc.constantFrom<ColumnType>(...KEY_TYPES), { minLength: 1, maxLength: 3 }),
    timestamp: fc.constantFrom("datetime", "datetime", "date", null),
    isTimestampInKey: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
    updateColumns: fc.constantFrom<"__all__" | string[]>(
      "__all__",
      "__all__",
      [],
      ["v"],
      ["v", "secret"],
    ),
    conflict: fc.constantFrom<ConflictRule>("overwrite", "newer"),
    otherType: fc.constantFrom<ColumnType>(...COLUMN_TYPES),
    isNumbered: fc.boolean(),
  })
  .map((choice): TableEntry => {
    const keys = choice.keyTypes.map((type, i) => [`k${i}`, { type }] as const);
    const { timestamp } = choice;
    const keyNames = keys.map(([name]) => name);
    return {
      timestamp_column: timestamp === null ? null : "at",
      upsert_key: timestamp !== null && choice.isTimestampInKey ? ["at", ...keyNames] : keyNames,
      update_columns: choice.updateColumns,
      conflict: timestamp === null ? "overwrite" : choice.conflict,
      columns: {
        v: { type: "integer" },
        ...(choice.isNumbered ? { id: { type: "integer", auto_increment: true } } : {}),
        ...Object.fromEntries(keys),
        ...(timestamp === null ? {} : { at: { type: timestamp } }),
        other: { type: choice.otherType },
        secret: { type: "text", serialize: false },
      },
    };
  });

/** Rows for a table of `arbitraryEntry`, with few keys and times, so that they meet. */
export function arbitraryRows(table: Table): fc.Arbitrary<Row[]> {
  const names = table.pushColumns.filter((column) => column.serialize).map((column) => column.name);
  const values = table.pushColumns
    .filter((column) => column.serialize)
    .map((column) => {
      if (column.name === "v") return fc.integer({ min: 0, max: 9 });
      if (column.name === "other") return arbitraryValue(column.type);
      if (column.name !== "at") return fewValues(column.type);
      const time =
        column.type === "date" ? fc.constantFrom(...FEW_DATES) : fc.constantFrom(...FEW_TIMES);
      return column.isKey
        ? fc.oneof(time, noTime)
        : fc.oneof(time, time, noTime, fc.constant(null));
    });
  const secret = fc.constantFrom<Row>({}, {}, { secret: null }, { secret: "s" }, { secret: "t" });
  return fc.array(
    fc.tuple(fc.tuple(...values), secret).map(([values, hidden]) => ({
      ...Object.fromEntries(names.map((name, i) => [name, values[i] ?? null])),
      ...hidden,
    })),
    { maxLength: 8 },
  );
}

/** A query whose `since` falls among the times of `arbitraryRows`. */
export function arbitraryQuery(table: Table): fc.Arbitrary<PageQuery> {
  const midnights = FEW_DATES.map((date) => `${date}T00:00:00Z`);
  const times = table.timestampColumn === null ? [] : [...FEW_TIMES, ...midnights];
  return fc.record({
    sinceTime: fc.constantFrom(null, null, ...times),
    offsetRows: fc.integer({ min: 0, max: 12 }),
    limitRows: fc.integer({ min: 1, max: 8 }),
  });
}

/** Few values of a key column's type, and some of other types. */
function fewValues(type: ColumnType): fc.Arbitrary<ColumnValue> {
  const few: Readonly<Partial<Record<ColumnType, readonly ColumnValue[]>>> = {
    text: ["", "a", "B", "\uffff", "\u{10000}", "é", 1],
    integer: [-1, 0, 10, 9, rawNumber("9007199254740993"), "9", 1.5],
    bigint: ["-1", "0", "10", "9", "9007199254740993", "9007199254740992"],
    boolean: [false, true],
    date: [...FEW_DATES, "soon"],
    datetime: [...FEW_TIMES, "soon", 5],
  };
  return fc.constantFrom(...(few[type] ?? []));
}

/** A whole number as the domain keeps it. */
function integerValue(value: bigint): ColumnValue {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : rawNumber(String(value));
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
