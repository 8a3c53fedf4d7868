import type { Collection, Db, MongoClient } from "mongodb";
import type { MarkerStore } from "../../ports/marker-store.ts";
import { retry, type Stopwatch, startDeadline } from "./deadline.ts";
import { toAppError } from "./mongo-errors.ts";
import type { PrimaryWatch } from "./primary-watch.ts";
import { commitTransaction } from "./transaction.ts";

interface MarkerDocument {
  /** Marker name. */
  readonly _id: string;
  readonly value: string;
}

/** Markers as documents of one collection. */
export class MongoMarkerStore implements MarkerStore {
  static readonly collectionName = "repsync_markers";

  readonly #client: MongoClient;
  readonly #clock: Stopwatch;
  readonly #primaryWatch: PrimaryWatch;
  readonly #collection: Collection<MarkerDocument>;

  constructor(parts: {
    client: MongoClient;
    db: Db;
    clock: Stopwatch;
    primaryWatch: PrimaryWatch;
  }) {
    this.#client = parts.client;
    this.#clock = parts.clock;
    this.#primaryWatch = parts.primaryWatch;
    this.#collection = parts.db.collection(MongoMarkerStore.collectionName);
  }

  async readAll(): Promise<ReadonlyMap<string, string>> {
    try {
      const markers = await retry(startDeadline(this.#clock), async () => {
        await this.#primaryWatch.confirm();
        const options = { readConcern: { level: "majority" }, sort: { _id: 1 } } as const;
        return await this.#collection.find({ value: { $ne: "" } }, options).toArray();
      });
      return new Map(markers.map(({ _id, value }) => [_id, value]));
    } catch (error) {
      throw toAppError(error);
    }
  }

  async writeAll(markers: ReadonlyMap<string, string>): Promise<void> {
    if (markers.size === 0) return;
    const upserts = [...markers].toSorted().map(([_id, value]) => ({
      updateOne: { filter: { _id }, update: { $set: { value } }, upsert: true },
    }));
    const scope = { client: this.#client, deadline: startDeadline(this.#clock) };
    try {
      await commitTransaction(scope, (session) =>
        this.#collection.bulkWrite(upserts, { session, ordered: false }),
      );
    } catch (error) {
      throw toAppError(error);
    }
  }
}
