import type { JsonObject } from "../../domain/shared/json.ts";
import type { Declaration } from "../../domain/sync/guess/table-guess.ts";

/** A table of somebody's database. */
export interface ForeignTable {
  readonly name: string;
  readonly declaration: Declaration;

  /**
   * All rows in parts, read each time anew: integers with every digit, bytes as base64. Throws `file_failed` when the
   * file cannot be read further.
   */
  rows(): Iterable<readonly JsonObject[]>;

  /** What of the table becomes no column as it is: foreign keys, and blobs in the rows that were read. For people. */
  notes(): readonly string[];
}

/** A database file that is no store of ours. Nothing of it is changed. */
export interface ForeignDatabase {
  /** By name; without views, and without what a database keeps for itself. Throws `file_failed`. */
  tables(): ForeignTable[];

  /** Views, virtual tables and triggers, by kind and name. Throws `file_failed`. */
  leftOut(): readonly string[];

  close(): void;
}
