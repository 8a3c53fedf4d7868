import type { ClientSession, Collection, Db, MongoClient } from "mongodb";
import type { MarkerStore } from "../../ports/marker-store.ts";
import { retry, type Stopwatch, startDeadline } from "./deadline.ts";
import { toAppError, toCommitError } from "./mongo-errors.ts";
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
  readonly #db: Db;

  constructor(parts: {
    client: MongoClient;
    db: Db;
    clock: Stopwatch;
    primaryWatch: PrimaryWatch;
  }) {
    this.#client = parts.client;
    this.#clock = parts.clock;
    this.#primaryWatch = parts.primaryWatch;
    this.#db = parts.db;
  }

  async readAll(): Promise<ReadonlyMap<string, string>> {
    try {
      const options = { readConcern: { level: "majority" }, sort: { _id: 1 } } as const;
      const read = () =>
        collectionOf(this.#db)
          .find({ value: { $ne: "" } }, options)
          .toArray();
      const markers = await retry(startDeadline(this.#clock), () => this.#primaryWatch.read(read));
      return new Map(markers.map(({ _id, value }) => [_id, value]));
    } catch (error) {
      throw toAppError(error);
    }
  }

  async writeAll(markers: ReadonlyMap<string, string>): Promise<void> {
    if (markers.size === 0) return;
    const deadline = startDeadline(this.#clock);
    const scope = { client: this.#client, clock: this.#clock, deadline };
    try {
      await commitTransaction(scope, (session) => setMarkers(this.#db, { markers, session }));
    } catch (error) {
      throw toCommitError(error);
    }
  }
}

/** Sets markers as part of the session's transaction. */
export async function setMarkers(
  db: Db,
  change: { readonly markers: ReadonlyMap<string, string>; readonly session: ClientSession },
): Promise<void> {
  const { markers, session } = change;
  if (markers.size === 0) return;
  const upserts = [...markers].toSorted().map(([_id, value]) => ({
    updateOne: { filter: { _id }, update: { $set: { value } }, upsert: true },
  }));
  await collectionOf(db).bulkWrite(upserts, { session, ordered: false });
}

function collectionOf(db: Db): Collection<MarkerDocument> {
  return db.collection(MongoMarkerStore.collectionName);
}
