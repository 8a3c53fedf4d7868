// What is found in the database with the name of a table.
import type { Column } from "../../../domain/sync/table/table.ts";
import type { IndexColumns } from "../../../domain/sync/table/table-refusals.ts";

/** What is kept of a prepared table. */
export interface TableEntryKept {
  /** Every column that it ever had, in the order of coming, with the registry's type. */
  readonly columns: Readonly<Record<string, Column["type"]>>;
  readonly key: readonly string[];
  readonly timestamp: string | null;
  readonly deletes: boolean;
  readonly numbered: boolean;
  /** A digest of its triggers: another version of repsync may make different ones. */
  readonly triggers: string;
  /** Present for a table that another program made. */
  readonly isForeign?: true;
  /** Absent in older entries, whose tables have no `MARK` yet. */
  readonly schema?: string;
}

export interface FoundColumn {
  readonly name: string;
  /** As the server calls it, with length or precision. */
  readonly type: string;
  readonly mayBeNull: boolean;
  /** True where only the database writes the column. */
  readonly isGenerated: boolean;
  /** True where its value is computed of others, and may be null before that, as some domains may not. */
  readonly isComputed: boolean;
  /** True where the column's own sequence numbers rows, and repsync may use it. */
  readonly isNumbered: boolean;
  /** Means nothing for columns without text. */
  readonly collation: string;
  readonly isOrderedByBytes: boolean;
  readonly isComparedByBytes: boolean;
}

/** An index of all rows, on columns, with their collations. */
interface FoundIndex extends IndexColumns {
  readonly name: string;
  readonly isUnique: boolean;
  /** True where rows may share a key until their commit. */
  readonly isDeferrable: boolean;
}

/** An object with the name of a table. */
export interface FoundTable {
  readonly kind: string;
  /** Clauses: why rows of the object cannot be told from others, kept, or written. */
  readonly obstacles: readonly string[];
  readonly columns: readonly FoundColumn[];
  readonly indexes: readonly FoundIndex[];
  /** Names of all indexes, also of those that `indexes` leaves out. */
  readonly indexNames: readonly string[];
  readonly isMarked: boolean;
  readonly hasSetters: boolean;
  /** Number of repsync's triggers that fire as they should. */
  readonly triggers: number;
  /** True where there is any, also one that does not fire. */
  readonly hasTriggers: boolean;
  /** The role of repsync, quoted. */
  readonly user: string;
  /** True where repsync may alter and index the table. */
  readonly isOwned: boolean;
  readonly mayTrigger: boolean;
  /** True where rows come by logical replication, which fires no statement triggers. */
  readonly isReplicated: boolean;
  /** True where there are rows, or where an obstacle keeps repsync from looking. */
  readonly hasRows: boolean;
}

export interface Found {
  readonly kept: TableEntryKept | null;
  readonly table: FoundTable | null;
  /** The id of its list of tombstones; null where deletes were never recorded. */
  readonly list: string | null;
}

export const NOTHING_FOUND: Found = { kept: null, table: null, list: null };

/** A table whose rows were not looked at, which may wait for whoever alters it. */
export type SeenTable = Omit<FoundTable, "hasRows">;
