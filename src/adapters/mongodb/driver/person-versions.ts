// Versions by which lookups cache: a number per person and API key that grows in the commit of every change that a lookup
// depends on. Pages have versions of their own, one per table (table-versions.ts). A change of more than 64 people raises a
// number that counts for everybody, one of several lanes so that writers do not meet; other tools raise `all/tool`. No number
// ever falls, so equal sums mean that nothing has changed. One version for everybody left half of the rate beside ten pushes a
// second.
import type { ClientSession, Collection, Db, Document } from "mongodb";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import { type InternalCollection, idsUnder } from "./collections.ts";

/** The version slots, `slot/<number>`, and what counts for every name, `all/<lane>`; other tools raise `all/tool`. */
export const PERSON_VERSIONS: InternalCollection = { name: "repsync_versions" };

/** Names whose versions a commit raises; `everybody` when they are too many, or unknown. */
export type ChangedNames = readonly string[] | "everybody";

/** A change within a transaction. */
interface VersionedChange {
  readonly tx: ClientSession;
  /** A number that no other change of this instance uses at the same time. */
  readonly lane: number;
}

/** The documents that `joinPersonVersions` joins. */
export interface JoinedVersions {
  readonly slots: readonly VersionDocument[];
  readonly everybody: readonly { readonly v: number }[];
}

interface VersionDocument {
  readonly _id: string;
  readonly v: number;
  /** Only of those of everybody: `meetEveryPush`. */
  readonly erasures?: number;
}

/** So many that unrelated changes practically never share a slot. */
const SLOTS = 65_536;
/** A commit that changes more people raises the version of everybody instead: one document, not many. */
const MAX_NAMED = 64;
/** The version of everybody is the sum of this many documents, so that concurrent pushes rarely write to the same one. */
const LANES = 32;

/** The tables whose rows lookups read. */
const TABLES_OF_PEOPLE: ReadonlySet<string> = new Set(["profiles", "platform_accounts"]);

/** Raises the versions of names, usernames and hashes of new API keys, within the caller's transaction. */
export async function raisePersonVersions(
  db: Db,
  names: ChangedNames,
  { tx, lane }: VersionedChange,
): Promise<void> {
  const slots = names === "everybody" ? [] : [...new Set(names.map(versionSlotOf))];
  const isEverybody = names === "everybody" || slots.length > MAX_NAMED;
  const ids = isEverybody ? [`all/${lane % LANES}`] : slots.map(slotId);
  if (ids.length === 0) return;
  const raises = ids.map((_id) => {
    return { updateOne: { filter: { _id }, update: { $inc: { v: 1 } }, upsert: true } };
  });
  await collectionOf(db).bulkWrite(raises, { session: tx, ordered: true });
}

/**
 * Makes every push that writes to the versions at the same moment start again, within the caller's transaction: also one of
 * so many people that it raises the version of everybody.
 */
export async function meetEveryPush(db: Db, tx: ClientSession): Promise<void> {
  const touches = Array.from({ length: LANES }, (_, lane) => {
    const update = { $inc: { erasures: 1 }, $setOnInsert: { v: 0 } };
    return { updateOne: { filter: { _id: `all/${lane}` }, update, upsert: true } };
  });
  await collectionOf(db).bulkWrite(touches, { session: tx, ordered: true });
}

/** The names whose versions a write of rows raises; empty for a table that lookups do not read. */
export function namesChangedBy(table: Table, rows: readonly Row[]): ChangedNames {
  if (!TABLES_OF_PEOPLE.has(table.name)) return [];
  // A row that is found by other columns may have had another username, which is not known here.
  if (!table.keyColumns.some(({ name }) => name === "username")) return "everybody";
  const names = new Set(rows.map((row) => String(row["username"])));
  return names.size > MAX_NAMED ? "everybody" : [...names];
}

/** Aggregation stages that join the documents of these names' versions, as `JoinedVersions`. */
export function joinPersonVersions(names: Iterable<string>): Document[] {
  const slots = [...new Set(Array.from(names, versionSlotOf))].map(slotId);
  const ofSlots = [{ $match: { _id: { $in: slots } } }];
  const ofEverybody = [
    { $match: { _id: idsUnder("all") } },
    { $group: { _id: null, v: { $sum: "$v" } } },
  ];
  const from = PERSON_VERSIONS.name;
  return [
    { $lookup: { from, pipeline: ofSlots, as: "slots" } },
    { $lookup: { from, pipeline: ofEverybody, as: "everybody" } },
  ];
}

/**
 * The version of a name that was among those asked for: the sum of its slot's and everybody's. Neither ever falls, so an
 * equal sum means that neither has changed.
 */
export function personVersionOf({ slots, everybody }: JoinedVersions, name: string): number {
  const id = slotId(versionSlotOf(name));
  return (slots.find(({ _id }) => _id === id)?.v ?? 0) + (everybody[0]?.v ?? 0);
}

/** The slot of a name, 0 to 65,535: FNV-1a over its UTF-16 code units, folded. Stored, so it never changes. */
function versionSlotOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  }
  return (hash ^ (hash >>> 16)) & (SLOTS - 1);
}

function slotId(slot: number): string {
  return `slot/${slot}`;
}

function collectionOf(db: Db): Collection<VersionDocument> {
  return db.collection(PERSON_VERSIONS.name);
}
