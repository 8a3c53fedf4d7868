// A table of the registry, as the rest of the code sees it: validated, with its defaults filled in.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { cutText, nearestWord } from "../../shared/text.ts";
import type { ColumnType } from "./column-types.ts";
import type { DateFormat } from "./date-format.ts";
import type { Encoding, TableEntry } from "./registry-schema.ts";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** False: a record whose value is null fails. Key columns are never null. */
  readonly nullable: boolean;
  /** Greatest length of a text in Unicode code points; null for no limit. */
  readonly maxLength: number | null;
  /** False keeps the column out of pull pages; runs never send or change it. */
  readonly serialize: boolean;
  /** True only for `id`: the store numbers new rows itself. S-4.2.7. */
  readonly autoIncrement: boolean;
  /** True when the column is part of the upsert key. */
  readonly isKey: boolean;
}

/** The rule of a push that meets a newer row of the same key. D-3.9. */
export type ConflictRule = "overwrite" | "newer";

export type EpochUnit = "seconds" | "milliseconds";

/** The form of a table's files, where they do not tell it themselves. D-14.1. */
export interface FileForm {
  /** The character between two fields of CSV; null for a comma. */
  readonly delimiter: string | null;
  /** The decimal sign in CSV, where groups of three have the other sign; null for a point without groups. */
  readonly decimal: "," | "." | null;
  /** The format of dates and times in CSV, beside ISO 8601. */
  readonly dateFormat: DateFormat | null;
  /** The encoding of CSV; null for UTF-8, or what a byte order mark says. */
  readonly encoding: Encoding | null;
  /** Names to the array of records within a JSON file, separated by points; null for a file that is one. */
  readonly path: string | null;
  /** True: records are numbered into the column `row`. */
  readonly numberRows: boolean;
  /** The names that a file has for columns, by the column's name. */
  readonly headers: ReadonlyMap<string, string>;
  /** Columns whose times are numbers since 1970. */
  readonly epoch: ReadonlyMap<string, EpochUnit>;
}

/** The column of numbered records. */
export const ROW_NUMBER = "row";

/** One registry entry. S-2.1, D-2. */
export interface Table {
  readonly name: string;
  /** Every column, in registry order. */
  readonly columns: readonly Column[];
  /** Column of type `datetime` or `date` for `since` and order; null when the table has none. */
  readonly timestampColumn: string | null;
  /** The columns that identify a row, in registry order of `upsert_key`. At least one. */
  readonly keyColumns: readonly Column[];
  /** The columns a push may write: all but an auto-incrementing `id` outside the key. S-4.2.7. */
  readonly pushColumns: readonly Column[];
  /** The columns a pull page shows: all but those with `serialize: false`. */
  readonly pageColumns: readonly Column[];
  /** The columns that runs move and compare, by name: those that pages show and pushes may write. */
  readonly movedColumns: readonly Column[];
  /** Columns changed on a key conflict, a subset of `pushColumns`; empty: existing rows are left alone. S-4.2.9. */
  readonly updateColumns: readonly Column[];
  /** `update_columns` of the registry, as peers are told. D-7.3. */
  readonly registeredUpdates: "__all__" | readonly string[];
  readonly conflict: ConflictRule;
  /** Late-commit allowance of incremental runs in seconds: the table's own, or `SYNC_LAG_SECONDS`. */
  readonly lagSeconds: number;
  /** True when deletes travel. D-7.6. */
  readonly deletes: boolean;
  /** True when a record that comes without a time gets one. D-14.2. */
  readonly stamped: boolean;
  /** Rows that one run may delete at an end; null for 1,000 or a tenth of the table, whichever is more. D-7.6. */
  readonly maxDeletes: number | null;
  /** Columns that only the remote has, or that are hidden here: a push to a remote of another kind may leave them out. D-7.3. */
  readonly remoteOnly: readonly string[];
  /** The end that writes the rows: `push` for this one, `pull` for the remote; null for both. D-11.9. */
  readonly direction: "push" | "pull" | null;
  readonly files: FileForm;
  /** The entry in the registry file. */
  readonly entry: TableEntry;
}

/**
 * One value of a row, as a pull page shows it (D-3.3). Every store gives back exactly what it was given:
 * - `text`: text. `boolean`: true or false. `json`: any JSON value.
 * - `integer`: a whole number, as `convertValue` makes it: `RawNumber` beyond ±(2^53-1). `real`: a number.
 * - `numeric` and `bigint`: decimal text. `bigint` in the upsert key: the text of a whole number within ±(2^63-1).
 * - `datetime`: canonical text as `parseDateTime` returns it. `date`: `YYYY-MM-DD`.
 * - In any column but `boolean` and `json` also a scalar that conversion left unchanged (S-4.2.8): text, number,
 *   `RawNumber` or boolean.
 */
export type ColumnValue = JsonValue;

/** A row by column name. Columns that are absent from a write keep what the store has (D-2.2, `serialize: false`). */
export type Row = JsonObject;

/** The registry: tables by name, in registry order. */
export type Registry = ReadonlyMap<string, Table>;

/** True for a column whose values the store counts up. One in the key is a column like others. */
export function isNumberedByStore({ autoIncrement, isKey }: Column): boolean {
  return autoIncrement && !isKey;
}

/** The column of that name; null for none. */
export function columnOf({ columns }: Table, name: string | null): Column | null {
  return columns.find((column) => column.name === name) ?? null;
}

/** The timestamp column's own entry; null for a table without one. */
export function timestampColumnOf(table: Table): Column | null {
  return columnOf(table, table.timestampColumn);
}

/**
 * True when the newer of two versions of a row wins: the table has a timestamp column and updates it with the others.
 * Any other table counts as one without timestamps wherever versions are compared. D-7.1, D-7.3.
 */
export function isVersioned(table: Table): boolean {
  const { timestampColumn } = table;
  if (timestampColumn === null) return false;
  const isKey = table.keyColumns.some(({ name }) => name === timestampColumn);
  return !isKey && table.updateColumns.some(({ name }) => name === timestampColumn);
}

/** A table name may have 63 characters; a longer text is not repeated whole. */
const MAX_NAME_ECHO_CHARS = 63;

/** The table of that name. Throws `unknown_table`. S-4.1.1, S-4.2.1. */
export function findTable(registry: Registry, tableName: string): Table {
  const table = registry.get(tableName);
  if (table !== undefined) return table;
  const name = cutText(tableName, MAX_NAME_ECHO_CHARS);
  const near = nearestWord(tableName, registry.keys());
  const hint =
    near === null ? `tables here: ${[...registry.keys()].join(", ")}` : `did you mean ${near}?`;
  throw new AppError("unknown_table", `Unknown table "${name}"; ${hint}`);
}
