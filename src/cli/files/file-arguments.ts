// A file that a command names: its path, its format, its form, and the text of a short one.

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { STANDARD_STREAM } from "../../app/write-file.ts";
import { AppError, systemReason } from "../../domain/shared/errors.ts";
import { ROW_NUMBER } from "../../domain/sync/table/table.ts";
import { FILE_FORMATS, type FileFormat } from "../../ports/files.ts";
import { DATE_FORMAT, DELIMITER, ENCODING } from "../../usecases/sync/files/file-form.ts";

const ENDINGS: ReadonlyMap<string, FileFormat> = new Map([
  ["json", "json"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["csv", "csv"],
  ["tsv", "csv"],
  ["geojson", "json"],
]);

export interface FileOptions {
  readonly format?: FileFormat;
}

export function formatOption(): Option {
  return new Option(
    "--format <format>",
    "format of the file; without it, by the file's name",
  ).choices(FILE_FORMATS);
}

/** Throws `invalid_request` when nothing tells the format. */
export function readFileArguments(file: string, asked: FileFormat | undefined) {
  return { path: fromCallersFolder(file), format: asked ?? formatByName(file) };
}

/** A path from the caller's folder: `npm run repsync` starts us in that of the package. */
export function fromCallersFolder(path: string): string {
  const { npm_lifecycle_event: script, INIT_CWD: folder } = process.env;
  const isElsewhere = script === "repsync" && folder !== undefined && path !== STANDARD_STREAM;
  return isElsewhere ? resolve(folder, path) : path;
}

/** The delimiter by the name; null where it tells none. */
export function delimiterByName(path: string): string | null {
  return /\.tsv(?:\.gz)?$/i.test(path) ? "\t" : null;
}

/** The format by the ending of the name without `.gz`; null where it tells none. */
export function formatOfName(path: string): FileFormat | null {
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return ENDINGS.get(ending) ?? null;
}

/** As `formatOfName`. Throws `invalid_request` where it tells none. */
export function formatByName(path: string): FileFormat {
  const format = formatOfName(path);
  if (format !== null) return format;
  const subject = path === STANDARD_STREAM ? "Standard input or output has" : `"${path}" has`;
  throw new AppError("invalid_request", `${subject} no known file extension`, {
    hint: "Give --format json, ndjson or csv",
  });
}

/** The text of a short file. Throws `invalid_request`. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unreadable(path, error);
  }
}

export function unreadable(path: string, cause: unknown): AppError {
  const message = `"${path}" cannot be read: ${systemReason(cause)}`;
  return new AppError("invalid_request", message, { cause });
}

// Options for the form of a file, which override that of the registry. D-14.1.

export function addFormOptions(command: Command): Command {
  return command
    .option("--delimiter <character>", "between the fields of a CSV file", reading(DELIMITER))
    .addOption(new Option("--decimal <sign>", "decimal sign of its numbers").choices([",", "."]))
    .option("--date-format <format>", "such as DD.MM.YYYY", reading(DATE_FORMAT))
    .option("--encoding <name>", "such as latin1", reading(ENCODING))
    .option("--path <names>", "array within a JSON file")
    .option("--number-rows", `line n is ${ROW_NUMBER} n`);
}

export function reading<Value>({ read, must }: { read(text: string): Value | null; must: string }) {
  return (text: string): Value => {
    const value = read(text);
    if (value === null) throw new InvalidArgumentError(`It ${must}.`);
    return value;
  };
}
