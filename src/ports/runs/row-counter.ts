/** Counts what this process moves. Nothing here waits or throws. */
export interface RowCounter {
  addRows(rows: number): void;
}
