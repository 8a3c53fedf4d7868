import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import {
  problemText,
  readRegistryFile,
  registryText,
  withTables,
} from "../../../app/registry-file.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { BUILT_IN_TABLES } from "../../../domain/sync/table/built-in-tables.ts";
import type { TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import { type FileGuess, guessTable } from "../../../usecases/sync/files/guess-table.ts";
import { type CommandTools, declareCommand, type RunCommand } from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { createFile } from "../../files/create-file.ts";
import { type FileOptions, formatOption, fromCallersFolder } from "../../files/file-arguments.ts";
import { withFileLock } from "../../files/file-lock.ts";
import { type OpenedSources, openSources } from "../../files/guess-sources.ts";
import { codeOf, unreadable } from "../../files/read-text.ts";
import { writeText } from "../../files/write-text.ts";
import { type Columns, countOf, type Output, tableLines } from "../../output.ts";

interface InferOptions extends FileOptions {
  readonly table?: string;
  readonly into?: string;
}

type Tables = Readonly<Record<string, TableEntry>>;

const COLUMNS: Columns<FileGuess["columns"][number]> = {
  "": ({ name }) => `  ${name}`,
  type: ({ type }) => type,
  reason: ({ reason }) => reason,
};

const NO_KEY =
  "no column, and no two or three together, tell its rows apart, and a table needs a key: " +
  "add a column with a value of its own in every row";

const ONE_END =
  'Nothing says which of two versions of a row is newer, so it is to be written at one end only: "direction" names it';

export function addInferCommand(group: Command, run: RunCommand): void {
  declareCommand(group, "infer")
    .summary("guess the tables of a file")
    .description(
      "Reads a CSV, NDJSON, JSON or SQLite file and prints a registry file with a table for it: types, key and " +
        "timestamp column are guessed, from what standard error tells. Exit code 1 when a table has no key.",
    )
    .argument("<file>", "path of the file")
    .option("--table <name>", "name of the table, or the one table of a SQLite file")
    .option("--into <file>", "registry file to add the tables to, which keeps its comments")
    .addOption(formatOption())
    .action((file: string, options: InferOptions) =>
      run(options, (tools) => infer(tools, fromCallersFolder(file), options)),
    );
}

async function infer(
  { output }: CommandTools,
  path: string,
  options: InferOptions,
): Promise<ExitCode> {
  const target = options.into === undefined ? null : fromCallersFolder(options.into);
  // Before a long file is read.
  if (target !== null) requireSound(target, (await textIfThere(target)) ?? registryText({}));
  const opened = await naming(path, () => openSources(path, options));
  const found: Record<string, TableEntry> = {};
  const keyless: string[] = [];
  try {
    for (const source of opened.sources) {
      const guess = await naming(path, () => guessTable(source));
      tell(output, guess, opened);
      if (guess.entry === null) keyless.push(guess.name);
      else found[guess.name] = guess.entry;
    }
  } finally {
    opened.close();
  }
  const names = Object.keys(found);
  const problem = keyless.length === 0 ? null : `${keyless.join(", ")}: ${NO_KEY}`;
  if (names.length === 0 && problem !== null) throw new AppError("file_failed", problem);
  requireValid(found);
  if (target === null) output.printText(registryText(found));
  else {
    await addTables(target, found);
    output.show({ file: target, tables: names }, `${target}: ${names.join(", ")} added`);
  }
  for (const name of names) {
    output.warn(`Next: repsync import ${name} ${shellWord(path)}${opened.importOptions}`);
  }
  if (problem !== null) output.tellError(problem);
  return problem === null ? EXIT.success : EXIT.failed;
}

/** The path as a shell takes it. */
function shellWord(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Says in a failure of reading which file it was. */
async function naming<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error, "file_failed") || error.message.includes(path)) throw error;
    throw new AppError("file_failed", `"${path}": ${error.message}`, { cause: error });
  }
}

/** What the guess rests on. */
function tell(output: Output, guess: FileGuess, { format }: OpenedSources): void {
  const { name, records, entry, columns, keyReason, leftOut, unread, firstUnread } = guess;
  output.warn(`${name}: ${countOf(records, "record")} (${format})`);
  output.warn(...tableLines(columns, COLUMNS).slice(1));
  if (leftOut.length > 0) {
    const names = leftOut.map((field) => JSON.stringify(field)).join(", ");
    output.warn(`  left out, as no column can have the name: ${names}`);
  }
  if (unread > 0)
    output.warn(`  left out: ${countOf(unread, "record")} that cannot be read; ${firstUnread}`);
  if (entry === null) return;
  const timestamp = entry.timestamp_column ?? null;
  output.warn(
    `  key: ${entry.upsert_key.join(", ")} (${keyReason})`,
    timestamp === null
      ? "  timestamp column: none; every run moves all rows, as no column is named as the time of a change. " +
          ONE_END
      : `  timestamp column: ${timestamp}`,
  );
  if (name in BUILT_IN_TABLES) output.warn(`  it replaces the built-in table ${name}`);
}

/** Two names that differ only in case, for example. */
function requireValid(tables: Tables): void {
  const { problems } = readRegistryFile(registryText(tables));
  const [first] = problems;
  if (first !== undefined) throw new AppError("file_failed", first.message);
}

/** Adds all of the tables to a registry file, or none. Throws `invalid_request` when it has one of them, or has problems. */
async function addTables(path: string, tables: Tables): Promise<void> {
  await withFileLock(path, async () => {
    const text = await textIfThere(path);
    if (text !== null) await writeText(path, [extended(path, text, tables)]);
    else if (!(await createFile(path, { text: registryText(tables) }))) {
      throw new AppError("file_failed", `"${path}" cannot be read`);
    }
  });
}

/** The text with the tables. */
function extended(path: string, text: string, tables: Tables): string {
  requireSound(path, text);
  const { own } = readRegistryFile(text);
  const there = Object.keys(tables).filter((name) =>
    own.some((other) => other.toLowerCase() === name.toLowerCase()),
  );
  if (there.length > 0) {
    const hint = "remove it there, or give --table another name";
    throw new AppError(
      "invalid_request",
      `"${path}" has the table ${there.join(", ")} already: ${hint}`,
    );
  }
  const added = withTables(text, tables);
  requireSound(path, added);
  return added;
}

function requireSound(path: string, text: string): void {
  const { problems } = readRegistryFile(text);
  if (problems.length === 0) return;
  const details = problems.map((problem) => ({ pointer: "", detail: problemText(problem) }));
  throw new AppError("invalid_request", `"${path}" has problems`, { problems: details });
}

async function textIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw unreadable(path, error);
  }
}
