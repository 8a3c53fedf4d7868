// The data model of what runs keep, and of what waits to be told.
import type { QueuedAlert } from "../domain/alerts/alert.ts";
import type { LateNotes, LateTimes } from "../domain/sync/run/late-rows.ts";
import type { EntryName, RejectedRecord } from "../domain/sync/run/rejections.ts";
import type { DirectionMemory } from "../domain/sync/run/remote-memory.ts";
import type { SyncDirection } from "../domain/sync/run/run.ts";
import type { AnyCollection, Collection } from "../ports/documents.ts";

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

export interface WaitingAlert extends QueuedAlert {
  /** Attempts that failed, 0 or more. */
  readonly attempts: number;
}

export interface AlertDocument extends WaitingAlert {
  readonly dueAtMs: number;
}

export const ALERTS: Collection<AlertDocument> = {
  name: "alerts",
  fields: ["id", "type", "account", "atMs", "dueAtMs", "attempts", "body"],
  keyOf: ({ id }) => [id],
  indexes: {
    /** Alerts about no account first. */
    due: ({ account, dueAtMs, atMs }) => [account === null ? 0 : 1, dueAtMs, atMs],
    account: ({ account, atMs }) => (account === null ? null : [account, atMs]),
  },
};

/** A lease that somebody holds, or held until it ran out. */
export interface LeaseDocument {
  readonly name: string;
  readonly holder: string;
  readonly turn: number;
  readonly ttlMs: number;
  readonly endsAtMs: number;
}

export const LEASES: Collection<LeaseDocument> = {
  name: "leases",
  fields: ["name", "holder", "turn", "ttlMs", "endsAtMs"],
  keyOf: ({ name }) => [name],
  isCopied: false,
};

/** The last holder of a lease, and the commits that were made under it. */
export interface TurnDocument {
  readonly name: string;
  readonly turn: number;
  readonly commits: number;
}

export const TURNS: Collection<TurnDocument> = {
  name: "turns",
  fields: ["name", "turn", "commits"],
  keyOf: ({ name }) => [name],
  isCopied: false,
};

/** The memory of a table about the remote that it was last moved with in a direction. */
export interface MemoryDocument extends DirectionMemory {
  readonly table: string;
  readonly direction: SyncDirection;
  /** The remote's `remoteText`; absent before the first commit with one. D-11.10. */
  readonly remote?: string;
}

export const MEMORY: Collection<MemoryDocument> = {
  name: "memory",
  fields: [
    "table",
    "direction",
    "remote",
    "marker",
    "remoteClock",
    "ownClock",
    "lateMark",
    "columns",
    "deletes",
    "added",
  ],
  keyOf: ({ table, direction }) => [table, direction],
};

/** The rows that this end had more than the remote when the last run over a table ended; negative for fewer. D-7.5. */
interface DriftDocument {
  readonly table: string;
  readonly rows: number;
}

export const DRIFTS: Collection<DriftDocument> = {
  name: "drifts",
  fields: ["table", "rows"],
  keyOf: ({ table }) => [table],
};

/** Versions of exchanged rows, as `exchangedBlock` writes them. D-7.1. */
interface ExchangedDocument {
  readonly table: string;
  /** Ascends with commits; commits at the same moment may share one. */
  readonly number: number;
  readonly id: string;
  readonly versions: Uint8Array;
}

export const EXCHANGED: Collection<ExchangedDocument> = {
  name: "exchanged",
  fields: ["table", "number", "id", "versions"],
  keyOf: ({ table, number, id }) => [table, number, id],
  bytes: ["versions"],
};

/** The late notes of a table, without those that commits have made since. D-7.4. */
interface LateNotesDocument extends LateNotes {
  readonly table: string;
  readonly id?: never;
}

/** The late note of one commit, until a reader adds it to those of the table. */
export interface LateCommitDocument extends LateTimes {
  readonly table: string;
  readonly id: string;
}

/** For each table the notes, then the commits. */
export const LATE_ROWS: Collection<LateNotesDocument | LateCommitDocument> = {
  name: "late_rows",
  fields: [
    "table",
    "id",
    "origin",
    "last",
    "byOwnRuns",
    "byOthers",
    "freshByOwnRuns",
    "freshByOthers",
  ],
  keyOf: ({ table, id }) => (id === undefined ? [table] : [table, id]),
};

/** A rejected record without its texts. */
export interface RejectedDocument
  extends Omit<RejectedRecord, "id" | "key" | "record" | "message"> {
  readonly entry: EntryName;
  /** Counts entries in the order in which they were first noted. */
  readonly number: number;
  readonly parts: number;
  /** Its `namedPerson`. */
  readonly person?: string;
}

export const REJECTED: Collection<RejectedDocument> = {
  name: "rejected",
  fields: [
    "table",
    "direction",
    "entry",
    "number",
    "fingerprint",
    "attempts",
    "firstAtMs",
    "lastAtMs",
    "parts",
    "person",
  ],
  keyOf: ({ table, direction, entry }) => [table, direction, ...entry],
  indexes: {
    number: ({ number }) => [number],
    table: ({ table, number }) => [table, number],
    direction: ({ direction, number }) => [direction, number],
    both: ({ table, direction, number }) => [table, direction, number],
    person: ({ person, table }) => (person === undefined ? null : [person, table]),
  },
};

/** The key, record and message of a rejected record, as one JSON text in parts. */
interface RejectedTextDocument {
  readonly number: number;
  readonly part: number;
  readonly text: string;
}

export const REJECTED_TEXTS: Collection<RejectedTextDocument> = {
  name: "rejected_texts",
  fields: ["number", "part", "text"],
  keyOf: ({ number, part }) => [number, part],
  isLarge: true,
};

/** A rejected record that somebody dropped: it is not taken up again until it changes. D-7.7. */
interface DroppedDocument {
  readonly table: string;
  readonly direction: SyncDirection;
  readonly entry: EntryName;
  /** The key as JSON. */
  readonly key: string;
  readonly fingerprint: string;
  readonly person?: string;
}

export const DROPPED: Collection<DroppedDocument> = {
  name: "dropped",
  fields: ["table", "direction", "entry", "key", "fingerprint", "person"],
  keyOf: ({ table, direction, entry }) => [table, direction, ...entry],
  indexes: { person: ({ person, table }) => (person === undefined ? null : [person, table]) },
};

export const RUN_COLLECTIONS: readonly AnyCollection[] = [
  RUNS,
  RUN_NEWS,
  ALERTS,
  LEASES,
  TURNS,
  MEMORY,
  DRIFTS,
  EXCHANGED,
  LATE_ROWS,
  REJECTED,
  REJECTED_TEXTS,
  DROPPED,
];
