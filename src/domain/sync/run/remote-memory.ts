// The memory of a table about its remote. D-4.5, D-11.10. A table keeps the memory of one remote, known by the
// id of its store. Each direction says whose it is; where either names another remote the next run takes nothing of both and
// drops it in its first commit. So two processes with different remotes lose nothing.
import { LEAST_DELETE_LIMIT } from "../../shared/limits.ts";
import {
  compareDateTimes,
  dateTimeMs,
  isCanonicalDateTime,
  parseDateTime,
} from "../../shared/time.ts";
import type { Table } from "../table/table.ts";
import type { KnownColumns } from "./compare-schemas.ts";
import { SYNC_DIRECTIONS, type SyncDirection } from "./run.ts";

/** The memory of a direction. Fields that no run has kept are absent. */
export interface DirectionMemory {
  /** The time up to which rows were moved, as the end that sent them writes times; empty once it was cleared. S-2.5, S-4.4.2. */
  readonly marker?: string;
  /** The latest `server_time` that the remote sent. */
  readonly remoteClock?: string;
  /** The latest time at which this deployment began to push the table. */
  readonly ownClock?: string;
  /** The mark of late rows up to which rows were moved: the own one for a push, the remote's for a pull. D-7.4. */
  readonly lateMark?: string;
  /** The columns that took part. It says what the rows here hold, not where a run begins, so it is not cleared. D-7.3. */
  readonly columns?: KnownColumns;
  /** The place up to which tombstones were moved. Deletes before it may not be known any more, so it is not cleared. D-7.6. */
  readonly deletes?: DeletePlace;
  /** Versions that pulls have added to the exchanged rows since they were put together. D-7.1. */
  readonly added?: number;
}

export type TableMemory = Readonly<Record<SyncDirection, DirectionMemory>>;

/** The name of a marker in the status result. S-2.5. */
export function markerName(direction: SyncDirection, tableName: string): string {
  return `sync_last_${direction}_${tableName}`;
}

/** A change of the memory: the fields of each direction that get another value. */
export type MemoryChange = Partial<TableMemory>;

export const NO_MEMORY: TableMemory = { push: {}, pull: {} };

/** The memory with which a direction begins at the first row. Its marker is set to the empty text. S-4.4.2. */
export function clearedMemory({ columns, deletes }: DirectionMemory): DirectionMemory {
  return {
    marker: "",
    ...(columns === undefined ? {} : { columns }),
    ...(deletes === undefined ? {} : { deletes }),
  };
}

/** True when all fields are the same. */
export function isSameMemory(a: DirectionMemory, b: DirectionMemory): boolean {
  const textOf = (memory: DirectionMemory) =>
    JSON.stringify(Object.entries(memory).sort(([x], [y]) => (x < y ? -1 : 1)));
  return textOf(a) === textOf(b);
}

export function isNoChange(change: MemoryChange): boolean {
  return SYNC_DIRECTIONS.every((direction) => Object.keys(change[direction] ?? {}).length === 0);
}

/** Two changes as one; of a field that both have the second counts. */
export function bothChanges(first: MemoryChange, second: MemoryChange): MemoryChange {
  return {
    push: { ...first.push, ...second.push },
    pull: { ...first.pull, ...second.pull },
  };
}

export interface RemoteIdentity {
  /** The id that its deployment tells; null when it tells none. */
  readonly id: string | null;
  readonly address: string;
}

/** The text that is kept of a remote. */
export function remoteText({ id, address }: RemoteIdentity): string {
  return id ?? address;
}

/** True for the text of another remote. One of which only the address was kept, and that tells an id now, is the same. */
export function isOtherRemote(kept: string | undefined, { id, address }: RemoteIdentity): boolean {
  return kept !== undefined && kept !== id && kept !== address;
}

/** Seconds from a marker to now; null without a marker that is a time. */
export function markerLagSeconds(
  memory: DirectionMemory | undefined,
  nowMs: number,
): number | null {
  const time = parseDateTime(memory?.marker ?? "");
  return time === null ? null : (nowMs - dateTimeMs(time)) / 1000;
}

// The place up to which the tombstones of a table were moved in a direction, and the limit of rows that they may delete. D-7.6.

export interface DeletePlace {
  /** A cursor of the end that the tombstones come from; null for the beginning of its list. */
  readonly cursor: string | null;
  /** The time at which that end gave the cursor, by the clock of its store, as its record of deletes; canonical. */
  readonly givenAt: string;
}

/** True when deletes after the place may be missing: the record of deletes is complete from a later time on only. */
export function isPlaceTooOld({ givenAt }: DeletePlace, earliestAvailable: string): boolean {
  if (!isCanonicalDateTime(givenAt)) return true;
  return compareDateTimes(givenAt, earliestAvailable) < 0;
}

const LIMIT_PART = 0.1;

/**
 * Rows of a table that one run may delete at an end that has `rowCount` rows: what the request says, or the registry, or
 * `LEAST_DELETE_LIMIT` or a tenth of the table, whichever is more. D-7.6.
 */
export function deleteLimit(table: Table, requested: number | null, rowCount: number): number {
  const ownLimit = Math.max(LEAST_DELETE_LIMIT, Math.floor(rowCount * LIMIT_PART));
  return requested ?? table.maxDeletes ?? ownLimit;
}
