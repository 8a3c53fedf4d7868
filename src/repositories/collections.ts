// The data model: every collection of documents that the service owns.

import type { AnyCollection, Collection } from "../ports/documents.ts";
import { ACCOUNT_COLLECTIONS } from "./account-collections.ts";
import { LOOKUP_COLLECTIONS } from "./lookup-collections.ts";
import { RUN_COLLECTIONS } from "./run-collections.ts";

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

/** Runs and comparisons, or dry runs: each kind has an order and a limit of its own. */
export type RunKind = "run" | "dry_run";

export interface RunDocument {
  readonly id: string;
  readonly kind: RunKind;
  /** Counts runs of its kind in the order in which they were first saved, without gaps. */
  readonly number: number;
  /** A `StoredRun` as JSON, which keeps names and their order as they are. */
  readonly run: string;
  readonly newsParts: number;
  /** True where its news are kept no more, as somebody was erased while it ran. D-8.2. */
  readonly isSilenced?: true;
  /** Why somebody cancelled it; absent while nobody has. */
  readonly cancelled?: string;
}

export const RUNS: Collection<RunDocument> = {
  name: "runs",
  fields: ["id", "kind", "number", "run", "newsParts", "isSilenced", "cancelled"],
  keyOf: ({ id }) => [id],
  indexes: {
    order: ({ kind, number }) => [kind, number],
    /** Runs that go on, or whose process has ended. */
    running: ({ kind, run }) => (JSON.parse(run).status === "running" ? [kind] : null),
    /** Comparisons and imports whose news show rows of a table. */
    rowNews({ run, newsParts }) {
      if (newsParts === 0) return null;
      const { table } = JSON.parse(run);
      return table === undefined ? null : [table];
    },
  },
};

/** The news of a run, as JSON in parts, as they may be larger than a document. */
interface RunNewsDocument {
  readonly id: string;
  readonly part: number;
  readonly text: string;
}

export const RUN_NEWS: Collection<RunNewsDocument> = {
  name: "run_news",
  fields: ["id", "part", "text"],
  keyOf: ({ id, part }) => [id, part],
  isLarge: true,
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
  RUNS,
  RUN_NEWS,
  SEQUENCES,
  SCHEDULE_TIMES,
  ...RUN_COLLECTIONS,
  ...ACCOUNT_COLLECTIONS,
  ...LOOKUP_COLLECTIONS,
];
