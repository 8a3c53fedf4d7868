// Files that people keep: of records, in each format, for imports, exports and guesses of tables; and that of the registry. D-4.12,
// D-10.2, D-10.3.
import type { JsonObject, JsonValue } from "../domain/shared/json.ts";
import type { Declaration } from "../domain/sync/guess/table-guess.ts";
import type { Encoding, TableEntry } from "../domain/sync/table/registry-schema.ts";
import type { Column, FileForm, Registry, Row } from "../domain/sync/table/table.ts";

export const FILE_FORMATS = ["json", "ndjson", "csv"] as const;

export type FileFormat = (typeof FILE_FORMATS)[number];

/** A record of a file, or why a place of the file could not be read as one. */
export type FoundRecord = {
  /** Line on which it begins, from 1. */
  readonly line: number;
  /** Length of its text, for an estimate of the memory it takes. */
  readonly chars: number;
} & (
  | {
      /** In CSV the fields by the names of the header, each a text, or null for an empty one without quotes. */
      readonly record: JsonValue;
      readonly problem: null;
      /** Fields that are none of their column's type, by the column's name; their text is their value. */
      readonly odd?: readonly string[];
      /** Fields whose value an export marked, so that it is taken as it is. */
      readonly exact?: readonly string[];
    }
  | { readonly record: null; readonly problem: string }
);

/** The parts that were read already, then all others; closes `others`. */
export async function* startingWith<Part>(
  first: readonly Part[],
  others: AsyncIterator<Part>,
): AsyncGenerator<Part, void, undefined> {
  try {
    yield* first;
    for (let next = await others.next(); next.done !== true; next = await others.next()) {
      yield next.value;
    }
  } finally {
    await others.return?.();
  }
}

/** The reader of a CSV file's header, which stands on its line `line`. */
export interface HeaderReader {
  /** Why no record can be made with these names; null where one can. Asked about other delimiters too, for a hint. */
  problemOf(names: readonly string[], line: number): string | null;
  /** Called once, before the first record. */
  take(names: readonly string[], line: number): void;
}

export interface DecodeOptions {
  /** For messages. */
  readonly name: string;
  /** Null: UTF-8. A byte order mark goes before either. */
  readonly encoding: Encoding | null;
}

export interface WriteOptions {
  readonly form: FileForm;
  /** True: fields of CSV that a spreadsheet would run are texts. D-11.3. */
  readonly isForSpreadsheet: boolean;
}

export interface ReadOptions {
  /** The character between two fields of CSV, unless the first line of the file names another (`sep=;`). */
  readonly delimiter: string;
  /** Null takes any names that differ, and a CSV file without a line. */
  readonly header: HeaderReader | null;
  /** Told the names of a CSV file. */
  readonly onNames?: (names: readonly string[]) => void;
  /** Names to the array within a JSON document, separated by points; null where the document is the array. */
  readonly path: string | null;
}

/** Writes a file part by part: `begin`, any number of rows, `end`. */
export interface RowEncoder {
  begin(): string;
  encode(rows: readonly Row[]): string;
  end(): string;
}

export interface FileFormats {
  /** The text of a file, without byte order mark, in parts; gzip is decompressed. Throws `file_failed`, and what `bytes` throws. */
  decode(bytes: AsyncIterable<Uint8Array>, options: DecodeOptions): AsyncIterable<string>;
  /** The bytes of a text, in its parts. Throws `file_failed` for what the encoding cannot write, and what `parts` throws. */
  encode(parts: AsyncIterable<string>, encoding: Encoding): AsyncIterable<string | Uint8Array>;
  /**
   * The records of a text, in its order, in parts of any length; a record that cannot be read comes with its problem. JSON keeps
   * every digit. Throws `file_failed`, after the records before, where the text cannot be read on; what `chunks` throws comes out.
   */
  read(
    format: FileFormat,
    chunks: AsyncIterable<string>,
    options: ReadOptions,
  ): AsyncIterable<readonly FoundRecord[]>;
  /** The delimiter that the file names, or that cuts each line into as many fields; else a comma. Reads the beginning. */
  findDelimiter(chunks: AsyncIterable<string>): Promise<string>;
  encoder(format: FileFormat, columns: readonly Column[], options: WriteOptions): RowEncoder;
}

export interface ForeignTable {
  readonly name: string;
  readonly declaration: Declaration;

  /**
   * All rows in parts, read anew each time: integers with every digit, bytes as base64, and in a store of ours values as repsync
   * keeps them. Throws `file_failed` when the file cannot be read further.
   */
  rows(): Iterable<readonly JsonObject[]>;

  /** The parts of the table that become no column unchanged: foreign keys, and blobs in the rows that were read. For people. */
  notes(): readonly string[];
}

/** A database file other than a store of ours. Nothing of it is changed. */
export interface ForeignDatabase {
  /** By name; without views, and without what a database keeps for itself. Throws `file_failed`. */
  tables(): ForeignTable[];

  /** Views, virtual tables and triggers, by kind and name. Throws `file_failed`. */
  leftOut(): readonly string[];

  close(): void;
}

export interface NewTable {
  readonly name: string;
  readonly entry: TableEntry;
}

/** The registry as it is written down. D-14.6. */
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
