// Records that one end rejected, and those that somebody dropped. D-4.6, D-4.9, D-7.7.
import { isKey } from "../../shared/document-key.ts";
import { hashHex } from "../../shared/hash.ts";
import { type JsonObject, utf8Bytes } from "../../shared/json.ts";
import type { SyncDirection } from "./run.ts";

/** A record that an end refused. */
export interface Rejection {
  /** The pulled record, or the row that was pushed. */
  readonly record: JsonObject;
  readonly message: string;
}

/** A record that one end rejected, and that waits. */
export interface RejectedRecord {
  /** Opaque; never used again. As texts, ids are in the order in which the entries were first noted. */
  readonly id: string;
  readonly table: string;
  readonly direction: SyncDirection;
  readonly key: JsonObject;
  /** The whole record as it was pulled; null for a push, whose row is in the table. */
  readonly record: JsonObject | null;
  readonly message: string;
  /** Equal for records with the same content: tells a dropped record from a changed one. */
  readonly fingerprint: string;
  /** Times it was rejected, 1 or more. */
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** A rejected record, as lists show it. D-4.9. */
export interface RejectedItem
  extends Omit<RejectedRecord, "record" | "fingerprint" | "firstAtMs" | "lastAtMs"> {
  /** ISO 8601. */
  readonly firstAt: string;
  readonly lastAt: string;
}

export type NewRejection = Omit<RejectedRecord, "id" | "attempts" | "firstAtMs">;

/** A record that somebody dropped: it is not taken up again until it changes. D-7.7. */
export interface DroppedRecord {
  readonly key: JsonObject;
  readonly fingerprint: string;
}

/** Records of a table and direction that were accepted, by their keys. */
export interface AcceptedRecords {
  readonly table: string;
  readonly direction: SyncDirection;
  readonly keys: readonly JsonObject[];
}

/**
 * Identifies an entry among those of a table and direction: keys are the same when their columns hold the same JSON, in any
 * order of fields: `1` and `1.0` are two. Records of which a key column is null are apart by their content, too.
 */
export type EntryName = readonly [key: string] | readonly [key: string, fingerprint: string];

const MAX_NAME_BYTES = 500;
const MAX_PERSON_BYTES = 128;

export function entryName({ key, fingerprint }: DroppedRecord): EntryName {
  // A key with null identifies no row: its entries are apart by their content.
  const isOfRow = !Object.values(key).includes(null);
  return isOfRow ? [keyName(key)] : [keyName(key), fingerprint];
}

/** The begin of the names of all entries of a key. */
export function keyName(key: JsonObject): string {
  const name = JSON.stringify(Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1)));
  return utf8Bytes(name) <= MAX_NAME_BYTES ? name : hashHex(name);
}

/** Whom a record names by its `username`; undefined for nobody, and for what can be nobody's name. */
export function namedPerson({ key, record }: Pick<NewRejection, "key" | "record">) {
  const name = key["username"] ?? record?.["username"];
  if (typeof name !== "string" || !isKey([name])) return undefined;
  return utf8Bytes(name) <= MAX_PERSON_BYTES ? name : undefined;
}

/** A rejection that one commit notes in an entry. */
export interface NotedRejection {
  readonly name: EntryName;
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly last: NewRejection;
}

/**
 * Plans the notes of rejections, in their order, one for each entry. `droppedAs` has the fingerprints of those that were
 * dropped, by `nameText`: such a record is not noted, another one of its key is, and the drop is forgotten.
 */
export function planRejections(
  rejections: readonly NewRejection[],
  droppedAs: ReadonlyMap<string, string>,
): { readonly noted: readonly NotedRejection[]; readonly forgotten: readonly NewRejection[] } {
  const dropped = new Map(droppedAs);
  const noted = new Map<string, NotedRejection>();
  const forgotten: NewRejection[] = [];
  for (const last of rejections) {
    const name = entryName(last);
    const text = nameText(last, name);
    if (dropped.get(text) === last.fingerprint) continue;
    if (dropped.delete(text)) forgotten.push(last);
    const { attempts, firstAtMs } = noted.get(text) ?? { attempts: 0, firstAtMs: last.lastAtMs };
    noted.set(text, { name, attempts: attempts + 1, firstAtMs, last });
  }
  return { noted: [...noted.values()], forgotten };
}

/** The name of an entry among those of all tables, for maps. */
export function nameText(
  { table, direction }: Pick<NewRejection, "table" | "direction">,
  name: EntryName,
): string {
  return JSON.stringify([table, direction, ...name]);
}
