// The reply to a push. S-2.4.
import { isRawNumber, type JsonValue } from "../../shared/json.ts";
import {
  MAX_COMMIT_ERROR_CHARS,
  MAX_KEY_VALUE_CHARS,
  MAX_PUSH_ERRORS,
  MAX_RECORD_MESSAGE_CHARS,
} from "../../shared/limits.ts";
import { cutText } from "../../shared/text.ts";
import type { Table } from "../table/table.ts";
import { recordKey } from "./row-key.ts";

export type Integrity = "verified" | "no_checksum";

/** The push result, in the field order of S-2.4. */
export interface PushResult {
  readonly table: string;
  readonly received?: number;
  readonly upserted: number;
  readonly integrity?: Integrity;
  readonly message?: string;
  readonly errors?: readonly string[];
  readonly errorCount?: number;
  readonly error?: string;
}

/** A record that was not written, and why. */
export interface RecordFailure {
  /** Position in the request, from 0. */
  readonly index: number;
  readonly message: string;
}

/** The result when no records were sent. S-4.2.6. */
export function noRecordsResult(table: Table): PushResult {
  return { table: table.name, upserted: 0, message: "No records to sync" };
}

/** The result of a committed push: every record that did not fail counts as upserted. D-3.6. */
export function pushedResult(
  table: Table,
  push: {
    readonly records: readonly JsonValue[];
    readonly failures: readonly RecordFailure[];
    readonly integrity: Integrity;
  },
): PushResult {
  const { records, failures, integrity } = push;
  const result: PushResult = {
    table: table.name,
    received: records.length,
    upserted: records.length - failures.length,
    integrity,
  };
  if (failures.length === 0) return result;
  const listed = failures.toSorted((a, b) => a.index - b.index).slice(0, MAX_PUSH_ERRORS);
  const errors = listed.map(({ index, message }) => {
    const record = records[index] ?? null;
    return `${keyLabel(table, record)}: ${cutText(message, MAX_RECORD_MESSAGE_CHARS)}`;
  });
  return { ...result, errors, errorCount: failures.length };
}

/** The result when nothing was committed. S-4.2.11. */
export function commitFailedResult(table: Table, error: string): PushResult {
  return { table: table.name, upserted: 0, error: cutText(error, MAX_COMMIT_ERROR_CHARS) };
}

/** The key columns of a record as `key=value, key=value`. D-3.6. */
export function keyLabel(table: Table, record: JsonValue): string {
  return Object.entries(recordKey(table, record))
    .map(([name, value]) => `${name}=${cutText(valueText(value), MAX_KEY_VALUE_CHARS)}`)
    .join(", ");
}

function valueText(value: JsonValue): string {
  if (typeof value === "string") return value.toWellFormed();
  if (isRawNumber(value)) return value.rawJSON;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "[…]" : "{…}";
  return String(value);
}
