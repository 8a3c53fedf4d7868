// Parameters of files: their formats, and how to read them. D-14.1, D-14.4.
import { AppError } from "../../../domain/shared/errors.ts";
import { ENCODINGS } from "../../../domain/shared/text.ts";
import { wireName } from "../../../domain/shared/wire-names.ts";
import { FILE_FORMATS, type FileFormat } from "../../../ports/files.ts";
import {
  DATE_FORMAT,
  DECIMAL,
  DELIMITER,
  ENCODING,
  type FormOptions,
  type FormReader,
} from "../../../usecases/sync/files/file-form.ts";
import { mediaType } from "../../guards/browser.ts";
import { given } from "../../schemas/parts.ts";

export const FILE_TYPES: Readonly<Record<FileFormat, string>> = {
  csv: "text/csv",
  json: "application/json",
  ndjson: "application/x-ndjson",
};
export const ALL_TYPES = Object.values(FILE_TYPES);

export function flag(description: string) {
  return given(description, { enum: ["true", "false"], default: "false" });
}

/** Throws `invalid_request` for any word but `true` and `false`. */
export function isSet(name: string, text: string | null): boolean {
  if (text !== null && text !== "" && text !== "true" && text !== "false") {
    throw new AppError("invalid_request", `${name} must be true or false`);
  }
  return text === "true";
}

export const FORM_QUERY = {
  path: given("JSON: names to the array within the document, separated by points"),
  encoding: given("Of the text; a byte order mark goes before it", { enum: ENCODINGS }),
  delimiter: given("CSV: one character, or `tab`"),
  decimal: given("CSV: decimal sign of its numbers", { enum: [",", "."] }),
  date_format: given("CSV: such as DD.MM.YYYY"),
};

export function formatOf(request: Request): FileFormat {
  const type = mediaType(request);
  const format = FILE_FORMATS.find((one) => FILE_TYPES[one] === type);
  if (format !== undefined) return format;
  throw new AppError("invalid_request", `The body needs Content-Type: ${ALL_TYPES.join(", ")}`);
}

type FormTexts = Readonly<
  Record<"path" | "encoding" | "delimiter" | "decimal" | "dateFormat", string | null>
>;

/** Throws `invalid_request` for an invalid text. */
export function readForm({ path, ...query }: FormTexts): FormOptions {
  return {
    ...formPart("delimiter", query.delimiter, DELIMITER),
    ...formPart("decimal", query.decimal, DECIMAL),
    ...formPart("dateFormat", query.dateFormat, DATE_FORMAT),
    ...formPart("encoding", query.encoding, ENCODING),
    ...(path ? { path } : {}),
  };
}

function formPart<Name extends string, Value>(
  name: Name,
  text: string | null,
  { read, must }: FormReader<Value>,
): { readonly [Key in Name]?: Value } {
  if (text === null || text === "") return {};
  const value = read(text);
  if (value === null) throw new AppError("invalid_request", `${wireName(name)} ${must}`);
  return { [name]: value } as { readonly [Key in Name]: Value };
}
