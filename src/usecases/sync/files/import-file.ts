// Imports a file into a table, and gathers what there is to tell. D-4.12, D-10.3, D-14.7.
import { countOf } from "../../../domain/shared/text.ts";
import type { ImportCounts } from "../../../domain/sync/run/import-events.ts";
import type { Encoding } from "../../../domain/sync/table/registry-schema.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { FileFormat, FileFormats, FoundRecord } from "../../../ports/files.ts";
import { CsvColumns, type CsvHeader } from "./csv-columns.ts";
import type { ImportReport } from "./import-report.ts";
import { importRows } from "./import-rows.ts";
import type { ImportWriter } from "./import-writer.ts";
import { RecordReader } from "./record-reader.ts";
import type { RowNumbers } from "./row-numbers.ts";

/** Records in the order of the file; those of CSV have a header, which is told first. */
type ReadRecords = (onHeader: (header: CsvHeader) => void) => AsyncIterable<readonly FoundRecord[]>;

interface ImportFileJob {
  /** With what the file is like. */
  readonly table: Table;
  readonly isLax: boolean;
  readonly numbers: RowNumbers | null;
  /** How callers say that rows are to be numbered on. */
  readonly append: string;
  readonly stop: AbortSignal;
  readonly records: ReadRecords;
  readonly report: ImportReport;
  /** Called with what concerns the whole file. */
  onNote(text: string): void;
  onProgress(counts: ImportCounts): void;
}

/** Throws as `importRows`; what was done until then is in the report. */
export async function importFile(writer: ImportWriter, job: ImportFileJob): Promise<void> {
  const { table, isLax, numbers, stop, report } = job;
  const reader = new RecordReader(table, { isLax, numbers });
  await importRows(writer, {
    table,
    reader,
    stop,
    records: job.records((header) => tellHeader(job, reader, header)),
    onWarning: (warning) => report.warnings.add(warning),
    onFailure: (failure) => report.failures.add(failure),
    onChange: (change) => report.addChange(change),
    onProgress: (counts) => {
      report.counts = counts;
      job.onProgress(counts);
    },
  });
  const { changed } = report.counts;
  if (numbers?.isByPlace !== true || changed === 0) return;
  job.onNote(
    `${countOf(changed, "row")} got other contents, as records have the numbers that they had: ${job.append} numbers on behind the last row`,
  );
}

function tellHeader(
  { table, report, onNote }: ImportFileJob,
  reader: RecordReader,
  { line, unknown, numbered, missing }: CsvHeader,
): void {
  for (const name of unknown) {
    const field = reader.unknownField(name);
    if (field !== null) report.warnings.add({ line, ...field });
  }
  if (numbered.length > 0) {
    onNote(`Left out, because the store numbers rows itself: ${numbered.join(", ")}`);
  }
  const empty = missing.filter((name) => !table.stamped || name !== table.timestampColumn);
  if (empty.length > 0) {
    const columns = empty.length === 1 ? "this column" : "these columns";
    onNote(`Set to null, because the file does not have ${columns}: ${empty.join(", ")}`);
  }
}

interface TextFile {
  readonly format: FileFormat;
  /** With what the file is like. */
  readonly table: Table;
  /** Of JSON; that of CSV is the table's. */
  readonly encoding: Encoding | null;
  /** Its text by its encoding. Read once. */
  chunks(encoding: Encoding | null): AsyncIterable<string>;
}

/** The records of a file, with the values that fields of CSV have in their columns. */
export function recordsOf(
  files: FileFormats,
  { format, table, encoding, chunks }: TextFile,
): ReadRecords {
  const { delimiter, path, encoding: usual } = table.files;
  return async function* read(onHeader) {
    const header = new CsvColumns(table, onHeader);
    const text = chunks(format === "csv" ? usual : encoding);
    for await (const part of files.read(format, text, {
      delimiter: delimiter ?? ",",
      header,
      path,
    })) {
      yield format === "csv" ? part.map((found) => header.read(found)) : part;
    }
  };
}
