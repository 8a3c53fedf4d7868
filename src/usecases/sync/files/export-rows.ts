// The rows of a table as a file. D-4.12, D-10.3, D-14.4.
import { isOfType } from "../../../domain/sync/rows/convert.ts";
import { importValue } from "../../../domain/sync/rows/import-value.ts";
import { isSince } from "../../../domain/sync/rows/row-time.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import type { FileFormat, FileFormats } from "../../../ports/files.ts";
import { columnsOf, type RowsPage, type TableStore } from "../../../ports/tables/table-store.ts";

interface ExportJob {
  readonly table: Table;
  readonly format: FileFormat;
  /** True: CSV fields that a spreadsheet would run are made texts. D-11.3. */
  readonly isForSpreadsheet: boolean;
  /** Only rows at or after this time; null for all; ignored for a table without times. */
  readonly sinceTime: string | null;
  /** Awaited before rows are written; what it throws ends the file. */
  onRows(rows: number): Promise<void> | void;
  /**
   * Told the column of each value that an import of JSON refuses, and whether a lax one takes it. CSV marks such values. D-14.7.
   */
  onOdd?(column: string, isTakenLax: boolean): void;
}

/**
 * The file, part by part. The first part comes once the first rows are read and encoded, so earlier failures can be answered.
 * Throws `store_unavailable`, `file_failed`, and what `onRows` throws.
 */
export function exportFile(
  { tables, files }: { readonly tables: TableStore; readonly files: FileFormats },
  job: ExportJob,
): AsyncIterable<string | Uint8Array> {
  const { table, format, isForSpreadsheet } = job;
  const sinceTime = table.timestampColumn === null ? null : job.sinceTime;
  const columns = columnsOf(table, "sent");
  const encoder = files.encoder(format, columns, { form: table.files, isForSpreadsheet });
  const encoding = (format === "csv" ? table.files.encoding : null) ?? "utf-8";
  async function* text(): AsyncGenerator<string, void, undefined> {
    let begin = encoder.begin();
    for await (const part of exportRows(tables, table)) {
      const rows = part.filter((row) => isSince(table, row, sinceTime));
      await job.onRows(rows.length);
      if (rows.length === 0) continue;
      if (format !== "csv" && job.onOdd !== undefined) tellOdd(table, columns, rows, job.onOdd);
      yield begin + encoder.encode(rows);
      begin = "";
    }
    yield begin + encoder.end();
  }
  return files.encode(text(), encoding);
}

function tellOdd(
  table: Table,
  columns: readonly Column[],
  rows: readonly Row[],
  onOdd: (column: string, isTakenLax: boolean) => void,
): void {
  for (const column of columns) {
    const { name, type } = column;
    for (const row of rows) {
      const value = row[name] ?? null;
      if (value === null || (isOfType(type, value) && !(value === "" && column.isKey))) continue;
      onOdd(name, importValue(table, column, value).problem === null);
    }
  }
}

const MAX_ROWS = 500;
/** The JSON of one read, in characters, about. */
const PART_CHARS = 1 * 1024 * 1024;
/** Rows of the first read, and rows measured for the size of a later one. */
const SAMPLED_ROWS = 20;

/**
 * All rows of a table by key, in parts: each row once, whatever is written meanwhile, with the columns that runs move, as of the
 * moment of reading. Throws `store_unavailable`. D-4.12.
 */
export async function* exportRows(
  tables: TableStore,
  table: Table,
): AsyncGenerator<readonly Row[], void, undefined> {
  let limitRows = SAMPLED_ROWS;
  let afterKey: Row | null = null;
  for (;;) {
    const from = { afterKey, throughKey: null };
    const page: RowsPage = await tables.page(table, { from, limitRows, columns: "sent" });
    const part = page.rows;
    if (part.length > 0) yield part;
    // Rows limit a part, not bytes: so a short part is the last one.
    if (part.length < limitRows) return;
    afterKey = part.at(-1) ?? null;
    limitRows = Math.max(1, Math.min(MAX_ROWS, Math.floor(PART_CHARS / longestChars(part))));
  }
}

/** The length of the longest row of a sample: few long rows cost more than many short ones. */
function longestChars(rows: readonly Row[]): number {
  const step = Math.max(1, Math.floor(rows.length / SAMPLED_ROWS));
  let most = 1;
  for (let i = 0; i < rows.length; i += step) {
    most = Math.max(most, JSON.stringify(rows[i]).length);
  }
  return most;
}
