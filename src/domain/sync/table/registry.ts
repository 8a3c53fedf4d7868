// Reads the registry file: structure by schema, then what a schema cannot say. D-2.
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { refuse } from "../../shared/errors.ts";
import { DEFAULT_LAG_SECONDS } from "../../shared/limits.ts";
import { BUILT_IN_TABLES } from "./built-in-tables.ts";
import {
  type ColumnEntry,
  NAME_PATTERN,
  REGISTRY_SCHEMA,
  TABLE_SCHEMA,
  type TableEntry,
} from "./registry-schema.ts";
import type { Column, Registry, Table } from "./table.ts";

/**
 * Reads a parsed registry file, or none, on top of the built-in tables. Throws `invalid_request` with everything that is
 * wrong, each problem with its place. `lagSeconds` is for the tables that name no `lag_seconds`. D-2.2, D-2.3.
 */
export function readRegistry(
  file: unknown = { tables: {} },
  lagSeconds: number = DEFAULT_LAG_SECONDS,
): Registry {
  const entries: Record<string, TableEntry> = { ...BUILT_IN_TABLES, ...wellFormedTables(file) };
  const problems = structuralProblems(file);
  for (const [name, entry] of Object.entries(entries)) problems.push(...tableProblems(name, entry));
  problems.push(...sameNameProblems(Object.keys(entries), (a, b) => `Tables "${a}" and "${b}"`));
  refuse(
    problems.map((detail) => ({ pointer: "", detail })),
    "The registry has these problems",
  );
  const tables = Object.entries(entries).map(([name, entry]) =>
    buildTable(name, entry, lagSeconds),
  );
  return new Map(tables.map((table) => [table.name, table]));
}

/** The tables whose structure is valid, whatever is wrong with others. */
function wellFormedTables(file: unknown): Record<string, TableEntry> {
  const tables: unknown = Object(file).tables;
  const isWellFormed = ([, entry]: [string, unknown]) => Value.Check(TABLE_SCHEMA, entry);
  return Object.fromEntries(Object.entries(Object(tables)).filter(isWellFormed)) as Record<
    string,
    TableEntry
  >;
}

/** One problem per place: problems inside an invalid value say nothing more. */
function structuralProblems(file: unknown): string[] {
  const problems = new Map<string, string>();
  for (const error of Value.Errors(REGISTRY_SCHEMA, file)) {
    const isInsideOther = [...problems.keys()].some((path) =>
      `${error.path}/`.startsWith(`${path}/`),
    );
    if (!isInsideOther) problems.set(error.path, describeStructure(error));
  }
  return [...problems.values()];
}

function describeStructure(error: ValueError): string {
  const place = error.path === "" ? "the registry" : error.path;
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    return `${place}: unknown entry, or a name that does not fit ${NAME_PATTERN}`;
  }
  const options: Parameters<typeof optionText>[0][] = error.schema.anyOf ?? [];
  if (options.length > 0) return `${place}: must be one of ${options.map(optionText).join(", ")}`;
  return `${place}: ${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`;
}

function optionText(option: { readonly const?: unknown; readonly type?: unknown }): string {
  if (option.const !== undefined) return String(option.const);
  if (option.type === "array") return "a list of names";
  return option.type === "string" ? `a name that fits ${NAME_PATTERN}` : String(option.type);
}

function tableProblems(name: string, entry: TableEntry): string[] {
  const problems: string[] = [];
  const report = (text: string) => problems.push(`Table "${name}": ${text}`);
  if (/^(repsync_|sqlite_|__proto__$)/i.test(name)) {
    report("this name is reserved, as are all that start with repsync_ or sqlite_");
  }
  const column = (columnName: string) =>
    Object.hasOwn(entry.columns, columnName) ? entry.columns[columnName] : undefined;

  const timestamp = entry.timestamp_column ?? null;
  if (timestamp !== null) {
    const type = column(timestamp)?.type;
    if (type !== "datetime" && type !== "date") {
      report(`timestamp_column "${timestamp}" must be a column of type datetime or date`);
    } else if (column(timestamp)?.serialize === false) {
      report(`timestamp_column "${timestamp}" cannot have serialize: false`);
    }
  }
  if (entry.conflict === "newer" && timestamp === null) {
    report("conflict: newer needs a timestamp_column");
  }
  if (entry.deletes === true && (timestamp === null || column(timestamp)?.type !== "datetime")) {
    report("deletes: true needs a timestamp_column of type datetime");
  }
  for (const other of entry.remote_only ?? []) {
    if (column(other) !== undefined) report(`remote_only names "${other}", which is a column here`);
  }
  for (const key of entry.upsert_key) {
    const type = column(key)?.type;
    if (type === undefined) report(`upsert_key names the unknown column "${key}"`);
    if (type === "numeric" || type === "real" || type === "json") {
      report(`upsert_key column "${key}" cannot be of type ${type}`);
    }
    if (column(key)?.serialize === false) {
      report(`upsert_key column "${key}" cannot have serialize: false`);
    }
  }
  for (const updated of listedUpdateColumns(entry)) {
    if (column(updated) === undefined) {
      report(`update_columns names the unknown column "${updated}"`);
    } else if (column(updated)?.auto_increment === true) {
      report(`update_columns cannot name the auto-incrementing column "${updated}"`);
    }
  }
  for (const [columnName, columnEntry] of Object.entries(entry.columns)) {
    for (const text of columnProblems(columnName, columnEntry)) report(text);
  }
  problems.push(
    ...sameNameProblems(
      Object.keys(entry.columns),
      (a, b) => `Table "${name}": columns "${a}" and "${b}"`,
    ),
  );
  return problems;
}

function columnProblems(name: string, entry: ColumnEntry): string[] {
  const problems: string[] = [];
  if (/^(_id|_bsontype|__proto__|_?repsync(_.*)?)$/i.test(name)) {
    problems.push(`column name "${name}" is reserved`);
  }
  if (entry.serialize === false && entry.nullable === false) {
    problems.push(`column "${name}" with serialize: false must be nullable, as runs never send it`);
  }
  if (entry.auto_increment === true && (name !== "id" || entry.type !== "integer")) {
    problems.push(`auto_increment is only for a column "id" of type integer, not "${name}"`);
  }
  if (entry.max_length !== undefined && entry.type !== "text") {
    problems.push(`max_length is only for columns of type text, not "${name}"`);
  }
  return problems;
}

/** Names that differ only in case are one name in SQLite. */
function sameNameProblems(
  names: readonly string[],
  subject: (a: string, b: string) => string,
): string[] {
  const seen = new Map<string, string>();
  const problems: string[] = [];
  for (const name of names) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier !== undefined) problems.push(`${subject(earlier, name)} differ only in case`);
    seen.set(name.toLowerCase(), name);
  }
  return problems;
}

function listedUpdateColumns(entry: TableEntry): readonly string[] {
  return updatesAll(entry) ? [] : (entry.update_columns as readonly string[]);
}

function updatesAll(entry: TableEntry): boolean {
  const listed = entry.update_columns ?? "__all__";
  return listed === "__all__" || (listed.length === 1 && listed[0] === "__all__");
}

function buildTable(name: string, entry: TableEntry, lagSeconds: number): Table {
  const columns = Object.entries(entry.columns).map(
    ([columnName, column]): Column => ({
      name: columnName,
      type: column.type,
      nullable: column.nullable ?? true,
      maxLength: column.max_length ?? null,
      serialize: column.serialize ?? true,
      autoIncrement: column.auto_increment ?? false,
      isKey: entry.upsert_key.includes(columnName),
    }),
  );
  const pushColumns = columns.filter((column) => column.isKey || !column.autoIncrement);
  const listed = listedUpdateColumns(entry);
  return {
    name,
    columns,
    timestampColumn: entry.timestamp_column ?? null,
    keyColumns: entry.upsert_key.map((key) => columns.find((c) => c.name === key) as Column),
    pushColumns,
    pageColumns: columns.filter((column) => column.serialize),
    updateColumns: pushColumns.filter((column) =>
      column.isKey
        ? false
        : updatesAll(entry)
          ? column.name !== "id"
          : listed.includes(column.name),
    ),
    registeredUpdates: updatesAll(entry) ? "__all__" : listed,
    conflict: entry.conflict ?? "overwrite",
    lagSeconds: entry.lag_seconds ?? lagSeconds,
    deletes: entry.deletes ?? false,
    maxDeletes: entry.max_deletes ?? null,
    remoteOnly: entry.remote_only ?? [],
  };
}
