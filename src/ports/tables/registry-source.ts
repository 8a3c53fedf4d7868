// The place where the tables of the registry are written down. D-14.6.
import type { TableEntry } from "../../domain/sync/table/registry-schema.ts";
import type { Registry } from "../../domain/sync/table/table.ts";

export interface RegistryText {
  /** Null where it cannot be read. */
  readonly text: string | null;
  /** Null where something is wrong. */
  readonly registry: Registry | null;
  /** Everything that is wrong, each with its place; empty where nothing is. */
  readonly problems: readonly string[];
}

export interface RegistrySource {
  read(): Promise<RegistryText>;

  /**
   * Adds a table with a sound entry; the rest of the text, with its comments, is unchanged. Of all processes on this machine one
   * adds at a time. The text is written once `prepare` has resolved; where `prepare` rejects, nothing is written and its error
   * comes out. Throws `conflict` for the name of a table that exists, and `file_failed` when the text cannot be written or has an
   * error.
   */
  add(table: NewTable, prepare: (registry: Registry) => Promise<void>): Promise<Registry>;

  /** The text to add by hand. */
  textToAdd(table: NewTable): string;
}

export interface NewTable {
  readonly name: string;
  readonly entry: TableEntry;
}
