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
import { tombstoneKey } from "./tombstone.ts";

export type Integrity = "verified" | "no_checksum";

/** The push result, in the field order of S-2.4. */
export interface PushResult {
  readonly table: string;
  readonly received?: number;
  readonly upserted: number;
  readonly integrity?: Integrity;
  /** Newer rows that stayed as they are. Only of a guarded push. D-7.2. */
  readonly kept?: number;
  /** Rows really written. Only of a guarded or overwriting push. D-7.2. */
  readonly changed?: number;
  /** Records left out, as they name people who were erased. Only of a guarded push with any. D-8.2. */
  readonly erased?: number;
  /** Rows removed. Only of a push that carried tombstones. D-7.6. */
  readonly deleted?: number;
  readonly message?: string;
  readonly errors?: readonly string[];
  readonly errorCount?: number;
  readonly error?: string;
}

export interface RecordFailure {
  /** Position in the request, from 0. */
  readonly index: number;
  readonly message: string;
}

/** The result when no records were sent. S-4.2.6. */
export function noRecordsResult(table: Table): PushResult {
  return { table: table.name, upserted: 0, message: "No records to sync" };
}

interface CommittedPush {
  readonly records: readonly JsonValue[];
  readonly failures: readonly RecordFailure[];
  readonly integrity: Integrity;
  /** The counts that this kind of push tells beside; absent for none. D-7.2, D-7.11. */
  readonly told?: Pick<PushResult, "kept" | "changed" | "erased">;
  /** Null or absent of a push without tombstones. D-7.6. */
  readonly deletes?: PushedDeletes | null;
}

interface PushedDeletes {
  readonly members: readonly JsonValue[];
  readonly failures: readonly RecordFailure[];
  readonly removed: number;
}

/** Records that neither failed nor were left out count as upserted. Errors of `deleted` come last. D-3.6, D-7.6. */
export function pushedResult(table: Table, push: CommittedPush): PushResult {
  const { records, failures, integrity, told = {}, deletes = null } = push;
  const keys = deletes?.members.map(tombstoneKey) ?? [];
  const failedDeletes = deletes?.failures ?? [];
  const errorCount = failures.length + failedDeletes.length;
  const errors = [
    ...errorsOf(table, records, failures),
    ...errorsOf(table, keys, failedDeletes),
  ].slice(0, MAX_PUSH_ERRORS);
  return {
    table: table.name,
    received: records.length,
    upserted: records.length - failures.length - (told.erased ?? 0),
    integrity,
    ...told,
    ...(deletes === null ? {} : { deleted: deletes.removed }),
    ...(errorCount === 0 ? {} : { errors, errorCount }),
  };
}

function errorsOf(
  table: Table,
  records: readonly (JsonValue | null)[],
  failures: readonly RecordFailure[],
): string[] {
  const listed = failures.toSorted((a, b) => a.index - b.index).slice(0, MAX_PUSH_ERRORS);
  return listed.map(({ index, message }) => {
    const label = keyLabel(table, records[index] ?? null);
    return `${label}: ${cutText(message, MAX_RECORD_MESSAGE_CHARS)}`;
  });
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
