// The data model: every collection of documents that the service owns.

import type { AnyCollection, Collection } from "../ports/documents.ts";
import { ACCOUNT_COLLECTIONS } from "./account-collections.ts";
import { LOOKUP_COLLECTIONS } from "./lookup-collections.ts";
import { RUN_COLLECTIONS, type RunKind } from "./run-collections.ts";

/** The minutes and hours by which traffic is kept. D-9.5. */
export type TrafficUnit = "minute" | "hour";

export interface TrafficCounts {
  /** Start of the minute or hour, in milliseconds since 1970. */
  readonly atMs: number;
  /** Rows moved: written or removed by synchronization. */
  readonly rows: number;
  readonly lookups: number;
}

export interface TrafficDocument extends TrafficCounts {
  readonly unit: TrafficUnit;
}

export const TRAFFIC: Collection<TrafficDocument> = {
  name: "traffic",
  fields: ["unit", "atMs", "rows", "lookups"],
  keyOf: ({ unit, atMs }) => [unit, atMs],
};

/** The last number that was given out under a name. */
interface SequenceDocument {
  readonly name: RunKind | "rejected" | "consents";
  readonly last: number;
}

export const SEQUENCES: Collection<SequenceDocument> = {
  name: "sequences",
  fields: ["name", "last"],
  keyOf: ({ name }) => [name],
};

/** The last scheduled backup, the last that failed, and of each other schedule the time taken last. */
export type ScheduleTimeName =
  | "last_backup"
  | "last_backup_failure"
  | "last_sync_time"
  | "last_compare_time";

interface ScheduleTimeDocument {
  readonly name: ScheduleTimeName;
  /** Canonical time. */
  readonly value: string;
}

export const SCHEDULE_TIMES: Collection<ScheduleTimeDocument> = {
  name: "settings",
  fields: ["name", "value"],
  keyOf: ({ name }) => [name],
};

/** A store makes them when it is opened. */
export const COLLECTIONS: readonly AnyCollection[] = [
  TRAFFIC,
  SEQUENCES,
  SCHEDULE_TIMES,
  ...RUN_COLLECTIONS,
  ...ACCOUNT_COLLECTIONS,
  ...LOOKUP_COLLECTIONS,
];
