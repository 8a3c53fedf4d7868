// What a store of typed columns holds: a suite writes no other values to it, as records with them fail. D-12.1.
import { isRawNumber, numberText } from "../../src/domain/shared/json.ts";
import { isCanonicalDate, isCanonicalDateTime } from "../../src/domain/shared/time.ts";
import type { ColumnType } from "../../src/domain/sync/table/column-types.ts";
import type { ColumnValue, Row, Table } from "../../src/domain/sync/table/table.ts";
import type { StoreHarness } from "./harness.ts";

type Harness = Pick<StoreHarness<unknown>, "options">;

/** The rows that the store holds, by what it does not hold: without it as the key, null in its place elsewhere. */
export function heldRows<Some extends Row>(
  harness: Harness,
  table: Table,
  rows: readonly Some[],
): Some[] {
  if (harness.options.holds === undefined) return [...rows];
  const columns = table.columns.filter(({ name }) => name !== "constructor");
  const isHeld = (row: Row, name: string, type: ColumnType, isKey: boolean) =>
    isOwnValue(type, row[name] ?? null, isKey);
  return rows
    .filter((row) => table.keyColumns.every(({ name, type }) => isHeld(row, name, type, true)))
    .map((row) => {
      const others = columns.filter(({ name, type }) => !isHeld(row, name, type, false));
      return { ...row, ...Object.fromEntries(others.map(({ name }) => [name, null])) };
    });
}

/** The values that a column of the store holds. */
export function heldValues(
  harness: Harness,
  type: ColumnType,
  values: readonly ColumnValue[],
  isKey = false,
): ColumnValue[] {
  const isAny = harness.options.holds === undefined;
  return values.filter((value) => isAny || isOwnValue(type, value, isKey));
}

const DECIMAL = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e-?\d+)?|NaN)$/;
const NEGATIVE_ZERO = /^-[0.]+(?:e|$)/;

/** Whether a typed column gives the value back as it was written. */
function isOwnValue(type: ColumnType, value: ColumnValue, isKey: boolean): boolean {
  if (value === null) return true;
  const isNumber = typeof value === "number" || isRawNumber(value);
  switch (type) {
    case "integer":
      return isNumber && /^-?\d+$/.test(numberText(value));
    case "real":
      return typeof value === "number" || (isNumber && numberText(value) === "-0");
    case "boolean":
      return typeof value === "boolean";
    case "json":
      return true;
    default:
      return typeof value === "string" && isOwnText(type, value, isKey);
  }
}

function isOwnText(type: ColumnType, text: string, isKey: boolean): boolean {
  if (type === "datetime") return isCanonicalDateTime(text);
  if (type === "date") return isCanonicalDate(text);
  if (type === "text") return !text.includes("\0");
  return isKey || (DECIMAL.test(text) && !NEGATIVE_ZERO.test(text));
}
