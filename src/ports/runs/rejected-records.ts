import type { JsonObject } from "../../domain/shared/json.ts";
import type { SyncDirection } from "../../domain/sync/run/marker.ts";

/** A record that one end rejected. D-4.6, D-4.9. */
export interface RejectedRecord {
  /** Opaque; never used again. As texts, ids are in the order in which the entries were first noted. */
  readonly id: string;
  readonly table: string;
  readonly direction: SyncDirection;
  readonly key: JsonObject;
  /** The whole record as it was pulled; null for a push, whose row is in the table. */
  readonly record: JsonObject | null;
  readonly message: string;
  /** Equal for records with the same content: tells a dropped record from a changed one. */
  readonly fingerprint: string;
  /** Times it was rejected, 1 or more. */
  readonly attempts: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

export type NewRejection = Pick<
  RejectedRecord,
  "table" | "direction" | "key" | "record" | "message" | "fingerprint" | "lastAtMs"
>;

/** A record that somebody dropped: it is not taken up again until it changes. D-7.7. */
export interface DroppedRecord {
  readonly key: JsonObject;
  readonly fingerprint: string;
}

export interface RejectedQuery {
  /** Null for all tables. */
  readonly table: string | null;
  /** Null for both directions. */
  readonly direction: SyncDirection | null;
  /** 1 or more. */
  readonly limit: number;
  /** Only those first noted before the one with this id, which may be gone by now; null for the newest. */
  readonly beforeId: string | null;
}

/**
 * Records that were rejected and wait for the next run. One entry per table, direction and key; keys are the same when
 * their columns hold the same JSON, in any order of fields: `1` and `1.0` are two. Records of which a key column is null
 * have one entry per fingerprint. Commits of `TableStore.write` note them and drop what was accepted. Every method throws
 * `store_unavailable`.
 */
export interface RejectedRecords {
  /** Newest first: in the order in which they were first noted, by any instance and whatever their times. */
  list(query: RejectedQuery): Promise<readonly RejectedRecord[]>;

  /** One entry; null when there is none. */
  find(id: string): Promise<RejectedRecord | null>;

  /** Drops one entry, which is remembered: D-7.7. Resolves to false when there is none. */
  remove(id: string): Promise<boolean>;

  /** What `remove` dropped of a table and direction, and no commit has met since. */
  dropped(table: string, direction: SyncDirection): Promise<readonly DroppedRecord[]>;

  /** The number of entries by table, of both directions or of one. */
  countByTable(direction?: SyncDirection): Promise<ReadonlyMap<string, number>>;
}
