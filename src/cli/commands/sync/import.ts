import { InvalidArgumentError } from "commander";
import { AppError } from "../../../domain/shared/errors.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import type { CsvHeader } from "../../../usecases/sync/files/csv-columns.ts";
import { importRows } from "../../../usecases/sync/files/import-rows.ts";
import { RecordReader } from "../../../usecases/sync/files/record-reader.ts";
import type { WriteRowsDeps } from "../../../usecases/sync/shared/write-rows.ts";
import {
  type AddCommand,
  type CommandTools,
  declareJob,
  readDeploymentConfig,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { type FileOptions, formatOption } from "../../files/file-arguments.ts";
import { ImportReport } from "../../files/import-report.ts";
import { type ImportSource, openImportSource } from "../../files/import-source.ts";
import type { Output } from "../../output.ts";
import { withProgress } from "../../progress.ts";

interface ImportOptions extends FileOptions {
  readonly delimiter?: string;
  readonly strict?: true;
  readonly dryRun?: true;
  readonly force?: true;
}

export const addImportCommand: AddCommand = (parent, run) => {
  declareJob(parent, "import")
    .description(
      "Writes the records of a JSON, NDJSON or CSV file, or the rows of the table of that name of a SQLite file, into " +
        "a table, by the rules of a push: a record whose key " +
        "exists updates its row. What could not be read is told by line and column.",
    )
    .argument("<table>", "table of the registry")
    .argument("<file>", "path, or - for standard input")
    .addOption(formatOption())
    .option("--delimiter <character>", "what separates the fields of a CSV file", readDelimiter)
    .option("--strict", "do not write records of which something could not be read")
    .option("--dry-run", "read and check the file, and write nothing")
    .option("--force", "import into a table whose rows the remote owns, too")
    .action((tableName: string, file: string, { format: asked, ...options }: ImportOptions) =>
      run(options, async (tools) => {
        const source = await openImportSource(tableName, file, asked);
        return await importFile(tools, { tableName, source }, options);
      }),
    );
};

async function importFile(
  tools: CommandTools,
  { tableName, source }: { readonly tableName: string; readonly source: ImportSource },
  options: ImportOptions,
): Promise<ExitCode> {
  const { output, interruption } = tools;
  if (options.delimiter !== undefined && source.format !== "csv") {
    throw new AppError("invalid_request", "--delimiter is for CSV files");
  }
  const isDryRun = options.dryRun === true;
  const { table, deps } = await openTable(tools, tableName, isDryRun);
  if (options.force !== true) requireOwned(table);
  const stop = interruption.stopSignal();
  interruption.onStop(() => source.close());
  const reader = new RecordReader(table, options.strict === true);
  const report = new ImportReport(table, isDryRun);
  const onHeader = (header: CsvHeader) => tellHeader(output, header, { reader, report });
  try {
    await withProgress(output, `import ${table.name}`, (progress) =>
      importRows(deps, {
        table,
        reader,
        stop,
        records: source.records({ ...options, table, onHeader }),
        onWarning: (warning) => report.addWarning(warning),
        onFailure: (failure) => report.addFailure(failure),
        onProgress: (state) => {
          report.counts = state;
          const { totalBytes } = source;
          // The file may grow while it is read.
          const part = totalBytes === null ? null : Math.min(1, source.bytesRead() / totalBytes);
          progress.update({ rows: state.read, part });
        },
      }),
    );
  } catch (error) {
    report.tellProblems(output);
    report.tellHowFar(output);
    output.addToFailure(report.toJson());
    throw error;
  }
  report.tellProblems(output);
  output.show(report.toJson(), report.summary());
  return report.counts.failed > 0 ? EXIT.partial : EXIT.success;
}

/** The table, and the store that holds it; a dry run opens none, as that would make one. */
async function openTable(
  { open }: CommandTools,
  tableName: string,
  isDryRun: boolean,
): Promise<{ readonly table: Table; readonly deps: WriteRowsDeps | null }> {
  if (isDryRun) {
    const { registry } = await readDeploymentConfig();
    return { table: findTable(registry, tableName), deps: null };
  }
  const { config, services } = await open();
  return { table: findTable(config.registry, tableName), deps: services.sync };
}

/** Throws `invalid_request` for a table whose rows the remote owns: the next pull would undo the import. D-11.9. */
function requireOwned({ name, direction }: Table): void {
  if (direction !== "pull") return;
  throw new AppError(
    "invalid_request",
    `The rows of "${name}" are written at the remote ("direction": "pull" in the registry): import there, or with --force here`,
  );
}

function tellHeader(
  output: Output,
  { unknown, numbered, missing }: CsvHeader,
  { reader, report }: { readonly reader: RecordReader; readonly report: ImportReport },
): void {
  for (const name of unknown) {
    const field = reader.unknownField(name);
    if (field !== null) report.addWarning({ line: 1, ...field });
  }
  if (numbered.length > 0) {
    output.warn(`Left out, because the store numbers rows itself: ${numbered.join(", ")}`);
  }
  if (missing.length > 0) {
    const columns = missing.length === 1 ? "this column" : "these columns";
    output.warn(`Set to null, because the file does not have ${columns}: ${missing.join(", ")}`);
  }
}

/** Reads the separator of fields. Throws the error that commander tells. */
function readDelimiter(text: string): string {
  if (text === "tab" || text === "\\t") return "\t";
  if ([...text].length === 1 && !/["\r\n]/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be one character other than a quote, such as ";", or tab.',
  );
}
