// A number per table that grows in the commit of every change of its rows. Pages are cached by it; lookups have versions
// of their own, per person (person-versions.ts).
import { type ClientSession, type Collection, type Db, Long, ObjectId } from "mongodb";
import { type InternalCollection, idsUnder } from "./collections.ts";
import type { StoreDeps } from "./operations.ts";

export const TABLE_VERSIONS: InternalCollection = { name: "repsync_table_versions" };

/** Lanes per table: so many that concurrent pushes rarely write to the same one. */
const LANES = 256;

interface LaneDocument {
  /** Table name, a slash, lane number. */
  readonly _id: string;
  readonly version: Long;
}

export interface VersionedDeps extends StoreDeps {
  readonly versions: TableVersions;
}

/** Versions of all tables. A table's version is the sum of its lanes. */
export class TableVersions {
  readonly #collection: Collection<LaneDocument>;
  /** Where this instance's lanes begin: instances start at random places. */
  readonly #firstLane = new ObjectId().id[4] ?? 0;
  readonly #lanesInUse = new Set<number>();

  constructor(db: Db) {
    this.#collection = db.collection(TABLE_VERSIONS.name);
  }

  /** Runs a push with a lane that no other push of this instance uses at the same time. */
  async withLane<T>(push: (lane: number) => Promise<T>): Promise<T> {
    let lane = this.#firstLane % LANES;
    for (let i = 1; this.#lanesInUse.has(lane) && i < LANES; i++)
      lane = (this.#firstLane + i) % LANES;
    this.#lanesInUse.add(lane);
    try {
      return await push(lane);
    } finally {
      this.#lanesInUse.delete(lane);
    }
  }

  /** Raises the version of a table, within the caller's transaction. */
  async raise(tableName: string, lane: number, tx: ClientSession): Promise<void> {
    const raised = { $inc: { version: Long.ONE } };
    const options = { upsert: true, session: tx };
    await this.#collection.updateOne({ _id: `${tableName}/${lane}` }, raised, options);
  }

  /** A table's version in a snapshot, as text; "0" before its first change. */
  async read(tableName: string, tx: ClientSession): Promise<string> {
    const lanes = await this.#collection
      .find({ _id: idsUnder(tableName) }, { ...READ_OPTIONS, session: tx })
      .toArray();
    return String(lanes.reduce((sum, { version }) => sum + BigInt(version.toString()), 0n));
  }
}

const READ_OPTIONS = {
  readConcern: { level: "snapshot" },
  batchSize: LANES + 1,
  promoteLongs: false,
} as const;
