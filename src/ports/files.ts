// Files of records: what imports, exports and guesses of tables ask of each format. D-4.12, D-10.2, D-10.3.
import type { JsonValue } from "../domain/shared/json.ts";
import type { Column, Row } from "../domain/sync/table/table.ts";

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
      /** Of CSV: the fields by the names of the header, each a text, or null for an empty one without quotes. */
      readonly record: JsonValue;
      readonly problem: null;
      /** Fields that should hold JSON and hold another text, which is their value. */
      readonly notJson?: readonly string[];
    }
  | { readonly record: null; readonly problem: string }
);

/** What becomes of the first line of a CSV file. */
export interface HeaderReader {
  /** Why no record can be made with these names; null when they do. Asked about other delimiters too, for advice. */
  problemOf(names: readonly string[]): string | null;
  /** Called once, before the first record. */
  take(names: readonly string[]): void;
}

export interface ReadOptions {
  /** One character between two fields of CSV. */
  readonly delimiter: string;
  /** Null takes any names but one twice, and a CSV file without a line. */
  readonly header: HeaderReader | null;
}

/** Writes a file part by part: `begin`, any number of rows, `end`. */
export interface RowEncoder {
  begin(): string;
  encode(rows: readonly Row[]): string;
  end(): string;
}

export interface FileFormats {
  /**
   * The records of a text, in its order, in parts of any length; a record that cannot be read is one with a problem. JSON keeps every
   * digit. Throws `file_failed`, after the records before, where the text cannot be read on; what `chunks` throws comes out.
   */
  read(
    format: FileFormat,
    chunks: AsyncIterable<string>,
    options: ReadOptions,
  ): AsyncIterable<readonly FoundRecord[]>;
  /** The delimiter that takes each line of a CSV file apart into as many fields; a comma where none does. Reads the beginning. */
  findDelimiter(chunks: AsyncIterable<string>): Promise<string>;
  /** `isForSpreadsheet`: fields of CSV that a spreadsheet would run are texts. D-11.3. */
  encoder(format: FileFormat, columns: readonly Column[], isForSpreadsheet: boolean): RowEncoder;
}
