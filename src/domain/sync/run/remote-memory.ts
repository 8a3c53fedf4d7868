// The memory of a table about its remote, by the id of the remote's store. D-4.5, D-11.10. Each direction names its remote. A run
// with another remote than either names uses neither memory, and drops both in its first commit. So two processes with different
// remotes lose nothing.
import { LEAST_DELETE_LIMIT } from "../../shared/limits.ts";
import { compareDateTimes, dateTimeMs, parseDateTime } from "../../shared/time.ts";
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
  /** The columns that took part. Not cleared: it tells what the rows here hold, and not where a run begins. D-7.3. */
  readonly columns?: KnownColumns;
  /** The place up to which tombstones were moved. Not cleared: deletes before it may no longer be known. D-7.6. */
  readonly deletes?: DeletePlace;
  /** Versions that pulls have added to the exchanged rows since these were last put together. D-7.1. */
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

export function isNoChange(change: MemoryChange): boolean {
  return SYNC_DIRECTIONS.every((direction) => Object.keys(change[direction] ?? {}).length === 0);
}

/** Of a field that both have the second counts. */
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

/** The text by which a remote is remembered. */
export function remoteText({ id, address }: RemoteIdentity): string {
  return id ?? address;
}

/** True for the text of another remote. A remote that was kept by its address, and tells an id now, is the same. */
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

// How far the tombstones of a table were moved in a direction, and how many rows they may delete. D-7.6.

export interface DeletePlace {
  /** A cursor of the end that the tombstones come from; null for the beginning of its list. */
  readonly cursor: string | null;
  /** Canonical time at which that end gave the cursor, by the clock of its store. */
  readonly givenAt: string;
}

/** True when deletes after the place may be missing: the record of deletes is complete from a later time on only. */
export function isPlaceTooOld({ givenAt }: DeletePlace, earliestAvailable: string): boolean {
  return compareDateTimes(givenAt, earliestAvailable) < 0;
}

const LIMIT_PART = 0.1;

/** Rows that one run may delete of `rowCount`: by the request, else the registry, else `LEAST_DELETE_LIMIT` or a tenth. D-7.6. */
export function deleteLimit(table: Table, requested: number | null, rowCount: number): number {
  const ownLimit = Math.max(LEAST_DELETE_LIMIT, Math.floor(rowCount * LIMIT_PART));
  return requested ?? table.maxDeletes ?? ownLimit;
}
