// The result of a run for a table: one type from the end of a transfer to the list of runs. D-4.3.

/** Counts of the rows of a table, or of a whole run. */
export interface RowCounts {
  /** Newer rows that stayed at either end. D-7.1. */
  readonly kept: number;
  /** Rows that either end left out, as they name people who were erased there. D-8.2. */
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
  /** Records rejected there or here. */
  readonly errorCount: number;
  readonly bytesCompressed: number;
  readonly bytesUncompressed: number;
  readonly durationMs: number;
  /** Notes for the user that are no failures. D-7.3. */
  readonly warnings: readonly string[];
  /** True for a table that failed while others did not; else absent. */
  readonly isFailed?: true;
}

type Summed = Exclude<keyof TableResult, keyof EndCounts | "warnings" | "isFailed">;

/** A new count is added here and in `RowCounts`. */
export const NO_ROWS: RowCounts = {
  kept: 0,
  erased: 0,
  changed: 0,
  deletedHere: 0,
  deletedThere: 0,
};
const NO_SUMS: Readonly<Record<Summed, number>> = {
  pushed: 0,
  pulled: 0,
  errorCount: 0,
  bytesCompressed: 0,
  bytesUncompressed: 0,
  durationMs: 0,
  ...NO_ROWS,
};

export const NO_TABLE_RESULT: TableResult = {
  ...NO_SUMS,
  countHere: null,
  countThere: null,
  warnings: [],
};

/** The sum of two results. The row counts of both ends are the later result's, as a push changes them. */
export function addResults(before: TableResult, after: TableResult): TableResult {
  const names = Object.keys(NO_SUMS) as Summed[];
  const sums = names.map((name) => [name, before[name] + after[name]]);
  const warnings = [...before.warnings, ...after.warnings];
  return { ...after, ...(Object.fromEntries(sums) as Record<Summed, number>), warnings };
}

export function rowCounts(result: RowCounts): RowCounts {
  const names = Object.keys(NO_ROWS) as (keyof RowCounts)[];
  const counts = names.map((name) => [name, result[name]]);
  return Object.fromEntries(counts) as unknown as RowCounts;
}
