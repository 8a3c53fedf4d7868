// The data model: every collection of documents that the service owns.
import type { TrafficCounts, TrafficUnit } from "../domain/sync/run/traffic.ts";
import type { AnyCollection, Collection } from "../ports/documents.ts";

/** The counts of a minute or an hour. */
export interface TrafficDocument extends TrafficCounts {
  readonly unit: TrafficUnit;
}

export const TRAFFIC: Collection<TrafficDocument> = {
  name: "traffic",
  keyOf: ({ unit, atMs }) => [unit, atMs],
};

/** A store makes them when it is opened. */
export const COLLECTIONS: readonly AnyCollection[] = [TRAFFIC];
