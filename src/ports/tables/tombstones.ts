import type { Tombstone } from "../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../domain/sync/table/table.ts";

export interface TombstoneQuery {
  /** Only those listed after this `cursor` of this store; null: from the first on. */
  readonly after: string | null;
  /** Only those taken in at or after this canonical time; null for all. */
  readonly sinceTime: string | null;
  readonly limitRows: number;
}

export interface TombstonePage {
  /** In the order in which they became visible here. A tombstone that was listed anew stands only at its last place. */
  readonly items: readonly Tombstone[];
  /** Behind the last item, else `after`: where to go on. `<id of the list>-<place>` in every store, as peers keep it. D-10.7. */
  readonly cursor: string;
  readonly hasMore: boolean;
  /** Canonical time since when the record of deletes is complete. */
  readonly earliestAvailable: string;
}

/**
 * The tombstones of tables with `deletes`: made for every row that any program deletes, and taken in by `TableWrites.write`. A
 * delete by another program keeps a later tombstone. Every method throws `store_unavailable`. D-7.6.
 */
export interface Tombstones {
  /**
   * Lists tombstones. Waits until all deletes that were committed before the call are in the record, 10 s at most, then
   * throws `store_unavailable`. Throws `invalid_request` for a cursor that this store never gave.
   */
  list(table: Table, query: TombstoneQuery): Promise<TombstonePage>;

  /** The place behind the last tombstone, for all rows deleted before the call. Waits as `list` does. */
  end(table: Table): Promise<string>;

  /** The number of tombstones listed after a place; null: of all. */
  countAfter(table: Table, after: string | null): Promise<number>;

  /** The tombstones of keys recorded by now, once each, in any order. */
  byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]>;

  /** Forgets those listed after a place, without bringing rows back. Resolves to their number. Waits as `list` does. */
  forgetAfter(table: Table, after: string | null): Promise<number>;

  /** Forgets those taken in before a canonical time. `earliestAvailable` is then at least that time. */
  prune(table: Table, beforeTime: string): Promise<number>;
}

/** For a store without tables with `deletes`. */
export class NoTombstones implements Tombstones {
  readonly list = none;
  readonly end = none;
  readonly countAfter = none;
  readonly byKeys = none;
  readonly forgetAfter = none;
  readonly prune = none;
}

function none(): Promise<never> {
  return Promise.reject(new Error("This store records no deletes"));
}
