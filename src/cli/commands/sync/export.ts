import { STANDARD_STREAM, writeText } from "../../../app/disk/write-text.ts";
import { fileFormats } from "../../../app/files.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { exportFile as exportParts } from "../../../usecases/sync/files/export-rows.ts";
import { type AddCommand, type CommandTools, declareJob } from "../../command-runner.ts";
import {
  delimiterByName,
  type FileOptions,
  formatOption,
  readFileArguments,
} from "../../files/file-arguments.ts";
import { withProgress } from "../../progress.ts";

interface ExportOptions extends FileOptions {
  readonly spreadsheet?: boolean;
}

export const addExportCommand: AddCommand = (parent, run) => {
  declareJob(parent, "export")
    .description(
      "Writes the rows of a table, each once, in the order of its key. Importing the file gives an equal table, where " +
        "it is CSV or all values are of their columns' types. A name that ends in .gz is compressed.",
    )
    .argument("<table>", "table of the registry")
    .argument("<file>", "path, or - for standard output")
    .addOption(formatOption())
    .option("--spreadsheet", "CSV only: put ' before fields that a spreadsheet would run")
    .action(run(exportFile));
};

async function exportFile(
  { output, interruption, openToRead }: CommandTools,
  tableName: string,
  file: string,
  { format: asked, spreadsheet: isForSpreadsheet = false }: ExportOptions,
): Promise<void> {
  const { path, format } = readFileArguments(file, asked);
  if (isForSpreadsheet && format !== "csv") {
    throw new AppError("invalid_request", "--spreadsheet is for CSV files");
  }
  const { config, services } = await openToRead(true);
  const { tables } = services.storage;
  const found = findTable(config.registry, tableName);
  const delimiter = delimiterByName(path) ?? found.files.delimiter;
  const table = { ...found, files: { ...found.files, delimiter } };
  const stop = interruption.stopSignal();
  const counts = { rows: 0, total: await tables.count(table), odd: 0 };
  const oddColumns = new Set<string>();
  const onOdd = (column: string) => {
    counts.odd++;
    oddColumns.add(column);
  };
  await withProgress(output, `export ${table.name}`, (progress) => {
    const onRows = (rows: number) => {
      stop.throwIfAborted();
      counts.rows += rows;
      const part = counts.rows / Math.max(counts.total, counts.rows);
      progress.update({ rows: counts.rows, part });
    };
    const job = { table, format, isForSpreadsheet, sinceTime: null, onRows, onOdd };
    return writeText(path, exportParts({ tables, files: fileFormats }, job));
  });
  if (counts.odd > 0) {
    const names = [...oddColumns].join(", ");
    const values = `${countOf(counts.odd, "value")} not of the type of the column: ${names}`;
    output.warn(`${values}; an import of the file needs --lax, one of CSV does not`);
  }
  if (path === STANDARD_STREAM) return;
  const document = { table: table.name, rows: counts.rows, format };
  output.show(document, `${table.name}: ${countOf(counts.rows, "row")} exported`);
}
