import { stat } from "node:fs/promises";
import { Option } from "commander";
import { hasStore } from "../../../app/stores.ts";
import { STANDARD_STREAM } from "../../../app/write-file.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import { requireOwned } from "../../../domain/sync/run/table-owner.ts";
import { registryNameOf } from "../../../domain/sync/table/names.ts";
import { findTable, type Table } from "../../../domain/sync/table/table.ts";
import { NoTombstones } from "../../../ports/tables/table-store.ts";
import {
  type FormOptions,
  importEntry,
  withFileForm,
} from "../../../usecases/sync/files/file-form.ts";
import { importFile as importInto } from "../../../usecases/sync/files/import-file.ts";
import { DryWriter, StoreWriter } from "../../../usecases/sync/files/import-writer.ts";
import { numbersOf, requireNumbered } from "../../../usecases/sync/files/record-reader.ts";
import { WholeFile } from "../../../usecases/sync/files/whole-file.ts";
import { requireDeletes } from "../../../usecases/sync/pages/delete-rows.ts";
import type { SyncDeps } from "../../../usecases/sync/shared/sync-deps.ts";
import {
  type AddCommands,
  type CommandTools,
  declareJob,
  EXIT,
  type ExitCode,
  readDeploymentConfig,
  readWhole,
} from "../../command-runner.ts";
import {
  addFormOptions,
  type FileOptions,
  formatOption,
  fromCallersFolder,
} from "../../files/file-arguments.ts";
import { mayRemove, ToldReport, warnOfRemoteRows } from "../../files/import-report.ts";
import { type ImportSource, openEveryTable, openImportSource } from "../../files/import-source.ts";
import { shadowed } from "../../files/input-files.ts";
import { withProgress } from "../../progress.ts";

interface ImportOptions extends FileOptions, FormOptions {
  readonly all?: true;
  readonly append?: true;
  readonly lax?: true;
  readonly dryRun?: true;
  readonly force?: true;
  readonly restore?: true;
  readonly whole?: true;
  readonly maxDeletes?: number;
}

export const addCommands: AddCommands = (parent, run) => {
  const command = declareJob(parent, "import")
    .description(
      "Writes the records of a JSON, NDJSON or CSV file, or the table of that name of a SQLite file, into a table, by " +
        "the rules of a push. What could not be read is told by line and column.",
    )
    .argument("<table>", "table of the registry; with --all the file")
    .argument("[file]", "path, or - for standard input")
    .option("--all", "all tables of a SQLite file")
    .addOption(formatOption());
  addFormOptions(command)
    .option("--append", "number on behind the last row")
    .option("--lax", "write what a column's type does not understand as it came")
    .addOption(new Option("--strict").hideHelp())
    .option("--dry-run", "write nothing")
    .option("--force", "import into a table whose rows the remote owns, too")
    .option(
      "--restore",
      "bring back rows of a stamped table that were deleted after the file was written",
    )
    .option("--whole", "then remove the rows that the file does not have; asks on a terminal")
    .option("--max-deletes <n>", "rows that --whole may remove of a table", readWhole)
    .action(run(importAsked));
};

async function importAsked(
  tools: CommandTools,
  tableName: string,
  file: string | undefined,
  options: ImportOptions,
): Promise<ExitCode> {
  if (options.append === true && options.whole === true) {
    throw new AppError("invalid_request", "--append adds to a table, --whole replaces it");
  }
  if (options.all === true) return await importAll(tools, file ?? tableName, options);
  if (file === undefined) throw new AppError("invalid_request", "Name a file to import");
  const source = await openImportSource(tableName, file, options.format);
  try {
    const fileTime = await modificationTime(file);
    const imported = await importFile(tools, { tableName, source, fileTime }, options);
    tools.output.show(imported.report.result(), imported.report.summary());
    return imported.code;
  } finally {
    source.close();
  }
}

/** Imports every table of a SQLite file that the registry has. */
async function importAll(
  tools: CommandTools,
  path: string,
  options: ImportOptions,
): Promise<ExitCode> {
  const { output } = tools;
  const { registry } = await readDeploymentConfig();
  const sources = await openEveryTable(path);
  const nameOf = (own: string) =>
    [own, registryNameOf(own) ?? own].find((name) => registry.has(name));
  try {
    const unknown = [...sources.keys()].filter((own) => nameOf(own) === undefined);
    const names = unknown.join(", ");
    if (unknown.length === sources.size) {
      const text = `The registry has no table of the file: ${names || "none"}`;
      throw new AppError("unknown_table", text);
    }
    if (unknown.length > 0) output.warn(`Left out, as the registry has no such table: ${names}`);
    const twins = shadowed([...sources.keys()]).filter((own) => !unknown.includes(own));
    if (twins.length > 0) {
      output.warn(`Left out, as the registry's name is another table's: ${twins.join(", ")}`);
    }
    const fileTime = await modificationTime(path);
    const files: Imported[] = [];
    for (const [own, source] of sources) {
      const tableName = nameOf(own);
      if (tableName === undefined || twins.includes(own)) continue;
      files.push(await importFile(tools, { tableName, source, fileTime }, options));
    }
    output.show(
      { tables: files.map(({ report }) => report.result()) },
      ...files.map(({ report }) => report.summary()),
    );
    return files.findLast(({ code }) => code !== EXIT.success)?.code ?? EXIT.success;
  } finally {
    for (const source of sources.values()) source.close();
  }
}

interface Imported {
  readonly report: ToldReport;
  readonly code: ExitCode;
}

interface ImportedFile {
  readonly tableName: string;
  readonly source: ImportSource;
  /** The time of its last change; null for a pipe. */
  readonly fileTime: string | null;
}

async function importFile(
  tools: CommandTools,
  { tableName, source, fileTime }: ImportedFile,
  options: ImportOptions,
): Promise<Imported> {
  const { output, interruption } = tools;
  const given = importEntry(options, source.format);
  const isDryRun = options.dryRun === true;
  const { table: opened, sync } = await openTable(tools, tableName, isDryRun);
  const table = withFileForm(opened, {
    ...(source.delimiter === null ? {} : { delimiter: source.delimiter }),
    ...given,
  });
  const hint = "Import there, or with --force here";
  if (options.force !== true) requireOwned(table, "invalid_request", hint);
  if (options.whole === true) requireDeletes(table);
  if (options.append === true) requireNumbered(table, "--append");
  const numbers = await numbersOf(
    table,
    source.format,
    options.append === true ? { tables: sync?.tables ?? null } : null,
  );
  const stamps = { fileTime, restores: options.restore === true };
  const writer =
    isDryRun || sync === null
      ? new DryWriter(sync, table, stamps)
      : new StoreWriter(sync, table, stamps);
  const whole = options.whole === true ? new WholeFile(writer, table) : null;
  if (sync !== null) await warnOfRemoteRows(output, table, sync, isDryRun);
  const stop = interruption.stopSignal();
  interruption.onStop(() => source.close());
  const report = new ToldReport(table.name, isDryRun);
  const encoding = given.encoding ?? null;
  try {
    await withProgress(output, `import ${table.name}`, (progress) =>
      importInto(whole ?? writer, {
        table,
        isLax: options.lax === true,
        numbers,
        append: "--append",
        stop,
        report,
        records: (onHeader) => source.records({ table, encoding, onHeader }),
        onProgress: () => {
          const { totalBytes } = source;
          // The file may grow while it is read.
          const part = totalBytes === null ? null : Math.min(1, source.bytesRead() / totalBytes);
          progress.update({ rows: report.counts.read, part });
        },
      }),
    );
  } catch (error) {
    report.tellProblems(output);
    report.tellHowFar(output, options.append === true);
    output.addToFailure(report.result());
    throw error;
  }
  report.tellProblems(output);
  const code = report.counts.failed > 0 ? EXIT.partial : EXIT.success;
  await whole
    ?.removeOthers({
      deps: sync,
      report,
      maxDeletes: options.maxDeletes ?? null,
      requireGoingOn: async () => stop.throwIfAborted(),
      isAllowed: (rows) => mayRemove(output, table, rows),
      onRefused: (text) => output.tellError(text),
    })
    .finally(() => output.addToFailure(report.result()));
  return { report, code };
}

async function modificationTime(path: string): Promise<string | null> {
  if (path === STANDARD_STREAM) return null;
  const found = await stat(fromCallersFolder(path)).catch(() => null);
  return found?.isFile() === true ? formatMs(Math.floor(found.mtimeMs)) : null;
}

/** A dry run makes no store: `sync` is null without one, or without the table in it. */
async function openTable(
  { open, openStore }: CommandTools,
  tableName: string,
  isDryRun: boolean,
): Promise<{ readonly table: Table; readonly sync: SyncDeps | null }> {
  if (!isDryRun) {
    const { config, services } = await open();
    return { table: findTable(config.registry, tableName), sync: services.sync };
  }
  const { registry, storageUrl } = await readDeploymentConfig();
  const table = findTable(registry, tableName);
  if (!(await hasStore(storageUrl))) return { table, sync: null };
  const { sync } = (await openStore()).services;
  if (!(await succeeds(sync.tables.count(table)))) return { table, sync: null };
  const isListed = table.deletes && (await succeeds(sync.tombstones.countAfter(table, null)));
  return { table, sync: isListed ? sync : { ...sync, tombstones: new NoTombstones() } };
}

/** False where reading fails, as the store lacks the table or its tombstones. */
async function succeeds(reading: Promise<unknown>): Promise<boolean> {
  return await reading.then(
    () => true,
    () => false,
  );
}
