// A number per table that grows with every push that changed it, in the same commit.
import {
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  Long,
  ObjectId,
} from "mongodb";
import { idsUnder } from "./id-range.ts";

const COLLECTION = "repsync_table_versions";
/** No name of a table: those of repsync's own are reserved. */
const PEOPLE = "repsync_people";
/** Documents a version may be spread over, so that concurrent pushes rarely touch the same one. */
const SLOTS = 256;

interface SlotDocument {
  /** Table name, a slash, slot number. */
  readonly _id: string;
  readonly version: Long;
}

/** Versions of all tables. A table's version is the sum over its slots. */
export class TableVersions {
  readonly #collection: Collection<SlotDocument>;
  /** Where this instance's slots begin: instances start at random places. */
  readonly #firstSlot = new ObjectId().id[4] ?? 0;
  readonly #slotsInUse = new Set<number>();

  constructor(db: Db) {
    this.#collection = db.collection(COLLECTION);
  }

  /** The collection's name, for set-up: a transaction must not have to make it. */
  static readonly collectionName = COLLECTION;

  /** Runs a push with a slot that no other push of this instance uses meanwhile. */
  async withSlot<T>(push: (slot: number) => Promise<T>): Promise<T> {
    let slot = this.#firstSlot % SLOTS;
    for (let i = 1; this.#slotsInUse.has(slot) && i < SLOTS; i++)
      slot = (this.#firstSlot + i) % SLOTS;
    this.#slotsInUse.add(slot);
    try {
      return await push(slot);
    } finally {
      this.#slotsInUse.delete(slot);
    }
  }

  /** Raises a table's version as part of the session's transaction. */
  async raise(push: {
    readonly tableName: string;
    readonly slot: number;
    readonly session: ClientSession;
  }): Promise<void> {
    const { tableName, slot, session } = push;
    const _id = `${tableName}/${slot}`;
    await this.#collection.updateOne(
      { _id },
      { $inc: { version: Long.ONE } },
      { upsert: true, session },
    );
  }

  /** Raises the version of what lookups know beside people's rows: consents, accounts, API keys, keys of the audit. */
  async raisePeople(change: {
    readonly slot: number;
    readonly session: ClientSession;
  }): Promise<void> {
    await this.raise({ tableName: PEOPLE, ...change });
  }

  /**
   * A stage that joins, as the field `version`, how often the rows of these tables and what `raisePeople` tells of have
   * changed: one document with the number as text in `sum`, none before the first change.
   */
  static joinPeople(tableNames: readonly string[]): Document {
    const isSlot = [...tableNames, PEOPLE].map((name) => ({ _id: idsUnder(name) }));
    const sum = { _id: null, sum: { $sum: "$version" } };
    const pipeline = [
      { $match: { $or: isSlot } },
      { $group: sum },
      { $set: { sum: { $toString: "$sum" } } },
    ];
    return { $lookup: { from: COLLECTION, pipeline, as: "version" } };
  }

  /** A table's version in the session's snapshot, as text; "0" before its first change. */
  async read(tableName: string, session: ClientSession): Promise<string> {
    const slots = await this.#collection
      .find({ _id: idsUnder(tableName) }, { session, ...READ_OPTIONS })
      .toArray();
    return String(slots.reduce((sum, { version }) => sum + BigInt(version.toString()), 0n));
  }
}

const READ_OPTIONS = {
  readConcern: { level: "snapshot" },
  batchSize: SLOTS + 1,
  promoteLongs: false,
} as const;
