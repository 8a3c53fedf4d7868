/** A block that a store keeps. */
export interface AgreedBlock {
  /** Opaque; never used again. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * The rows of each table as they last went to the remote or came from it, in blocks that only the domain can read
 * (`AgreedRows` there). `TableStore.write` adds to them in the commit of the rows. Throws `store_unavailable`. D-7.1.
 */
export interface AgreedBlocks {
  /** All blocks of a table, the oldest first. */
  read(tableName: string): Promise<readonly AgreedBlock[]>;

  /**
   * Puts these in place of the blocks of a table with these ids, which were read; later ones stay. Does nothing when one of
   * them is gone: somebody else has put them together, or removed them.
   */
  replace(tableName: string, ids: readonly string[], blocks: readonly Uint8Array[]): Promise<void>;

  /** Removes all of these tables. */
  clear(tableNames: readonly string[]): Promise<void>;
}
