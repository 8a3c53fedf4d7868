// Imports a file of any length into a table, in batches, as a push would write its records, and reports. D-4.12, D-10.3, D-14.7.
import { isAppError } from "../../../domain/shared/errors.ts";
import { fieldOf, isJsonObject, isRawNumber, type JsonValue } from "../../../domain/shared/json.ts";
import { countOf, cutText } from "../../../domain/shared/text.ts";
import { peopleOf } from "../../../domain/sync/people/arrivals.ts";
import { ERASED_MESSAGE, isOfPeople, personOf } from "../../../domain/sync/people/name-facts.ts";
import { keyLabel } from "../../../domain/sync/rows/push-result.ts";
import {
  type ImportChange,
  type ImportFailure,
  type ImportResult,
  type ImportWarning,
  NOTHING_IMPORTED,
  type RecordProblem,
} from "../../../domain/sync/run/import-events.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { FoundRecord } from "../../../ports/files.ts";
import type { Refusal, RowWrite } from "../../../ports/tables/table-writes.ts";
import type { Names } from "../../../repositories/accounts/names.ts";
import type { CsvHeader, ReadRecords } from "./file-records.ts";
import type { ImportWriter } from "./import-writer.ts";
import { RecordReader, type RowNumbers } from "./record-reader.ts";

interface ImportJob {
  readonly table: Table;
  readonly isLax: boolean;
  readonly numbers: RowNumbers | null;
  /** The caller's name of the option that numbers on. */
  readonly append: string;
  /** Ends the import before its next write. */
  readonly stop: AbortSignal;
  /** Asked before each batch; what it throws ends the import. */
  requireStill?(): Promise<void>;
  readonly records: ReadRecords;
  readonly report: ImportReport;
  /** Given where the report is kept: it names nobody who was erased. D-8.2. */
  readonly names?: Names;
  /** Called after each batch. */
  onProgress?(): void;
}

/** The most records of one commit, and the most characters of their text. */
const BATCH_RECORDS = 1_000;
const BATCH_CHARS = 1 * 1024 * 1024;
/** The most warnings, and the most failures, that are listed; all are counted. */
const MAX_TOLD = 1_000;
/** The most rows of a dry run whose changes are listed. */
const MAX_CHANGES = 20;
/** The length of a listed value, in characters. */
const MAX_VALUE_CHARS = 200;

/**
 * Imports records by the rules of a push, S-4.2.7 to S-4.2.9, and by D-10.3: one commit per batch, the same key twice as if one
 * by one. A record that fails stops no other. Committed batches stay when a later one fails, and are in the report: importing the
 * file again is safe. Throws what the writer throws, the stop's reason, and what reading throws.
 */
export async function importFile(writer: ImportWriter, job: ImportJob): Promise<void> {
  const { table, numbers, stop, report } = job;
  const reader = new RecordReader(table, job);
  let batch: FoundRecord[] = [];
  let chars = 0;

  async function writeBatch(): Promise<void> {
    const found = batch;
    [batch, chars] = [[], 0];
    if (found.length === 0) return;
    stop.throwIfAborted();
    await job.requireStill?.();
    await writeRecords(writer, job, reader, found);
    job.onProgress?.();
  }

  try {
    for await (const part of job.records((header) => tellHeader(job, reader, header))) {
      for (const found of part) {
        batch.push(found);
        chars += found.chars;
        if (batch.length >= BATCH_RECORDS || chars >= BATCH_CHARS) await writeBatch();
      }
    }
  } catch (error) {
    stop.throwIfAborted();
    // Records before a place that cannot be read are written all the same.
    if (!isAppError(error, "commit_failed", "batch_too_large", "store_unavailable"))
      await writeBatch();
    throw error;
  }
  await writeBatch();
  const { changed } = report.counts;
  if (numbers?.isByPlace !== true || changed === 0) return;
  report.addNote(
    `${countOf(changed, "row")} got other contents, as records have the numbers that they had: ${job.append} numbers on behind the last row`,
  );
}

/** Writes one batch, and reports its oddities and failures. */
async function writeRecords(
  writer: ImportWriter,
  { table, report, names }: ImportJob,
  reader: RecordReader,
  batch: readonly FoundRecord[],
): Promise<void> {
  const reads = batch.map((found) => reader.read(found));
  const writes = reads.flatMap(({ row }, index): RowWrite[] =>
    row === null ? [] : [{ index, row }],
  );
  const { refusals, deleted, added, changed, changes = [] } = await writer.write(writes);
  for (const { index, here, record } of changes) {
    const key = keyLabel(table, reads[index]?.record ?? null);
    report.addChange({ line: batch[index]?.line ?? 0, key, here, record });
  }
  const failing = reads.filter(({ row }, index) => row === null || refusals.has(index));
  const named = peopleOf(failing.flatMap(({ record }) => (isJsonObject(record) ? [record] : [])));
  const erased = isOfPeople(table) ? await names?.erasedAmong(named) : undefined;
  let failed = 0;
  for (const [index, { row, record, problems, oddities, leftOut }] of reads.entries()) {
    const { line = 0, problem = null } = batch[index] ?? {};
    const refusal = refusals.get(index);
    for (const field of leftOut) report.warnings.add({ line, ...field });
    if (row !== null && refusal === undefined) {
      for (const oddity of oddities) report.warnings.add({ line, ...oddity });
      continue;
    }
    failed++;
    if (isJsonObject(record) && erased?.has(personOf(record) ?? "")) {
      report.failures.add({ line, key: null, column: null, value: null, message: ERASED_MESSAGE });
      continue;
    }
    const key = problem === null ? keyLabel(table, record) : null;
    const wrong = refusal === undefined ? problems : [refusedProblem(refusal, record)];
    for (const one of wrong) report.failures.add({ line, key, ...one });
  }
  const { counts } = report;
  const written = batch.length - failed - deleted;
  report.counts = {
    read: counts.read + batch.length,
    deleted: counts.deleted + deleted,
    written: counts.written + written,
    new: counts.new + added,
    changed: counts.changed + changed,
    same: counts.same + written - added - changed,
    failed: counts.failed + failed,
    lastLine: batch.at(-1)?.line ?? counts.lastLine,
  };
}

function refusedProblem({ message, column }: Refusal, record: JsonValue): RecordProblem {
  if (column === undefined || !isJsonObject(record)) return { column: null, value: null, message };
  return { column, value: fieldOf(record, column), message };
}

function tellHeader(
  { table, report }: ImportJob,
  reader: RecordReader,
  { line, unknown, numbered, missing }: CsvHeader,
): void {
  for (const name of unknown) {
    const field = reader.unknownField(name);
    if (field !== null) report.warnings.add({ line, ...field });
  }
  if (numbered.length > 0) {
    report.addNote(`Left out, because the store numbers rows itself: ${numbered.join(", ")}`);
  }
  const empty = missing.filter((name) => !table.stamped || name !== table.timestampColumn);
  if (empty.length > 0) {
    const columns = empty.length === 1 ? "this column" : "these columns";
    report.addNote(`Set to null, because the file does not have ${columns}: ${empty.join(", ")}`);
  }
}

export class ProblemList<Problem extends ImportWarning> {
  readonly told: Problem[] = [];
  count = 0;

  add(problem: Problem): void {
    this.count++;
    if (this.told.length < MAX_TOLD) {
      this.told.push({ ...problem, value: shownValue(problem.value) });
    }
  }
}

/** Counts, and failures and warnings by line and column. */
export class ImportReport {
  counts = NOTHING_IMPORTED;
  readonly table: string;
  readonly isDryRun: boolean;
  readonly warnings = new ProblemList<ImportWarning>();
  readonly failures = new ProblemList<ImportFailure>();
  /** Rows removed as they are not in the file; null where that was not asked for, or not reached. */
  removed: number | null = null;
  readonly #changes: ImportChange[] = [];

  constructor(table: string, isDryRun: boolean) {
    this.table = table;
    this.isDryRun = isDryRun;
  }

  /** Adds a warning on the whole file. */
  addNote(message: string): void {
    this.warnings.add({ line: 1, column: null, value: null, message });
  }

  addChange(change: ImportChange): void {
    if (this.#changes.length < MAX_CHANGES) this.#changes.push(change);
  }

  result(): ImportResult {
    return {
      table: this.table,
      dryRun: this.isDryRun,
      ...this.counts,
      failures: this.failures.told,
      warnings: this.warnings.told,
      warningCount: this.warnings.count,
      ...(this.removed === null ? {} : { removed: this.removed }),
      ...(this.isDryRun ? { changes: this.#changes } : {}),
    };
  }
}

/** The value as it is listed; as JSON text where JavaScript has no form of its own. */
function shownValue(value: JsonValue): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return cutText(value.toWellFormed(), MAX_VALUE_CHARS);
  return isRawNumber(value) ? value.rawJSON : cutText(JSON.stringify(value), MAX_VALUE_CHARS);
}
