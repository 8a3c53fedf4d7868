// A table of the registry: validated, with its defaults filled in.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject, JsonValue } from "../../shared/json.ts";
import { DEFAULT_LAG_SECONDS } from "../../shared/limits.ts";
import { cutText, nearestWord } from "../../shared/text.ts";
import type { ColumnType } from "./column-types.ts";
import { DateFormat } from "./date-format.ts";
import type { Encoding, ImportEntry, TableEntry } from "./registry-schema.ts";

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
  readonly isKey: boolean;
}

/** What a push does where the row here is newer. D-3.9. */
export type ConflictRule = "overwrite" | "newer";
/** `restore` overwrites, and forgets the tombstones of the rows: who asks for these rows wants them to stay. D-7.6. */
export type WriteConflict = ConflictRule | "restore";

export type EpochUnit = "seconds" | "milliseconds";

/** The form of a table's files, where the files do not tell it. D-14.1. */
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
  /** True: records are numbered in the column `row`. */
  readonly numberRows: boolean;
  /** The names of columns in files, by the column's name. */
  readonly headers: ReadonlyMap<string, string>;
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
  /** The columns that runs move and compare, ordered by name: those that pages show and pushes may write. */
  readonly movedColumns: readonly Column[];
  /** Columns changed on a key conflict, a subset of `pushColumns`; empty: existing rows are left alone. S-4.2.9. */
  readonly updateColumns: readonly Column[];
  /** `update_columns` of the registry, as peers are told. D-7.3. */
  readonly registeredUpdates: "__all__" | readonly string[];
  readonly conflict: ConflictRule;
  /** Late-commit allowance of incremental runs in seconds: the table's own, or `SYNC_LAG_SECONDS`. */
  readonly lagSeconds: number;
  /** Whether deletes travel. D-7.6. */
  readonly deletes: boolean;
  /** True when a record that comes without a time gets one. D-14.2. */
  readonly stamped: boolean;
  /** Rows that one run may delete at an end; null for 1,000 or a tenth of the table, whichever is more. D-7.6. */
  readonly maxDeletes: number | null;
  /** Columns that only the remote has, or that are hidden here: a push to a remote without `schema` may leave them out. D-7.3. */
  readonly remoteOnly: readonly string[];
  /** The end that writes the rows: `push` for this one, `pull` for the remote; null for both. D-11.9. */
  readonly direction: "push" | "pull" | null;
  readonly files: FileForm;
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

/** Tables by name, in registry order. */
export interface Registry extends ReadonlyMap<string, Table> {
  /** Tables that are not used, as another program has changed what the store has of them, by name: why, and what to do. */
  readonly stopped?: ReadonlyMap<string, string>;
}

/** The table of a sound entry. */
export function buildTable(
  name: string,
  entry: TableEntry,
  lagSeconds: number = DEFAULT_LAG_SECONDS,
): Table {
  const columns = Object.entries(entry.columns).map(
    ([columnName, column]): Column => ({
      name: columnName,
      type: column.type,
      // A stamp is never missing.
      nullable:
        (entry.stamped && columnName === entry.timestamp_column) || (column.nullable ?? true),
      maxLength: column.max_length ?? null,
      serialize: column.serialize ?? true,
      autoIncrement: column.auto_increment ?? false,
      isKey: entry.upsert_key.includes(columnName),
    }),
  );
  const pushColumns = columns.filter((column) => column.isKey || !column.autoIncrement);
  const updates = registeredUpdates(entry);
  return {
    name,
    columns,
    timestampColumn: entry.timestamp_column ?? null,
    keyColumns: entry.upsert_key.map((key) => columns.find((c) => c.name === key) as Column),
    pushColumns,
    pageColumns: columns.filter((column) => column.serialize),
    movedColumns: pushColumns
      .filter((column) => column.serialize)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    updateColumns: pushColumns.filter(
      ({ name, isKey }) =>
        !isKey && (updates === "__all__" ? name !== "id" : updates.includes(name)),
    ),
    registeredUpdates: updates,
    conflict: entry.conflict ?? "overwrite",
    lagSeconds: entry.lag_seconds ?? lagSeconds,
    deletes: entry.deletes ?? false,
    stamped: entry.stamped ?? false,
    maxDeletes: entry.max_deletes ?? null,
    remoteOnly: entry.remote_only ?? [],
    direction: entry.direction ?? null,
    files: fileFormOf(entry.import),
    entry,
  };
}

/** The `update_columns` of an entry: a list of `__all__` alone means all, too. */
export function registeredUpdates({
  update_columns: updates = "__all__",
}: TableEntry): Table["registeredUpdates"] {
  return updates.length === 1 && updates[0] === "__all__" ? "__all__" : updates;
}

/** The form of a sound entry. */
export function fileFormOf(entry: ImportEntry = {}): FileForm {
  return {
    delimiter: entry.delimiter ?? null,
    decimal: entry.decimal ?? null,
    dateFormat: entry.date_format === undefined ? null : DateFormat.parse(entry.date_format),
    encoding: entry.encoding ?? null,
    path: entry.path ?? null,
    numberRows: entry.number_rows ?? false,
    headers: new Map(Object.entries(entry.columns ?? {})),
    epoch: new Map(Object.entries(entry.epoch ?? {})),
  };
}

/** True for a column that the store numbers. One in the key is a column like others. */
export function isNumberedByStore({ autoIncrement, isKey }: Column): boolean {
  return autoIncrement && !isKey;
}

export function columnOf({ columns }: Table, name: string | null): Column | null {
  return columns.find((column) => column.name === name) ?? null;
}

export function timestampColumnOf(table: Table): Column | null {
  return columnOf(table, table.timestampColumn);
}

/** True where the newer of two versions of a row wins: it has a timestamp column, which updates change. D-7.1, D-7.3. */
export function isVersioned(table: Table): boolean {
  const { timestampColumn } = table;
  if (timestampColumn === null) return false;
  const isKey = table.keyColumns.some(({ name }) => name === timestampColumn);
  return !isKey && table.updateColumns.some(({ name }) => name === timestampColumn);
}

/** Names have at most 63 characters; a longer text is not repeated whole. */
const MAX_NAME_ECHO_CHARS = 63;

/** Throws `unknown_table` for one of the `stopped`. */
export function requireUsed({ stopped }: Registry, tableName: string): void {
  const reason = stopped?.get(tableName);
  if (reason !== undefined) throw new AppError("unknown_table", reason);
}

/** The table of that name. Throws `unknown_table`. S-4.1.1, S-4.2.1. */
export function findTable(registry: Registry, tableName: string): Table {
  requireUsed(registry, tableName);
  const table = registry.get(tableName);
  if (table !== undefined) return table;
  const name = cutText(tableName, MAX_NAME_ECHO_CHARS);
  const near = nearestWord(tableName, registry.keys());
  const hint =
    near === null ? `tables here: ${[...registry.keys()].join(", ")}` : `did you mean ${near}?`;
  throw new AppError("unknown_table", `Unknown table "${name}"; ${hint}`);
}
