import { readFile } from "node:fs/promises";
import { setImmediate } from "node:timers/promises";
import { withFileLock } from "../../../app/registry-file.ts";
import {
  readRegistryFile,
  registryText,
  requireRegistry,
  tablesOf,
  withEntry,
  withTables,
} from "../../../app/registry-text.ts";
import { createFile, writeText } from "../../../app/write-file.ts";
import { AppError, codeOf, isAppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import type { GuessWishes } from "../../../domain/sync/guess/table-guess.ts";
import { updatedEntry } from "../../../domain/sync/table/registry-entries.ts";
import { BUILT_IN_TABLES, type TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import type { FileFormat } from "../../../ports/files.ts";
import { Turns } from "../../../ports/runtime/turns.ts";
import { type FormOptions, importEntry } from "../../../usecases/sync/files/file-form.ts";
import {
  type AskedTable,
  type FileGuess,
  guessTable,
  readWishes,
} from "../../../usecases/sync/files/guess-file.ts";
import { type CommandTools, EXIT, type ExitCode } from "../../command-runner.ts";
import {
  type FileOptions,
  formatOfName,
  fromCallersFolder,
  unreadable,
} from "../../files/file-arguments.ts";
import { type OpenedSources, openSources } from "../../files/guess-sources.ts";
import { type Columns, type Output, tableLines } from "../../output.ts";

export interface InferOptions extends FileOptions, FormOptions, AskedTable {
  readonly table?: string;
  readonly into?: string;
  readonly update?: true;
}

type Tables = Readonly<Record<string, TableEntry>>;

const COLUMNS: Columns<FileGuess["columns"][number]> = {
  "": ({ name }) => `  ${name}`,
  type: ({ type }) => type,
  reason: ({ reason }) => reason,
};

const NO_KEY =
  "no column, and no two or three together, tell its rows apart, and a table needs a key: " +
  "name one with --key, number its rows with --number-rows, or add a column with a value of its own in every row";

const ONE_END =
  'Nothing says which of two versions of a row is newer, so it is to be written at one end only: "direction" names it';

export async function infer(
  { output }: CommandTools,
  file: string,
  options: InferOptions,
): Promise<ExitCode> {
  const path = fromCallersFolder(file);
  const target = options.into === undefined ? null : fromCallersFolder(options.into);
  if (options.update === true && target === null) {
    throw new AppError("invalid_request", "--update is for a table of the file of --into");
  }
  // Checked before a long file is read.
  const registry = target === null ? null : ((await textIfThere(target)) ?? registryText({}));
  if (target !== null && registry !== null) requireRegistry(target, registry);
  const there = options.update === true && registry !== null ? tablesOf(registry) : {};
  const { found, keyless } = await guessAll(output, path, options, there);
  const names = Object.keys(found);
  const problem = keyless.length === 0 ? null : `${keyless.join(", ")}: ${NO_KEY}`;
  if (names.length === 0 && problem !== null) throw new AppError("file_failed", problem);
  requireValid(found);
  if (target === null) {
    output.printText(registryText(found));
    output.warn("Printed only: --into FILE adds it to a registry file");
  } else await addTables(output, target, found, there);
  const subject = names.length > 1 ? "--all" : names.join();
  output.warn(`Next: repsync import ${subject} ${shellWord(path)}${nextOptions(path, options)}`);
  if (problem !== null) output.tellError(problem);
  return problem === null ? EXIT.success : EXIT.failed;
}

/**
 * Guesses each table of a file, and tells why; `keyless`: tables without a key. `there`: tables of the registry, which count
 * where the caller says nothing.
 */
async function guessAll(output: Output, path: string, options: InferOptions, there: Tables) {
  const wishesFor = (name: string, format: FileFormat | "sqlite") =>
    wishesOf(options, format, there[name]);
  const opened = await naming(path, () => openSources(path, options, wishesFor));
  const turns = new Turns({ monotonicMs: () => performance.now() }, setImmediate);
  const found: Record<string, TableEntry> = {};
  const keyless: string[] = [];
  try {
    for (const source of opened.sources) {
      const guess = await naming(path, () => guessTable(source, turns));
      tell(output, guess, opened);
      if (guess.entry === null) keyless.push(guess.name);
      else found[guess.name] = guess.entry;
    }
    if (opened.leftOut.length > 0) output.warn(`Left out: ${opened.leftOut.join(", ")}`);
  } finally {
    opened.close();
  }
  return { found, keyless };
}

/** The caller's wishes, and else the entry's form of files. */
function wishesOf(
  options: InferOptions,
  format: FileFormat | "sqlite",
  entry: TableEntry | undefined,
): GuessWishes {
  const files = importEntry(options, format);
  const { columns: _, epoch: __, encoding, ...others } = entry?.import ?? {};
  const isEncoded = format === "csv" && encoding !== undefined;
  const known = isEncoded ? { ...others, encoding } : others;
  const wishes = readWishes(options, { ...known, ...files });
  return { ...wishes, key: wishes.key ?? entry?.upsert_key ?? null };
}

/** Options that an import needs, where neither the name of the file nor the registry has them. */
function nextOptions(path: string, { format, encoding }: InferOptions): string {
  const byName = formatOfName(path);
  return [
    ...(format === undefined || format === byName ? [] : [` --format ${format}`]),
    ...(encoding === undefined || (format ?? byName) === "csv" ? [] : [` --encoding ${encoding}`]),
  ].join("");
}

function shellWord(path: string): string {
  return /^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Names the file in a failure of reading. */
async function naming<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error, "file_failed") || error.message.includes(path)) throw error;
    const { message, hint } = error;
    throw new AppError("file_failed", `"${path}": ${message}`, { cause: error, hint });
  }
}

/** Tells the reasons of a guess. */
function tell(output: Output, guess: FileGuess, { format }: OpenedSources): void {
  const { name, records, entry, columns, leftOut, unread, firstUnread, warnings } = guess;
  output.warn(`${name}: ${countOf(records, "record")} (${format})`);
  output.warn(...tableLines(columns, COLUMNS).slice(1));
  if (leftOut.length > 0) {
    const names = leftOut.map((field) => JSON.stringify(field)).join(", ");
    output.warn(`  left out, as no column can have the name: ${names}`);
  }
  if (unread > 0)
    output.warn(`  left out: ${countOf(unread, "record")} that cannot be read; ${firstUnread}`);
  if (entry !== null) {
    output.warn(
      `  key: ${entry.upsert_key.join(", ")} (${guess.keyReason})`,
      `  timestamp column: ${timestampText(entry, guess.timelessReason)}`,
    );
  }
  for (const warning of warnings) output.warn([{ colour: "yellow", text: `  warn: ${warning}` }]);
  if (entry !== null && name in BUILT_IN_TABLES) {
    output.warn(`  it replaces the built-in table ${name}`);
  }
}

function timestampText(
  { timestamp_column: timestamp = null, stamped = false }: TableEntry,
  timelessReason: string | null,
): string {
  if (timestamp === null) return `none; every run moves all rows, as ${timelessReason}. ${ONE_END}`;
  return stamped
    ? `${timestamp}, added and kept by repsync, and deletes travel, as ${timelessReason}`
    : timestamp;
}

/** Throws `file_failed`, as for two names that differ only in case. */
function requireValid(tables: Tables): void {
  const { problems } = readRegistryFile(registryText(tables));
  const [first] = problems;
  if (first !== undefined) throw new AppError("file_failed", first.message);
}

/**
 * Adds all tables to a registry file, or none; those of `known` are updated. Throws `invalid_request` when the file has one to be
 * added, or problems.
 */
async function addTables(
  output: Output,
  path: string,
  found: Tables,
  known: Tables,
): Promise<void> {
  const names = Object.keys(found);
  const updated = names.filter((name) => Object.hasOwn(known, name));
  const added = Object.fromEntries(
    Object.entries(found).filter(([name]) => !updated.includes(name)),
  );
  const addedNames = Object.keys(added);
  await withFileLock(path, async () => {
    const text = await textIfThere(path);
    if (text === null) {
      if (await createFile(path, { text: registryText(found) })) return;
      throw new AppError("file_failed", `"${path}" cannot be read`);
    }
    requireRegistry(path, text);
    const there = tablesOf(text);
    const taken = new Set(Object.keys(there).map((name) => name.toLowerCase()));
    const again = addedNames.filter((name) => taken.has(name.toLowerCase()));
    if (again.length > 0) {
      const problem = `"${path}" has the table ${again.join(", ")} already`;
      const hint = "Remove it there, or give --table another name";
      throw new AppError("invalid_request", problem, { hint });
    }
    let put = addedNames.length === 0 ? text : withTables(text, added);
    for (const name of updated) {
      const [before, now] = [there[name], found[name]];
      if (before === undefined || now === undefined) continue;
      const { entry, differences } = updatedEntry(before, now);
      put = withEntry(put, name, entry);
      for (const difference of differences) output.warn(`  ${name}: ${difference}`);
    }
    requireRegistry(path, put, "would have");
    await writeText(path, [put]);
  });
  const done = [
    ...(addedNames.length > 0 ? [`${addedNames.join(", ")} added`] : []),
    ...(updated.length > 0 ? [`${updated.join(", ")} updated`] : []),
  ];
  output.show({ file: path, tables: names }, `${path}: ${done.join("; ")}`);
}

async function textIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw unreadable(path, error);
  }
}
