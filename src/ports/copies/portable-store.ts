// What every store holds, in a form that each kind reads and writes: the way from one kind to another. D-10.7.
import type { Row, Table } from "../../domain/sync/table/table.ts";

/** What a store holds beside the rows of its tables, in the order of writing. */
export const PORTABLE_PARTS = [
  "facts",
  "delete_records",
  "tombstones",
  "counters",
  "documents",
] as const;

export type PortablePart = (typeof PORTABLE_PARTS)[number];

/** Numbers that were given out: stores keep more or fewer of them, so they are not compared. */
export const UNCOMPARED_PARTS: ReadonlySet<PortablePart> = new Set(["counters"]);

/** An entry of a part: texts, numbers, booleans, null, bytes and lists of them, by the same names in every store. */
export type PortableEntry = Readonly<Record<string, unknown>>;

/** A store that nobody else uses. Everything throws `store_unavailable`. */
export interface PortableStore {
  /** In batches; those of `audit` by chain and place. */
  read(part: PortablePart, tables: readonly Table[]): AsyncIterable<readonly PortableEntry[]>;

  /** Every row of a prepared table with all its columns, in batches. */
  readRows(table: Table): AsyncIterable<readonly Row[]>;
}

/** An empty store, with all tables made, that is being filled. */
export interface PortableTarget extends PortableStore {
  write(
    part: PortablePart,
    entries: readonly PortableEntry[],
    tables: readonly Table[],
  ): Promise<void>;

  writeRows(table: Table, rows: readonly Row[]): Promise<void>;

  /** Lets services use it. */
  finish(): Promise<void>;

  /** Leaves it empty. Never rejects. */
  giveUp(): Promise<void>;
}
