import { fileFormats } from "../../../app/files.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { comparedColumns } from "../../../domain/sync/rows/row-text.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import type { RowEncoder } from "../../../ports/files.ts";
import type { FullStorage } from "../../../ports/storage.ts";
import { exportRows } from "../../../usecases/sync/files/export-rows.ts";
import { type AddCommand, type CommandTools, declareJob } from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import {
  delimiterByName,
  type FileOptions,
  type FileRequest,
  formatOption,
  readFileArguments,
  STANDARD_STREAM,
} from "../../files/file-arguments.ts";
import { writeText } from "../../files/write-text.ts";
import { countOf } from "../../output.ts";
import { type Progress, withProgress } from "../../progress.ts";

interface ExportOptions extends FileOptions {
  readonly spreadsheet?: true;
}

export const addExportCommand: AddCommand = (parent, run) => {
  declareJob(parent, "export")
    .description(
      "Writes the rows of a table, each once, in the order of its key. Importing the file gives an equal table. " +
        "A name that ends in .gz is compressed.",
    )
    .argument("<table>", "table of the registry")
    .argument("<file>", "path, or - for standard output")
    .addOption(formatOption())
    .option("--spreadsheet", "CSV only: put ' before fields that a spreadsheet would run")
    .action((tableName: string, file: string, { format: asked, ...options }: ExportOptions) =>
      run(options, (tools) => {
        const request = readFileArguments(tableName, file, asked);
        if (options.spreadsheet === true && request.format !== "csv") {
          throw new AppError("invalid_request", "--spreadsheet is for CSV files");
        }
        return exportFile(tools, request, options.spreadsheet === true);
      }),
    );
};

async function exportFile(
  { output, interruption, open }: CommandTools,
  { tableName, path, format }: FileRequest,
  isForSpreadsheet: boolean,
): Promise<ExitCode> {
  const { config, services } = await open();
  const { storage } = services;
  const table = findTable(config.registry, tableName);
  const stop = interruption.stopSignal();
  const counts = { rows: 0, total: await storage.tables.count(table) };
  const compared = comparedColumns(table);
  const columns = table.columns.filter((column) => compared.includes(column));
  const delimiter = delimiterByName(path) ?? table.files.delimiter;
  const form = { ...table.files, delimiter };
  const encoder = fileFormats.encoder(format, columns, { form, isForSpreadsheet });
  const encoding = (format === "csv" ? form.encoding : null) ?? "utf-8";
  await withProgress(output, `export ${table.name}`, (progress) => {
    const text = textOf(storage, { table, encoder, counts, progress, stop });
    return writeText(path, fileFormats.encode(text, encoding));
  });
  if (path === STANDARD_STREAM) return EXIT.success;
  const document = { table: table.name, rows: counts.rows, format };
  output.show(document, `${table.name}: ${countOf(counts.rows, "row")} exported`);
  return EXIT.success;
}

interface ExportJob {
  readonly table: Table;
  readonly encoder: RowEncoder;
  readonly counts: { rows: number; readonly total: number };
  readonly progress: Progress;
  readonly stop: AbortSignal;
}

async function* textOf(
  storage: FullStorage,
  { table, encoder, counts, progress, stop }: ExportJob,
): AsyncGenerator<string, void, undefined> {
  yield encoder.begin();
  for await (const rows of exportRows(storage.tables, table)) {
    stop.throwIfAborted();
    yield encoder.encode(rows);
    counts.rows += rows.length;
    progress.update({ rows: counts.rows, part: counts.rows / Math.max(counts.total, counts.rows) });
  }
  yield encoder.end();
}
