// Writes the records of a file as a push would, in batches, so that a file may be of any length. D-4.12.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import type { JsonValue } from "../../../domain/shared/json.ts";
import { ERASED_MESSAGE } from "../../../domain/sync/people/erasure.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { keyLabel } from "../../../domain/sync/rows/push-result.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite, TableStore } from "../../../ports/tables/table-store.ts";

/** A record of a file, or why a place of the file could not be read as one. */
export type FoundRecord = {
  /** Line on which it begins, from 1. */
  readonly line: number;
  /** Length of its text, for an estimate of the memory it takes. */
  readonly chars: number;
} & (
  | { readonly record: JsonValue; readonly problem: null }
  | { readonly record: null; readonly problem: string }
);

export interface ImportFailure {
  readonly line: number;
  /** `key=value, key=value`; null when there is no record to take it from. */
  readonly key: string | null;
  readonly message: string;
}

export interface ImportCounts {
  readonly read: number;
  /** Of those, the ones that are in the table. */
  readonly written: number;
  readonly failed: number;
}

interface ImportJob {
  readonly table: Table;
  /** Records in the order of the file, in parts of any length. */
  readonly records: AsyncIterable<readonly FoundRecord[]>;
  /** Ends the import before its next write. */
  readonly stop: AbortSignal;
  onFailure(failure: ImportFailure): void;
  onProgress(counts: ImportCounts): void;
}

/** Records of one commit at most, and the length of their text together. */
const BATCH_RECORDS = 1_000;
const BATCH_CHARS = 1 * 1024 * 1024;

/**
 * Imports records by the rules of a push: S-4.2.7 to S-4.2.9, one commit per batch, the same key twice as if one by one.
 * A record that fails stops no other. What was committed stays when a later batch cannot be: importing the file again
 * is safe. Throws `commit_failed`, `store_unavailable`, the stop's reason, and what reading the records throws.
 */
export async function importRows(tables: TableStore, job: ImportJob): Promise<ImportCounts> {
  const counts = { read: 0, written: 0, failed: 0 };
  let batch: FoundRecord[] = [];
  let chars = 0;

  async function writeBatch(): Promise<void> {
    const found = batch;
    [batch, chars] = [[], 0];
    if (found.length === 0) return;
    job.stop.throwIfAborted();
    const failures = await writeRecords(tables, job.table, found);
    counts.read += found.length;
    counts.failed += failures.length;
    counts.written += found.length - failures.length;
    for (const failure of failures) job.onFailure(failure);
    job.onProgress({ ...counts });
  }

  try {
    for await (const part of job.records) {
      for (const found of part) {
        batch.push(found);
        chars += found.chars;
        if (batch.length >= BATCH_RECORDS || chars >= BATCH_CHARS) await writeBatch();
      }
    }
  } catch (error) {
    job.stop.throwIfAborted();
    // Records before a place that cannot be read are written all the same.
    if (!isAppError(error, "commit_failed", "store_unavailable")) await writeBatch();
    throw error;
  }
  await writeBatch();
  return counts;
}

async function writeRecords(
  tables: TableStore,
  table: Table,
  batch: readonly FoundRecord[],
): Promise<ImportFailure[]> {
  const writes: RowWrite[] = [];
  const problems = new Map<number, string>();
  for (const [index, found] of batch.entries()) {
    const { row, problem } =
      found.problem === null
        ? convertRecord(table, found.record)
        : { row: null, problem: found.problem };
    if (row === null) problems.set(index, problem);
    else writes.push({ index, row });
  }
  const { failures, erased = [] } = await tables.write(table, writes);
  for (const { index, message } of failures) problems.set(index, message);
  for (const index of erased) problems.set(index, ERASED_MESSAGE);
  return [...problems]
    .sort(([a], [b]) => a - b)
    .map(([index, message]) => failureOf(table, batch[index], message));
}

function failureOf(table: Table, found: FoundRecord | undefined, message: string): ImportFailure {
  if (found === undefined) throw new AppError("commit_failed", "The store named an unknown record");
  const key = found.problem === null ? keyLabel(table, found.record) : null;
  return { line: found.line, key, message };
}
