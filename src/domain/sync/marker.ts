// Names of the last-sync markers. S-2.5, S-4.4.2.

/** Which way rows move, seen from this deployment. */
export type SyncDirection = "push" | "pull";

/** Both directions, in the order a run with `both` takes them. D-4.3. */
export const SYNC_DIRECTIONS: readonly SyncDirection[] = ["push", "pull"];

/** The key of a marker in the store and in the status result. */
export function markerName(direction: SyncDirection, tableName: string): string {
  return `sync_last_${direction}_${tableName}`;
}
