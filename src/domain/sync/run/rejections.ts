// Records that one end rejected, and those that somebody dropped. D-4.6, D-4.9, D-7.7.
import { isKey } from "../../shared/document-key.ts";
import { type JsonObject, utf8Bytes } from "../../shared/json.ts";
import { hashHex } from "../../shared/text.ts";
import type { SyncDirection } from "./run.ts";

/** A record that an end refused. */
export interface Rejection {
  /** The pulled record, or the row that was pushed. */
  readonly record: JsonObject;
  readonly message: string;
}

/** A rejected record that is kept to be tried again. */
export interface RejectedRecord {
  /** Opaque; never used again. Ids order as texts by when their entries were first noted. */
  readonly id: string;
  readonly table: string;
  readonly direction: SyncDirection;
  readonly key: JsonObject;
  /** The whole record as it was pulled; null for a push, whose row is in the table. */
  readonly record: JsonObject | null;
  readonly message: string;
  /** Equal for records with the same content: it tells whether a dropped record has changed. */
  readonly fingerprint: string;
  /** Times it was rejected, 1 or more. */
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** As lists show it. D-4.9. */
export interface RejectedItem
  extends Omit<RejectedRecord, "record" | "fingerprint" | "firstAtMs" | "lastAtMs"> {
  /** ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
}

export type NewRejection = Omit<RejectedRecord, "id" | "attempts" | "firstAtMs">;

/** A record that somebody dropped: it is ignored until it changes. D-7.7. */
export interface DroppedRecord {
  readonly key: JsonObject;
  readonly fingerprint: string;
}

export interface AcceptedRecords {
  readonly table: string;
  readonly direction: SyncDirection;
  readonly keys: readonly JsonObject[];
}

/**
 * Identifies an entry within a table and direction. Keys with the same JSON are one, in any order of fields; `1` and `1.0` are two.
 * Records with a null in the key are told apart by their content, too.
 */
export type EntryName = readonly [key: string] | readonly [key: string, fingerprint: string];

const MAX_NAME_BYTES = 500;
const MAX_PERSON_BYTES = 128;

export function entryName({ key, fingerprint }: DroppedRecord): EntryName {
  const isOfRow = !Object.values(key).includes(null);
  return isOfRow ? [keyName(key)] : [keyName(key), fingerprint];
}

/** The first part of the names of all entries of a key. */
export function keyName(key: JsonObject): string {
  const name = JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));
  return utf8Bytes(name) <= MAX_NAME_BYTES ? name : hashHex(name);
}

/** The person whom a record names by its `username`; undefined for none, and for a text that cannot be a name. */
export function namedPerson({ key, record }: Pick<NewRejection, "key" | "record">) {
  const name = key["username"] ?? record?.["username"];
  if (typeof name !== "string" || !isKey([name])) return undefined;
  return utf8Bytes(name) <= MAX_PERSON_BYTES ? name : undefined;
}
