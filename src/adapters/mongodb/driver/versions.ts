// Version numbers: every commit raises those of what it changes, and a cached value counts while its version stays. A table has one
// number, in lanes, so that pushes rarely write to one document. A lookup has one per person and API key. A change of more than 64
// people raises the number of everybody, in lanes as well; other tools raise `all/tool`. Numbers never fall, so equal sums mean no
// change. One number for all lookups halved their rate beside ten pushes a second.

import { type ClientSession, type Collection, type Db, type Document, ObjectId } from "mongodb";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { InternalCollection } from "./collections.ts";
import type { StoreDeps } from "./operations.ts";

/** `table/<name>/<lane>`, `slot/<number>` of people, and `all/<lane>` for everybody. */
export const VERSIONS: InternalCollection = { name: "repsync_versions" };

/** Names whose versions a commit raises; `everybody` when unknown. */
export type ChangedNames = readonly string[] | "everybody";

interface Changes {
  readonly tables: Iterable<string>;
  /** Usernames, and hashes of new API keys. */
  readonly people: ChangedNames;
}

/** The documents that `joinPersonVersions` joins. */
export interface JoinedVersions {
  readonly slots: readonly VersionDocument[];
  readonly everybody: readonly { readonly v: number }[];
}

interface VersionDocument {
  readonly _id: string;
  readonly v: number;
  /** The number of commits that conflicted with all that raise it. */
  readonly erasures?: number;
}

export interface VersionedDeps extends StoreDeps {
  readonly versions: Versions;
}

/** Lanes of a table, and of everybody. */
const TABLE_LANES = 256;
const PEOPLE_LANES = 32;
/** Unrelated changes practically never share a slot. */
const SLOTS = 65_536;
/** A commit that changes more people raises everybody's version: one document instead of many. */
const MAX_NAMED = 64;

export class Versions {
  readonly #collection: Collection<VersionDocument>;
  /** Random, so that instances start at different lanes. */
  readonly #firstLane = new ObjectId().id[4] ?? 0;
  readonly #lanesInUse = new Set<number>();

  constructor(db: Db) {
    this.#collection = db.collection(VERSIONS.name);
  }

  /** Runs a commit with a lane that no concurrent commit of this instance has. */
  async withLane<T>(commit: (lane: number) => Promise<T>): Promise<T> {
    const lanes = Array.from(
      { length: TABLE_LANES },
      (_, i) => (this.#firstLane + i) % TABLE_LANES,
    );
    const lane = lanes.find((one) => !this.#lanesInUse.has(one)) ?? this.#firstLane;
    this.#lanesInUse.add(lane);
    try {
      return await commit(lane);
    } finally {
      this.#lanesInUse.delete(lane);
    }
  }

  /** Raises versions within the transaction of a commit. */
  async raise(
    { tables, people }: Changes,
    { tx, lane }: { readonly tx: ClientSession; readonly lane: number },
  ): Promise<void> {
    const ofTables = Array.from(tables, (name) => `table/${name}/${lane}`);
    const raises = [...ofTables, ...personIds(people, lane)].map((_id) => {
      return { updateOne: { filter: { _id }, update: { $inc: { v: 1 } }, upsert: true } };
    });
    if (raises.length > 0) await this.#collection.bulkWrite(raises, { session: tx, ordered: true });
  }

  /**
   * Makes pushes that raise everybody's version conflict with this transaction and start again. The first writer wins, so the call
   * comes before anything slow.
   */
  async meetPushes(tx: ClientSession): Promise<void> {
    await this.#meet("all", PEOPLE_LANES, tx);
  }

  /** As `meetPushes`, every commit that changes rows of a table. */
  async meetChanges({ name }: Table, tx: ClientSession): Promise<void> {
    await this.#meet(`table/${name}`, TABLE_LANES, tx);
  }

  async #meet(lanes: string, length: number, tx: ClientSession): Promise<void> {
    const $inc = { erasures: 1 };
    const ids = Array.from({ length }, (_, n) => `${lanes}/${n}`);
    const options = { session: tx };
    const met = await this.#collection.updateMany({ _id: { $in: ids } }, { $inc }, options);
    if (met.matchedCount === length) return;
    const touches = ids.map((_id) => {
      const update = { $inc, $setOnInsert: { v: 0 } };
      return { updateOne: { filter: { _id }, update, upsert: true } };
    });
    await this.#collection.bulkWrite(touches, { session: tx, ordered: true });
  }

  /** A table's version in a snapshot; "0" before its first change. */
  async ofTable(name: string, tx: ClientSession): Promise<string> {
    const lanes = await this.#collection
      .find({ _id: idsUnder(`table/${name}`) }, { session: tx, batchSize: TABLE_LANES + 1 })
      .toArray();
    return String(lanes.reduce((sum, { v }) => sum + v, 0));
  }
}

/** The names whose versions a write of rows raises; empty for a table that lookups do not read. */
export function namesChangedBy(table: Table, rows: readonly Row[]): ChangedNames {
  if (!isOfPeople(table)) return [];
  // A row with another key may have had another username before.
  if (!table.keyColumns.some(({ name }) => name === "username")) return "everybody";
  return [...new Set(rows.map((row) => String(row["username"])))];
}

export function joinedNames(some: ChangedNames, others: ChangedNames): ChangedNames {
  return some === "everybody" || others === "everybody" ? "everybody" : [...some, ...others];
}

/** Aggregation stages that join the versions of names, as `JoinedVersions`. */
export function joinPersonVersions(names: Iterable<string>): Document[] {
  const slots = [...new Set(Array.from(names, slotOf))];
  const ofSlots = [{ $match: { _id: { $in: slots } } }];
  const ofEverybody = [
    { $match: { _id: idsUnder("all") } },
    { $group: { _id: null, v: { $sum: "$v" } } },
  ];
  const from = VERSIONS.name;
  return [
    { $lookup: { from, pipeline: ofSlots, as: "slots" } },
    { $lookup: { from, pipeline: ofEverybody, as: "everybody" } },
  ];
}

/** The version of a joined name: the sum of its slot's and everybody's. */
export function personVersions({ slots, everybody }: JoinedVersions): (name: string) => number {
  const bySlot = new Map(slots.map(({ _id, v }) => [_id, v]));
  return (name) => (bySlot.get(slotOf(name)) ?? 0) + (everybody[0]?.v ?? 0);
}

function personIds(people: ChangedNames, lane: number): string[] {
  const slots = people === "everybody" ? [] : [...new Set(people.map(slotOf))];
  const isEverybody = people === "everybody" || slots.length > MAX_NAMED;
  return isEverybody ? [`all/${lane % PEOPLE_LANES}`] : slots;
}

/** 0 to 65,535: the folded hash of a name. Stored, so it never changes. */
function slotOf(name: string): string {
  const hash = hashOf(name);
  return `slot/${(hash ^ (hash >>> 16)) & (SLOTS - 1)}`;
}

/** FNV-1a over the UTF-16 code units: spreads similar texts, equally on every instance. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Selects ids that begin with a name and a slash. */
function idsUnder(name: string) {
  // "0" follows the slash in ASCII.
  return { $gte: `${name}/`, $lt: `${name}0` };
}
