// Writes the records of a file as a push would, in batches, so that a file may be of any length. D-4.12, D-10.3.
import { isAppError } from "../../../domain/shared/errors.ts";
import { fieldOf, isJsonObject, type JsonValue } from "../../../domain/shared/json.ts";
import { keyLabel } from "../../../domain/sync/rows/push-result.ts";
import {
  type ImportChange,
  type ImportCounts,
  type ImportFailure,
  type ImportWarning,
  NOTHING_IMPORTED,
  type RecordProblem,
} from "../../../domain/sync/run/import-events.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { FoundRecord } from "../../../ports/files.ts";
import type { RowWrite, WriteFailure } from "../../../ports/tables/table-writes.ts";
import type { ImportWriter } from "./import-writer.ts";
import type { RecordReader } from "./record-reader.ts";

interface ImportJob {
  readonly table: Table;
  readonly reader: RecordReader;
  /** Records in the order of the file, in parts of any length. */
  readonly records: AsyncIterable<readonly FoundRecord[]>;
  /** Ends the import before its next write. */
  readonly stop: AbortSignal;
  onWarning(warning: ImportWarning): void;
  /** Called for each thing that is wrong with a failed record. */
  onFailure(failure: ImportFailure): void;
  /** Called for each row that a dry run finds to be overwritten. */
  onChange?(change: ImportChange): void;
  onProgress(counts: ImportCounts): void;
}

/** Records of one commit at most, and the length of their text together. */
const BATCH_RECORDS = 1_000;
const BATCH_CHARS = 1 * 1024 * 1024;

/**
 * Imports records by the rules of a push, S-4.2.7 to S-4.2.9, and by those of D-10.3: one commit per batch, the same key
 * twice as if one by one. A record that fails stops no other. What was committed stays when a later batch cannot be:
 * importing the file again is safe. Throws what the writer throws, the stop's reason, and what reading the records throws.
 */
export async function importRows(writer: ImportWriter, job: ImportJob): Promise<ImportCounts> {
  const counts = { ...NOTHING_IMPORTED };
  let batch: FoundRecord[] = [];
  let chars = 0;

  async function writeBatch(): Promise<void> {
    const found = batch;
    [batch, chars] = [[], 0];
    if (found.length === 0) return;
    job.stop.throwIfAborted();
    const { failed, deleted, added, changed } = await writeRecords(writer, job, found);
    const written = found.length - failed - deleted;
    counts.read += found.length;
    counts.failed += failed;
    counts.deleted += deleted;
    counts.written += written;
    counts.new += added;
    counts.changed += changed;
    counts.same += written - added - changed;
    counts.lastLine = found.at(-1)?.line ?? counts.lastLine;
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
    if (!isAppError(error, "commit_failed", "batch_too_large", "store_unavailable"))
      await writeBatch();
    throw error;
  }
  await writeBatch();
  return counts;
}

/** Writes one batch, and tells what is odd or wrong with it. */
async function writeRecords(
  writer: ImportWriter,
  job: ImportJob,
  batch: readonly FoundRecord[],
): Promise<Pick<ImportCounts, "failed" | "deleted" | "changed"> & { readonly added: number }> {
  const reads = batch.map((found) => job.reader.read(found));
  const writes = reads.flatMap(({ row }, index): RowWrite[] =>
    row === null ? [] : [{ index, row }],
  );
  const { refusals, deleted, added, changed, changes = [] } = await writer.write(writes);
  for (const { index, here, record } of changes) {
    const key = keyLabel(job.table, reads[index]?.record ?? null);
    job.onChange?.({ line: batch[index]?.line ?? 0, key, here, record });
  }
  let failed = 0;
  for (const [index, { row, record, problems, oddities, leftOut }] of reads.entries()) {
    const { line = 0, problem = null } = batch[index] ?? {};
    const refusal = refusals.get(index);
    for (const field of leftOut) job.onWarning({ line, ...field });
    if (row !== null && refusal === undefined) {
      for (const oddity of oddities) job.onWarning({ line, ...oddity });
      continue;
    }
    failed++;
    const key = problem === null ? keyLabel(job.table, record) : null;
    const wrong = refusal === undefined ? problems : [refusedProblem(refusal, record)];
    for (const one of wrong) job.onFailure({ line, key, ...one });
  }
  return { failed, deleted, added, changed };
}

function refusedProblem(
  { message, column }: Omit<WriteFailure, "index">,
  record: JsonValue,
): RecordProblem {
  if (column === undefined || !isJsonObject(record)) return { column: null, value: null, message };
  return { column, value: fieldOf(record, column), message };
}
