/** What happened within a minute, or an hour. */
export interface TrafficCounts {
  /** Start of the minute or hour, in milliseconds since 1970. */
  readonly atMs: number;
  /** Rows moved: written or removed by synchronization. */
  readonly rows: number;
  /** Lookups that were decided. */
  readonly lookups: number;
}

export interface TrafficHistory {
  /** Of the last day, the oldest first; a minute without any is left out. */
  readonly minutes: readonly TrafficCounts[];
  /** Of the last 31 days, in the same way. */
  readonly hours: readonly TrafficCounts[];
}

/**
 * How many rows were moved and lookups decided per minute and hour, summed over all instances. Each process adds what it has
 * counted every few seconds, so a crash loses the last of them. Every method throws `store_unavailable`. D-9.5.
 */
export interface TrafficStore {
  /**
   * Adds the counts of minutes to these and to their hours, all in one commit, and forgets minutes from more than a day
   * before `nowMs` and hours from more than 31.
   */
  add(minutes: readonly TrafficCounts[], nowMs: number): Promise<void>;

  read(nowMs: number): Promise<TrafficHistory>;
}

/** Counts what this process moves. Nothing here waits or throws. */
export interface RowCounter {
  addRows(rows: number): void;
}
