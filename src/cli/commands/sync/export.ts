import { fileFormats } from "../../../app/files.ts";
import { OWNER_ONLY, STANDARD_STREAM, writeText } from "../../../app/write-file.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { exportFile as exportParts } from "../../../usecases/sync/files/export-rows.ts";
import { type AddCommands, type CommandTools, declareJob } from "../../command-runner.ts";
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

export const addCommands: AddCommands = (parent, run) => {
  declareJob(parent, "export")
    .description(
      "Writes the rows of a table, each once, in the order of its key. Importing the file gives an equal table, but for " +
        "what is told of a file of JSON: values that are not of their columns' types, and keys with an empty part.",
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
  const counts = { rows: 0, total: await tables.count(table) };
  const lax = { count: 0, columns: new Set<string>() };
  const refused = { count: 0, columns: new Set<string>() };
  const onOdd = (column: string, isTakenLax: boolean) => {
    const odd = isTakenLax ? lax : refused;
    odd.count++;
    odd.columns.add(column);
  };
  await withProgress(output, `export ${table.name}`, (progress) => {
    const onRows = (rows: number) => {
      stop.throwIfAborted();
      counts.rows += rows;
      const part = counts.rows / Math.max(counts.total, counts.rows);
      progress.update({ rows: counts.rows, part });
    };
    const job = { table, format, isForSpreadsheet, sinceTime: null, onRows, onOdd };
    return writeText(path, exportParts({ tables, files: fileFormats }, job), OWNER_ONLY);
  });
  if (lax.count > 0) {
    const values = `${countOf(lax.count, "value")} not of the type of the column: ${[...lax.columns].join(", ")}`;
    output.warn(`${values}; an import of the file needs --lax, one of CSV does not`);
  }
  if (refused.count > 0) {
    const values = `${countOf(refused.count, "value")} that no import of JSON takes: ${[...refused.columns].join(", ")}`;
    output.warn(`${values}; export them as CSV`);
  }
  if (path === STANDARD_STREAM) return;
  const document = { table: table.name, rows: counts.rows, format };
  output.show(document, `${table.name}: ${countOf(counts.rows, "row")} exported`);
}
