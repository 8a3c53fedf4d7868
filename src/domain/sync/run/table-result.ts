// The result of a run for a table: one type from the end of a transfer to the list of runs. D-4.3.

/** Counts of the rows of a table, or of a whole run. */
export interface RowCounts {
  /** Records rejected there or here. */
  readonly errorCount: number;
  /** Rows that stayed at either end, being newer than what came. D-7.1. */
  readonly kept: number;
  /** Rows that either end left out, as the people whom they name were erased there. D-8.2. */
  readonly erased: number;
  /** Rows really written, here and there. D-7.11. */
  readonly changed: number;
  /** Rows removed here and there. D-7.6. */
  readonly deletedHere: number;
  readonly deletedThere: number;
}

/** Rows at each end when the run over the table ended; null when not known. D-7.5. */
export interface EndCounts {
  readonly countHere: number | null;
  readonly countThere: number | null;
}

export interface TableResult extends RowCounts, EndCounts {
  /** Rows written there, unchanged ones too; not rejected ones. */
  readonly pushed: number;
  /** Rows that arrived here, unchanged ones too; not rejected ones. */
  readonly pulled: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly durationMs: number;
  /** Notes for the user that are no failures. D-7.3. */
  readonly warnings: readonly string[];
  /** There, and true, for a table that did not come to its end while others did. */
  readonly isFailed?: true;
}

/** A table of which nothing is known yet. */
export const NO_TABLE_RESULT: TableResult = {
  pushed: 0,
  pulled: 0,
  errorCount: 0,
  bytesCompressed: 0,
  bytesUncompressed: 0,
  durationMs: 0,
  kept: 0,
  erased: 0,
  changed: 0,
  deletedHere: 0,
  deletedThere: 0,
  countHere: null,
  countThere: null,
  warnings: [],
};

/** The sum of two results; rows at each end are those of the later one, as a push changes their number. */
export function addResults(before: TableResult, after: TableResult): TableResult {
  return {
    pushed: before.pushed + after.pushed,
    pulled: before.pulled + after.pulled,
    errorCount: before.errorCount + after.errorCount,
    bytesCompressed: before.bytesCompressed + after.bytesCompressed,
    bytesUncompressed: before.bytesUncompressed + after.bytesUncompressed,
    durationMs: before.durationMs + after.durationMs,
    kept: before.kept + after.kept,
    erased: before.erased + after.erased,
    changed: before.changed + after.changed,
    deletedHere: before.deletedHere + after.deletedHere,
    deletedThere: before.deletedThere + after.deletedThere,
    countHere: after.countHere,
    countThere: after.countThere,
    warnings: [...before.warnings, ...after.warnings],
  };
}
