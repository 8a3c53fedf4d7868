/**
 * The rows of each table as they last went to the remote or came from it, in blocks that only the domain can read
 * (`AgreedRows` there). `TableStore.write` adds to them in the commit of the rows. Throws `store_unavailable`. D-7.1.
 */
export interface AgreedBlocks {
  /** All blocks of a table, the oldest first. */
  read(tableName: string): Promise<readonly Uint8Array[]>;

  /** Puts these in place of the blocks of a table that were read, of which there were `count`, the oldest; later ones stay. */
  replace(tableName: string, count: number, blocks: readonly Uint8Array[]): Promise<void>;

  /** Removes all of these tables. */
  clear(tableNames: readonly string[]): Promise<void>;
}
