import type { ClientSession, Collection, Db } from "mongodb";
import type { MarkerStore } from "../../../ports/runs/marker-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { Deadline } from "../driver/deadline.ts";
import { toCommitError } from "../driver/errors.ts";
import { COMMITTED, readCommitted, type StoreDeps } from "../driver/operations.ts";
import { commitTransaction } from "../driver/transaction.ts";

export const MARKERS: InternalCollection = { name: "repsync_markers" };

interface MarkerDocument {
  /** Marker name. */
  readonly _id: string;
  readonly value: string;
}

export class MongoMarkerStore implements MarkerStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async readAll(): Promise<ReadonlyMap<string, string>> {
    const markers = await readCommitted(this.#deps, () =>
      collectionOf(this.#deps.db)
        .find({ value: { $ne: "" } }, { ...COMMITTED, sort: { _id: 1 } })
        .toArray(),
    );
    return new Map(markers.map(({ _id, value }) => [_id, value]));
  }

  async writeAll(markers: ReadonlyMap<string, string>): Promise<void> {
    if (markers.size === 0) return;
    const { client, db, clock } = this.#deps;
    const scope = { client, clock, deadline: Deadline.start(clock) };
    try {
      await commitTransaction(scope, (tx) => setMarkers(db, markers, tx));
    } catch (error) {
      throw toCommitError(error);
    }
  }
}

/** Sets markers within the caller's transaction. */
export async function setMarkers(
  db: Db,
  markers: ReadonlyMap<string, string>,
  tx: ClientSession,
): Promise<void> {
  if (markers.size === 0) return;
  const upserts = [...markers].toSorted().map(([_id, value]) => ({
    updateOne: { filter: { _id }, update: { $set: { value } }, upsert: true },
  }));
  await collectionOf(db).bulkWrite(upserts, { session: tx, ordered: false });
}

function collectionOf(db: Db): Collection<MarkerDocument> {
  return db.collection(MARKERS.name);
}
