// The result of an import, and its events for those who watch it. D-10.3, D-14.4.
import type { JsonValue } from "../../shared/json.ts";
import type { Row } from "../table/table.ts";
import type { FinishedEvent } from "./run.ts";

/** A remark about one value, or about a whole record. */
export interface RecordProblem {
  /** A column, or a field without a column; null for the whole record. */
  readonly column: string | null;
  /** The value as the file has it; null where there is none. */
  readonly value: JsonValue;
  readonly message: string;
}

/** A value that could not be read, of a record that is written all the same. */
export interface ImportWarning extends RecordProblem {
  readonly line: number;
}

export interface ImportFailure extends ImportWarning {
  /** `key=value, key=value`; null when there is no record to take it from. */
  readonly key: string | null;
}

/** A row that a dry run finds to be overwritten. */
export interface ImportChange {
  readonly line: number;
  readonly key: string | null;
  /** The columns that would change, as they are now. */
  readonly here: Row;
  /** The same columns as they would be. */
  readonly record: Row;
}

export interface ImportCounts {
  readonly read: number;
  /** Records among these whose rows were deleted after the file was written, and stay so. D-14.2. */
  readonly deleted: number;
  /** Records that are in the table, or would be after a dry run. */
  readonly written: number;
  /** The written records by their rows: new ones, changed ones, and ones that stay as they are. */
  readonly new: number;
  readonly changed: number;
  readonly same: number;
  readonly failed: number;
  /** Line on which the last record that was read begins; 0 before the first. */
  readonly lastLine: number;
}

export const NOTHING_IMPORTED: ImportCounts = {
  read: 0,
  deleted: 0,
  written: 0,
  new: 0,
  changed: 0,
  same: 0,
  failed: 0,
  lastLine: 0,
};

/** The first of each kind are listed, the others counted. */
export interface ImportResult extends ImportCounts {
  readonly table: string;
  readonly dryRun: boolean;
  readonly failures: readonly ImportFailure[];
  readonly warnings: readonly ImportWarning[];
  readonly warningCount: number;
  /** Rows that went, or would go, as the file does not have them; absent where that was not asked for. */
  readonly removed?: number;
  /** In a dry run the first rows that would be overwritten. */
  readonly changes?: readonly ImportChange[];
}

export type ImportEvent =
  | { readonly type: "progress"; readonly rows: number }
  | ({ readonly type: "done" } & ImportResult)
  | ImportErrorEvent
  | FinishedEvent;

/** The end of an import that failed before the end of its file. */
interface ImportErrorEvent {
  readonly type: "error";
  readonly table: string;
  /** As in an error of a run. S-6.1. */
  readonly error: string;
  /** The result until then; null where nobody knows it. */
  readonly result: ImportResult | null;
}
