// The options by which commands are told what a file is like; they go before what the registry says of the table. D-14.1.
import { type Command, InvalidArgumentError, Option } from "commander";
import { DateFormat } from "../../domain/shared/date-format.ts";
import { AppError } from "../../domain/shared/errors.ts";
import { fileFormOf, NO_DATE_FORMAT } from "../../domain/sync/table/registry.ts";
import {
  ENCODINGS,
  type Encoding,
  type ImportEntry,
} from "../../domain/sync/table/registry-schema.ts";
import { type FileForm, ROW_NUMBER, type Table } from "../../domain/sync/table/table.ts";
import type { FileFormat } from "../../ports/files.ts";

export interface FormOptions {
  /** One character. */
  readonly delimiter?: string;
  readonly decimal?: "," | ".";
  readonly dateFormat?: string;
  readonly encoding?: Encoding;
  readonly path?: string;
  readonly numberRows?: true;
}

export function addFormOptions(command: Command): Command {
  return command
    .option("--delimiter <character>", "between the fields of a CSV file", readDelimiter)
    .addOption(new Option("--decimal <sign>", "decimal sign of its numbers").choices([",", "."]))
    .option("--date-format <format>", "such as DD.MM.YYYY", readDateFormat)
    .option("--encoding <name>", "such as latin1", readEncoding)
    .option("--path <names>", "array within a JSON file")
    .option("--number-rows", `line n is ${ROW_NUMBER} n`);
}

/** As the registry has it. Throws `invalid_request` for what the format does not have. */
export function importEntry(options: FormOptions, format: FileFormat | "sqlite"): ImportEntry {
  const { delimiter, decimal, dateFormat, encoding, path, numberRows } = options;
  const misplaced: readonly (readonly [unknown, string, boolean])[] = [
    [delimiter, "--delimiter is for CSV files", format !== "csv"],
    [decimal, "--decimal is for CSV files", format !== "csv"],
    [dateFormat, "--date-format is for CSV files", format !== "csv"],
    [encoding, "--encoding is for files of text", format === "sqlite"],
    [path, "--path is for JSON files", format !== "json"],
  ];
  const problem = misplaced.find(([value, , isWrong]) => value !== undefined && isWrong);
  if (problem !== undefined) throw new AppError("invalid_request", problem[1]);
  return {
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(decimal === undefined ? {} : { decimal }),
    ...(dateFormat === undefined ? {} : { date_format: dateFormat }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(path === undefined ? {} : { path }),
    ...(numberRows === true ? { number_rows: true } : {}),
  };
}

/** The table with what a file of it is like. Throws `invalid_request` for rows that cannot be numbered. */
export function withFileForm(table: Table, entry: ImportEntry): Table {
  const form = fileFormOf(entry);
  const given = Object.entries(form).filter(([, value]) => value !== null && value !== false);
  const own = given.filter(([name]) => name !== "headers" && name !== "epoch");
  const files: FileForm = { ...table.files, ...Object.fromEntries(own) };
  const [key, ...others] = table.keyColumns;
  const isNumbered = key?.name === ROW_NUMBER && key.type === "integer" && others.length === 0;
  if (files.numberRows && !isNumbered) {
    const text = `--number-rows needs the upsert key ["${ROW_NUMBER}"], of type integer, in "${table.name}"`;
    throw new AppError("invalid_request", text);
  }
  return { ...table, files };
}

/** Reads the separator of fields. Throws the error that commander tells. */
function readDelimiter(text: string): string {
  if (text === "tab" || text === "\\t") return "\t";
  if ([...text].length === 1 && !/["\r\n]/.test(text)) return text;
  throw new InvalidArgumentError(
    'It must be one character other than a quote, such as ";", or tab.',
  );
}

function readDateFormat(text: string): string {
  if (DateFormat.parse(text) !== null) return text;
  throw new InvalidArgumentError(`It ${NO_DATE_FORMAT}.`);
}

function readEncoding(text: string): Encoding {
  const found = ENCODINGS.find((name) => name === text.toLowerCase());
  if (found !== undefined) return found;
  throw new InvalidArgumentError(`It must be one of ${ENCODINGS.join(", ")}.`);
}
