// The form of a file as callers describe it, which overrides that of the registry. D-14.1.
import { AppError } from "../../../domain/shared/errors.ts";
import { ENCODINGS } from "../../../domain/shared/text.ts";
import { COLUMN_TYPES, type ColumnType } from "../../../domain/sync/table/column-types.ts";
import { DateFormat, NO_DATE_FORMAT } from "../../../domain/sync/table/date-format.ts";
import type { Encoding, ImportEntry } from "../../../domain/sync/table/registry-schema.ts";
import {
  type FileForm,
  fileFormOf,
  ROW_NUMBER,
  type Table,
} from "../../../domain/sync/table/table.ts";
import type { FileFormat } from "../../../ports/files.ts";

export interface FormOptions {
  /** One character. */
  readonly delimiter?: string;
  readonly decimal?: "," | ".";
  readonly dateFormat?: string;
  readonly encoding?: Encoding;
  readonly path?: string;
  readonly numberRows?: true;
}

/** The caller's name of an option of the command line. */
type OptionName = (name: string) => string;

const onCommandLine: OptionName = (name) => `--${name}`;

/** The options as a registry entry. Throws `invalid_request` for options that the format lacks. */
export function importEntry(
  options: FormOptions,
  format: FileFormat | "sqlite",
  named: OptionName = onCommandLine,
): ImportEntry {
  const { delimiter, decimal, dateFormat, encoding, path, numberRows } = options;
  const misplaced: readonly (readonly [unknown, string, boolean])[] = [
    [delimiter, `${named("delimiter")} is for CSV files`, format !== "csv"],
    [decimal, `${named("decimal")} is for CSV files`, format !== "csv"],
    [dateFormat, `${named("date-format")} is for CSV files`, format !== "csv"],
    [encoding, `${named("encoding")} is for files of text`, format === "sqlite"],
    [path, `${named("path")} is for JSON files`, format !== "json"],
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

/** The table with the form of its file. Throws `invalid_request` for rows that cannot be numbered. */
export function withFileForm(
  table: Table,
  entry: ImportEntry,
  named: OptionName = onCommandLine,
): Table {
  const form = fileFormOf(entry);
  const given = Object.entries(form).filter(([, value]) => value !== null && value !== false);
  const own = given.filter(([name]) => name !== "headers" && name !== "epoch");
  const files: FileForm = { ...table.files, ...Object.fromEntries(own) };
  const [key, ...others] = table.keyColumns;
  const isNumbered = key?.name === ROW_NUMBER && key.type === "integer" && others.length === 0;
  if (files.numberRows && !isNumbered) {
    const text = `${named("number-rows")} needs the upsert key ["${ROW_NUMBER}"], of type integer, in "${table.name}"`;
    throw new AppError("invalid_request", text);
  }
  return { ...table, files };
}

/** Reads an option; null for an invalid text, of which `must` says what it has to be. */
export interface FormReader<Value> {
  read(text: string): Value | null;
  readonly must: string;
}

export const DELIMITER: FormReader<string> = {
  read(text) {
    if (text === "tab" || text === "\\t") return "\t";
    return [...text].length === 1 && !/["\r\n]/.test(text) ? text : null;
  },
  must: 'must be one character other than a quote, such as ";", or tab',
};
export const DECIMAL: FormReader<"," | "."> = {
  read: (text) => (text === "," || text === "." ? text : null),
  must: "must be , or .",
};
export const DATE_FORMAT: FormReader<string> = {
  read: (text) => (DateFormat.parse(text) === null ? null : text),
  must: NO_DATE_FORMAT,
};
export const ENCODING: FormReader<Encoding> = {
  read: (text) => ENCODINGS.find((name) => name === text.toLowerCase()) ?? null,
  must: `must be one of ${ENCODINGS.join(", ")}`,
};
export const COLUMN_TYPE: FormReader<readonly [column: string, type: ColumnType]> = {
  read(text) {
    const [, column = "", asked = ""] = /^(.+)=([a-z]+)$/.exec(text) ?? [];
    const type = COLUMN_TYPES.find((name) => name === asked);
    return type === undefined ? null : [column, type];
  },
  must: `must be a column, =, and one of ${COLUMN_TYPES.join(", ")}, such as updated_at=datetime`,
};
