// Tombstones, and how a member of a push's `deleted` becomes one. D-7.6.
import { isJsonObject, type JsonObject, type JsonValue } from "../../shared/json.ts";
import { compareDateTimes, parseDateTime } from "../../shared/time.ts";
import type { Row, Table } from "../table/table.ts";
import { convertFields } from "./convert.ts";
import { recordKey } from "./row-key.ts";
import { changeTime, LAST_TIME, rowTime, TOO_FAR_AHEAD } from "./row-time.ts";

/** The key of a deleted row, and when it was deleted. */
export interface Tombstone {
  /** The key columns, as the table keeps them. */
  readonly key: Row;
  /** Canonical time, the `changeTime` of the deleted row. A row that is not later does not come back. */
  readonly deletedAt: string;
}

/** The tombstone of a row that is deleted now. */
export function tombstoneOf(table: Table, row: Row, nowMs: number): Tombstone {
  return { key: recordKey(table, row), deletedAt: changeTime(rowTime(table, row), nowMs) };
}

/** A member's tombstone, or why the member fails. */
type ConvertedTombstone =
  | { readonly tombstone: Tombstone; readonly problem: null }
  | { readonly tombstone: null; readonly problem: string };

/** Converts a member of `deleted`: `key` with every key column, `deleted_at` up to `aheadLimit`. Other fields are ignored. */
export function convertTombstone(
  table: Table,
  member: JsonValue,
  aheadLimit = LAST_TIME,
): ConvertedTombstone {
  const fields = tombstoneKey(member);
  if (fields === null) return failed("must be {key, deleted_at}, key an object");
  const { row: key, problem } = convertFields(table.keyColumns, fields);
  if (key === null) return failed(problem);
  const given = (member as JsonObject)["deleted_at"];
  const deletedAt = typeof given === "string" ? parseDateTime(given) : null;
  if (deletedAt === null) return failed("deleted_at is not an ISO 8601 time");
  if (compareDateTimes(deletedAt, aheadLimit) > 0) {
    return failed(`deleted_at is ${TOO_FAR_AHEAD}`);
  }
  return { tombstone: { key, deletedAt }, problem: null };
}

/** The `key` of a member, for messages too; null when it has none. */
export function tombstoneKey(member: JsonValue): JsonObject | null {
  const key = isJsonObject(member) ? member["key"] : null;
  return isJsonObject(key) ? key : null;
}

function failed(problem: string): ConvertedTombstone {
  return { tombstone: null, problem };
}
