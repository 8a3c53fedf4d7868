// A file of somebody, from the guess of its table to the rows that an import makes of it and the file that an export gives back.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../../src/app/config.ts";
import { openServices } from "../../../src/app/services.ts";
import { openSources } from "../../../src/cli/files/guess-sources.ts";
import { openImportSource } from "../../../src/cli/files/import-source.ts";
import { type GuessWishes, NO_WISHES } from "../../../src/domain/sync/guess/table-guess.ts";
import { STAMP_NOW } from "../../../src/domain/sync/rows/row-time.ts";
import type { ImportCounts, ImportFailure } from "../../../src/domain/sync/run/import-events.ts";
import type { ImportEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { Turns } from "../../../src/ports/runtime/turns.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { exportRows } from "../../../src/usecases/sync/files/export-rows.ts";
import { withFileForm } from "../../../src/usecases/sync/files/file-form.ts";
import { type FileGuess, guessTable } from "../../../src/usecases/sync/files/guess-file.ts";
import { ImportReport, importFile } from "../../../src/usecases/sync/files/import-file.ts";
import { DryWriter, StoreWriter } from "../../../src/usecases/sync/files/import-writer.ts";
import { RowNumbers } from "../../../src/usecases/sync/files/record-reader.ts";
import { keepResource } from "../../support/resources.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { writingParts } from "../../support/run-parts.ts";
import { HurriedClock } from "../../support/time/fake-clock.ts";
import { fileText } from "./read-file-text.ts";

/** A file as it lies on a disk, and what is said of it. */
export interface FileOnDisk {
  readonly name: string;
  /** Absent where it is there. */
  readonly data?: string | Uint8Array;
  readonly wishes?: Partial<GuessWishes>;
  /** The one table of a SQLite file. */
  readonly table?: string;
}

/** What became of it. */
export interface TriedFile {
  readonly guess: FileGuess;
  /** What of the file becomes no table. */
  readonly leftOut: readonly string[];
  readonly counts: ImportCounts;
  readonly failures: readonly ImportFailure[];
  readonly rows: readonly Row[];
  /** The export as CSV. */
  readonly csv: string;
  /** Imports a file by the same registry entry, into the same table. */
  importAgain(data: string): Promise<ImportCounts>;
}

let files = 0;

/**
 * Guesses the table of a file, imports the file by that alone, and exports it; a dry run writes nothing. Throws where there is
 * no key.
 */
export async function tryFile(folder: string, file: FileOnDisk, isDry = false): Promise<TriedFile> {
  const path = join(folder, file.name);
  if (file.data !== undefined) writeFileSync(path, file.data);
  const { guess, leftOut } = await guessFile(path, file);
  if (guess.entry === null) throw new Error(`${file.name} has no key`);
  const table = makeTable(guess.entry, `file_${++files}`);
  const storage = isDry ? null : await openStore(table);
  const writer =
    storage === null
      ? new DryWriter(null, table, STAMP_NOW)
      : new StoreWriter(writingParts(storage), table);
  const run = async (from: string, format?: "csv", given: ImportEntry = {}) => {
    const source = await openImportSource(file.table ?? table.name, from, format);
    const delimiter = source.delimiter === null ? {} : { delimiter: source.delimiter };
    const formed = withFileForm(table, { ...delimiter, ...given });
    const numbers = formed.files.numberRows
      ? new RowNumbers(source.format === "json" ? "place" : "line")
      : null;
    const report = new ImportReport(table.name, isDry);
    await importFile(writer, {
      ...{ table: formed, isLax: false, numbers, append: "--append", report },
      stop: new AbortController().signal,
      records: (onHeader) =>
        source.records({
          ...{ table: formed, onHeader },
          encoding: file.wishes?.files?.encoding ?? null,
        }),
    });
    source.close();
    return { counts: report.counts, failures: report.failures.told };
  };
  const { counts, failures } = await run(path);
  const rows: Row[] = [];
  if (storage !== null) {
    for await (const part of exportRows(storage.tables, table)) rows.push(...part);
  }
  const csv = fileText("csv", table, rows);
  const importAgain = async (data: string) => {
    const again = join(folder, `again-${++files}.csv`);
    writeFileSync(again, data);
    return (await run(again, "csv", { encoding: "utf-8" })).counts;
  };
  return { guess, leftOut, counts, failures, rows, csv, importAgain };
}

export async function guessFile(path: string, { wishes, table }: Omit<FileOnDisk, "name">) {
  const asked = table === undefined ? {} : { table };
  const all = { ...NO_WISHES, ...wishes };
  const opened = await openSources(path, asked, () => all);
  try {
    const [source] = opened.sources;
    if (source === undefined) throw new Error(`${path} has no table`);
    const turns = new Turns(new HurriedClock(), async () => {});
    return { guess: await guessTable(source, turns), leftOut: opened.leftOut };
  } finally {
    opened.close();
  }
}

async function openStore(table: Table): Promise<FullStorage> {
  const config = readConfig({ STORAGE_URL: "sqlite::memory:", LOG_LEVEL: "silent" }, () => "");
  const services = await openServices(config);
  keepResource(() => services.close());
  await services.prepare();
  const { storage } = services;
  await storage.tables.prepare([table]);
  return storage;
}
