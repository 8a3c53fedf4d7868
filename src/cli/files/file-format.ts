import { FileProblem } from "./file-problem.ts";

/** Formats of imports and exports. D-4.12. */
export const FILE_FORMATS = ["json", "ndjson", "csv"] as const;

/** One of them. */
export type FileFormat = (typeof FILE_FORMATS)[number];

const ENDINGS: ReadonlyMap<string, FileFormat> = new Map([
  ["json", "json"],
  ["ndjson", "ndjson"],
  ["jsonl", "ndjson"],
  ["csv", "csv"],
]);

/** The name of standard input and output. */
export const STANDARD_STREAM = "-";

/** The format that was asked for, or else the one of the file's name, `.gz` left out. Throws `FileProblem`. */
export function fileFormatOf(path: string, asked: FileFormat | undefined): FileFormat {
  if (asked !== undefined) return asked;
  const ending = /\.([a-z]+)(?:\.gz)?$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const format = ENDINGS.get(ending);
  if (format !== undefined) return format;
  const subject = path === STANDARD_STREAM ? "Standard input or output has" : `"${path}" has`;
  throw new FileProblem(
    `${subject} no ending that tells its format: give --format json, ndjson or csv`,
  );
}

/** True for a name that says that the file is compressed. */
export function isGzipName(path: string): boolean {
  return /\.gz$/i.test(path);
}
