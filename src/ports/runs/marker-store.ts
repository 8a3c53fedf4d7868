/**
 * Last-sync markers: short texts by name, kept durably. Names are those of `markerName`.
 * Every method throws `AppError` of kind `store_unavailable` when the store cannot be reached in time; writing throws
 * `commit_failed` when the store refuses the commit.
 */
export interface MarkerStore {
  /** Every marker whose value is not the empty string, by name. S-2.5. */
  readAll(): Promise<ReadonlyMap<string, string>>;

  /** Sets the given markers in one commit, durably, and leaves the others. A later value replaces an earlier one. */
  writeAll(markers: ReadonlyMap<string, string>): Promise<void>;
}
