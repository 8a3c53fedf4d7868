// A number per table that grows in the commit of every change of its rows. Readers of pages compare what they remember by
// it; lookups have versions of their own, one per person (person-versions.ts).
import { type ClientSession, type Collection, type Db, Long, ObjectId } from "mongodb";
import { idsUnder } from "./collections.ts";
import { type ChangedNames, raisePersonVersions } from "./person-versions.ts";

const COLLECTION = "repsync_table_versions";
/** Documents a version may be spread over, so that concurrent pushes rarely touch the same one. */
const LANES = 256;

interface LaneDocument {
  /** Table name, a slash, lane number. */
  readonly _id: string;
  readonly version: Long;
}

/** Versions of all tables. A table's version is the sum over its lanes. */
export class TableVersions {
  readonly #db: Db;
  readonly #collection: Collection<LaneDocument>;
  /** Where this instance's lanes begin: instances start at random places. */
  readonly #firstLane = new ObjectId().id[4] ?? 0;
  readonly #lanesInUse = new Set<number>();

  constructor(db: Db) {
    this.#db = db;
    this.#collection = db.collection(COLLECTION);
  }

  /** The collection's name, for set-up: a transaction must not have to make it. */
  static readonly collectionName = COLLECTION;

  /** Runs a push with a lane that no other push of this instance uses meanwhile. */
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

  /** Raises a table's version, and those of the people whose rows there change, within the session's transaction. */
  async raise(change: {
    readonly tableName: string;
    readonly people: ChangedNames;
    readonly lane: number;
    readonly session: ClientSession;
  }): Promise<void> {
    const { tableName, people, lane, session } = change;
    await raisePersonVersions(this.#db, people, { tx: session, lane });
    const _id = `${tableName}/${lane}`;
    await this.#collection.updateOne(
      { _id },
      { $inc: { version: Long.ONE } },
      { upsert: true, session },
    );
  }

  /** A table's version in the session's snapshot, as text; "0" before its first change. */
  async read(tableName: string, session: ClientSession): Promise<string> {
    const lanes = await this.#collection
      .find({ _id: idsUnder(tableName) }, { session, ...READ_OPTIONS })
      .toArray();
    return String(lanes.reduce((sum, { version }) => sum + BigInt(version.toString()), 0n));
  }
}

const READ_OPTIONS = {
  readConcern: { level: "snapshot" },
  batchSize: LANES + 1,
  promoteLongs: false,
} as const;
