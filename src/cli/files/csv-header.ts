// The first line of a CSV file, which names its columns.
import { AppError } from "../../domain/shared/errors.ts";
import type { Column, Table } from "../../domain/sync/table/table.ts";
import { matchColumn } from "../../usecases/sync/files/match-column.ts";
import type { CsvField } from "./csv-fields.ts";

export interface CsvHeader {
  /** Names that are not columns of the table. */
  readonly unknown: readonly string[];
  /** Names of columns that are not imported, because the store numbers rows itself. */
  readonly numbered: readonly string[];
  /** Columns that the file does not have: they become null, as in a push. */
  readonly missing: readonly string[];
}

/** What the fields of one place of a record become: those of a column, or of a name that no column has. */
export interface HeaderField {
  readonly name: string;
  /** Null for an unknown name. */
  readonly column: Column | null;
}

/** What separates the fields of files that are called CSV. */
const DELIMITERS = [",", ";", "\t", "|"];
/** Characters of a header that are remembered. */
const MAX_HEADER_CHARS = 64 * 1024;

/** Remembers the first line as it stands in the file, to tell another separator by. */
export class HeaderLine {
  readonly #table: Table;
  readonly #delimiter: string;
  #text = "";

  constructor(table: Table, delimiter: string) {
    this.#table = table;
    this.#delimiter = delimiter;
  }

  /** The same chunks, looked at on their way. */
  async *watch(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    for await (const chunk of chunks) {
      if (!this.#isWhole()) this.#text += chunk.slice(0, MAX_HEADER_CHARS);
      yield chunk;
    }
  }

  /** What to do when the line names the key once it is taken apart at another character; else an empty text. */
  advice(): string {
    const [line = ""] = this.#text.split(/[\r\n]/, 1);
    const other = DELIMITERS.find((candidate) => {
      const columns = line.split(candidate).map((name) => matchColumn(this.#table, unquoted(name)));
      const hasKey = this.#table.keyColumns.every((key) => columns.includes(key));
      return candidate !== this.#delimiter && hasKey;
    });
    if (other === undefined) return "";
    const name = other === "\t" ? "tab" : `"${other}"`;
    return `; its fields seem to be separated by ${name}: give --delimiter ${name}`;
  }

  #isWhole(): boolean {
    return this.#text.length >= MAX_HEADER_CHARS || /[\r\n]/.test(this.#text);
  }
}

/** The columns of the fields of every record. Throws `file_failed` when no row can be made of them. */
export function readHeader(
  table: Table,
  names: readonly CsvField[],
  line: HeaderLine,
): HeaderField[] {
  const fields = names.map((field): HeaderField => {
    const column = matchColumn(table, field ?? "");
    return { name: column?.name ?? field ?? "", column };
  });
  const columns = fields.flatMap(({ column }) => column ?? []);
  const twice = columns.find((column, i) => columns.indexOf(column) !== i);
  if (twice !== undefined) {
    throw new AppError("file_failed", `Line 1 names the column "${twice.name}" twice`);
  }
  const lacking = table.keyColumns.filter((key) => !columns.includes(key));
  if (lacking.length > 0) {
    const keys = lacking.map(({ name }) => `"${name}"`).join(", ");
    throw new AppError(
      "file_failed",
      `Line 1 must name the columns of the file; it lacks the key of "${table.name}": ${keys}` +
        line.advice(),
    );
  }
  return fields;
}

/** What of the header and of the table does not meet. */
export function compareHeader(table: Table, fields: readonly HeaderField[]): CsvHeader {
  const isPushed = (column: Column | null) => column !== null && table.pushColumns.includes(column);
  return {
    unknown: fields.filter(({ column }) => column === null).map(({ name }) => name),
    numbered: fields
      .filter(({ column }) => column !== null && !isPushed(column))
      .map(({ name }) => name),
    missing: table.pushColumns
      .filter((column) => column.serialize && !fields.some((field) => field.column === column))
      .map(({ name }) => name),
  };
}

function unquoted(name: string): string {
  return /^"(.*)"$/.exec(name.trim())?.[1] ?? name;
}
