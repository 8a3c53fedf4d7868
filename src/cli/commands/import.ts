import { findTable, type Table } from "../../domain/sync/table/table.ts";
import {
  type FoundRecord,
  type ImportCounts,
  type ImportFailure,
  importRows,
} from "../../usecases/sync/files/import-rows.ts";
import { type AddCommand, type CommandTools, declareCommand } from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import {
  type FileFormat,
  type FileOptions,
  type FileRequest,
  formatOption,
  readFileArguments,
} from "../files/file-arguments.ts";
import { type CsvHeader, readCsv } from "../files/read-csv.ts";
import { readJsonArray, readNdjson } from "../files/read-json.ts";
import { TextSource } from "../files/read-text.ts";
import { countOf, formatCount, type Output } from "../output.ts";
import { openProgress } from "../progress.ts";

const MAX_TOLD_FAILURES = 1_000;

export const addImportCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "import")
    .summary("write the records of a file into a table")
    .description(
      "Writes the records of a JSON, NDJSON or CSV file into a table, by the rules of a push: a record whose key " +
        "exists updates its row. Records that fail are listed with their line. Gzip is recognized.",
    )
    .argument("<table>", "table of the registry")
    .argument("<file>", "path, or - for standard input")
    .addOption(formatOption())
    .action((tableName: string, file: string, { format: asked, ...options }: FileOptions) =>
      run(options, (tools) => importFile(tools, readFileArguments(tableName, file, asked))),
    );
};

async function importFile(tools: CommandTools, request: FileRequest): Promise<ExitCode> {
  const { output, interruption, open } = tools;
  const source = await TextSource.open(request.path);
  const { config, services } = await open();
  const table = findTable(config.registry, request.tableName);
  const stop = interruption.stopSignal();
  interruption.onStop(() => source.close());
  const board = openProgress(output);
  const progress = board.start(`import ${table.name}`);
  const failures: ImportFailure[] = [];
  let counts: ImportCounts = { read: 0, written: 0, failed: 0 };
  try {
    await importRows(services.storage.tables, {
      table,
      records: recordsOf(request.format, source, table, output),
      stop,
      onFailure: (failure) => {
        if (failures.length < MAX_TOLD_FAILURES) failures.push(failure);
      },
      onProgress: (state) => {
        counts = state;
        // The file may grow while it is read.
        const part =
          source.totalBytes === null ? null : Math.min(1, source.bytesRead() / source.totalBytes);
        progress.update({ rows: state.read, part });
      },
    });
  } catch (error) {
    board.finish();
    tellFailures(output, counts, failures);
    if (counts.written > 0) {
      output.warn(
        `${countOf(counts.written, "row")} written before this failure; importing the file again is safe`,
      );
    }
    throw error;
  }
  board.finish();
  tellFailures(output, counts, failures);
  output.printJson({ table: table.name, ...counts, failures });
  output.print(`${table.name}: ${countOf(counts.written, "row")} imported`);
  return counts.failed > 0 ? EXIT.partial : EXIT.success;
}

function recordsOf(
  format: FileFormat,
  source: TextSource,
  table: Table,
  output: Output,
): AsyncIterable<readonly FoundRecord[]> {
  switch (format) {
    case "json":
      return readJsonArray(source.chunks);
    case "ndjson":
      return readNdjson(source.chunks);
    case "csv":
      return readCsv(source.chunks, table, (header) => tellHeader(output, header));
  }
}

function tellHeader(output: Output, { unknown, missing }: CsvHeader): void {
  if (unknown.length > 0) {
    const names = unknown.join(", ");
    output.warn(`Ignored, because the table does not have these columns: ${names}`);
  }
  if (missing.length > 0) {
    const names = missing.join(", ");
    output.warn(`Set to null, because the file does not have these columns: ${names}`);
  }
}

function tellFailures(
  output: Output,
  { failed }: ImportCounts,
  failures: readonly ImportFailure[],
): void {
  if (failed === 0) return;
  output.warn(`${countOf(failed, "record")} failed:`);
  for (const { line, key, message } of failures) {
    output.warn(`  line ${line}: ${key === null ? "" : `${key}: `}${message}`);
  }
  const untold = failed - failures.length;
  if (untold > 0) output.warn(`  and ${formatCount(untold)} more`);
}
