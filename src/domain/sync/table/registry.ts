// Reads the registry file: its structure by the schema, then what the schema cannot say. D-2.
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { type InputProblem, refuse } from "../../shared/errors.ts";
import { DEFAULT_LAG_SECONDS } from "../../shared/limits.ts";
import { KEY_TYPES } from "./column-types.ts";
import { DateFormat, NO_DATE_FORMAT } from "./date-format.ts";
import { isReservedColumn, isReservedTable } from "./names.ts";
import {
  BUILT_IN_TABLES,
  COLUMN_SCHEMA,
  type ColumnEntry,
  NAME_PATTERN,
  REGISTRY_SCHEMA,
  TABLE_SCHEMA,
  type TableEntry,
} from "./registry-schema.ts";
import { buildTable, type Registry, ROW_NUMBER, registeredUpdates } from "./table.ts";

/** Stands for a column of wrong structure: fit as a key and as a timestamp column. */
const ANY_COLUMN: ColumnEntry = { type: "datetime" };

/**
 * Reads a parsed registry file, or none, on top of the built-in tables. Throws `invalid_request` with everything that is wrong:
 * pointers are into the file, and details name the place, too. `lagSeconds` is for tables without `lag_seconds`. D-2.2, D-2.3.
 */
export function readRegistry(
  file: unknown = { tables: {} },
  lagSeconds: number = DEFAULT_LAG_SECONDS,
): Registry {
  const entries: Record<string, TableEntry> = { ...BUILT_IN_TABLES, ...examinableTables(file) };
  const problems = structuralProblems(file);
  for (const [name, entry] of Object.entries(entries)) problems.push(...tableProblems(name, entry));
  problems.push(
    ...sameNameProblems(Object.keys(entries), "/tables", (a, b) => `Tables "${a}" and "${b}"`),
  );
  refuse(problems, "The registry has these problems");
  const tables = Object.entries(entries).map(([name, entry]) =>
    buildTable(name, entry, lagSeconds),
  );
  return new Map(tables.map((table) => [table.name, table]));
}

/** The tables without the parts whose structure is wrong, so that all else is examined. */
function examinableTables(file: unknown): Record<string, TableEntry> {
  const tables: unknown = Object(file).tables;
  const found = Object.entries(Object(tables)).map(([name, entry]) => [name, soundParts(entry)]);
  return Object.fromEntries(found.filter(([, entry]) => entry !== null));
}

/** Null where there are no columns by name. */
function soundParts(entry: unknown): TableEntry | null {
  if (Value.Check(TABLE_SCHEMA, entry)) return entry;
  const parts: Readonly<Record<string, unknown>> = Object(entry);
  const columns = Object.entries(Object(parts["columns"]));
  if (columns.length === 0 || Array.isArray(parts["columns"])) return null;
  const all = Object.entries(TABLE_SCHEMA.properties);
  const sound = all.filter(([name, schema]) => Value.Check(schema, parts[name]));
  const names = sound.map(([name]) => name);
  // `conflict`, `deletes` and `stamped` need a timestamp column, which nobody knows where `timestamp_column` is unsound.
  const isTimeless = "timestamp_column" in parts && !names.includes("timestamp_column");
  const kept = names.filter(
    (name) => !isTimeless || !["conflict", "deletes", "stamped"].includes(name),
  );
  return {
    upsert_key: [],
    ...Object.fromEntries(kept.map((name) => [name, parts[name]])),
    columns: Object.fromEntries(
      columns.map(([name, column]) => [
        name,
        Value.Check(COLUMN_SCHEMA, column) ? column : ANY_COLUMN,
      ]),
    ),
  };
}

/** Problems of the structure, one for each place: those inside an invalid value say nothing more. */
function structuralProblems(file: unknown): InputProblem[] {
  const problems = new Map<string, InputProblem>();
  for (const error of Value.Errors(REGISTRY_SCHEMA, file)) {
    const isInsideOther = [...problems.keys()].some((path) =>
      `${error.path}/`.startsWith(`${path}/`),
    );
    if (isInsideOther) continue;
    problems.set(error.path, { pointer: error.path, detail: describeStructure(error) });
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

function tableProblems(name: string, entry: TableEntry): InputProblem[] {
  const problems: InputProblem[] = [];
  const report = (place: string, text: string) =>
    problems.push({ pointer: `/tables/${name}${place}`, detail: `Table "${name}": ${text}` });
  if (isReservedTable(name)) {
    report("", "this name is reserved, as are all that start with repsync_ or sqlite_");
  }
  reportTimestamp(entry, report);
  for (const [i, other] of (entry.remote_only ?? []).entries()) {
    const column = columnOf(entry, other);
    if (column !== undefined && column.serialize !== false) {
      report(`/remote_only/${i}`, `remote_only names "${other}", which is a column here`);
    }
  }
  for (const [i, key] of entry.upsert_key.entries()) {
    const place = `/upsert_key/${i}`;
    const column = columnOf(entry, key);
    const type = column?.type;
    if (type === undefined) report(place, `upsert_key names the unknown column "${key}"`);
    if (type !== undefined && !KEY_TYPES.includes(type)) {
      report(place, `upsert_key column "${key}" cannot be of type ${type}`);
    }
    if (column?.serialize === false) {
      report(place, `upsert_key column "${key}" cannot have serialize: false`);
    }
  }
  const updates = registeredUpdates(entry);
  for (const [i, updated] of (updates === "__all__" ? [] : updates).entries()) {
    const place = `/update_columns/${i}`;
    const column = columnOf(entry, updated);
    if (column === undefined) {
      report(place, `update_columns names the unknown column "${updated}"`);
    } else if (column.auto_increment === true) {
      report(place, `update_columns cannot name the auto-incrementing column "${updated}"`);
    }
  }
  reportImport(entry, report);
  for (const [columnName, columnEntry] of Object.entries(entry.columns)) {
    for (const text of columnProblems(columnName, columnEntry)) {
      report(`/columns/${columnName}`, text);
    }
  }
  const subject = (a: string, b: string) => `Table "${name}": columns "${a}" and "${b}"`;
  problems.push(
    ...sameNameProblems(Object.keys(entry.columns), `/tables/${name}/columns`, subject),
  );
  return problems;
}

function columnOf(entry: TableEntry, name: string): ColumnEntry | undefined {
  return Object.hasOwn(entry.columns, name) ? entry.columns[name] : undefined;
}

/** Reports what a timestamp column lacks, and what needs one. */
function reportTimestamp(entry: TableEntry, report: (place: string, text: string) => void): void {
  const timestamp = entry.timestamp_column ?? null;
  const column = timestamp === null ? undefined : columnOf(entry, timestamp);
  const type = column?.type;
  if (timestamp !== null && type !== "datetime" && type !== "date") {
    const text = `timestamp_column "${timestamp}" must be a column of type datetime or date`;
    report("/timestamp_column", text);
  } else if (column?.serialize === false) {
    report("/timestamp_column", `timestamp_column "${timestamp}" cannot have serialize: false`);
  }
  if (entry.conflict === "newer" && timestamp === null) {
    report("/conflict", "conflict: newer needs a timestamp_column");
  }
  if (entry.deletes === true && type !== "datetime") {
    report("/deletes", "deletes: true needs a timestamp_column of type datetime");
  }
  if (entry.stamped !== true) return;
  const updates = registeredUpdates(entry);
  if (timestamp === null || type !== "datetime") {
    report("/stamped", "stamped: true needs a timestamp_column of type datetime");
  } else if (entry.upsert_key.includes(timestamp)) {
    report("/stamped", `stamped: true sets "${timestamp}", which cannot be in upsert_key`);
  } else if (
    // An empty list only inserts rows.
    updates === "__all__" ? timestamp === "id" : updates.length > 0 && !updates.includes(timestamp)
  ) {
    report("/stamped", `stamped: true sets "${timestamp}", which update_columns leave out`);
  }
}

function reportImport(entry: TableEntry, report: (place: string, text: string) => void): void {
  const { date_format: format, columns = {}, epoch = {}, number_rows } = entry.import ?? {};
  if (format !== undefined && DateFormat.parse(format) === null) {
    report("/import/date_format", `date_format "${format}" ${NO_DATE_FORMAT}`);
  }
  const headers = Object.values(columns);
  for (const [name, header] of Object.entries(columns)) {
    const place = `/import/columns/${name}`;
    if (columnOf(entry, name) === undefined)
      report(place, `import.columns names the unknown column "${name}"`);
    else if (headers.indexOf(header) !== headers.lastIndexOf(header)) {
      report(place, `import.columns has ${JSON.stringify(header)} twice`);
    }
  }
  for (const name of Object.keys(epoch)) {
    if (columnOf(entry, name)?.type === "datetime") continue;
    report(`/import/epoch/${name}`, `import.epoch needs a column "${name}" of type datetime`);
  }
  const row = columnOf(entry, ROW_NUMBER);
  const isNumbered = row?.type === "integer" && entry.upsert_key.join() === ROW_NUMBER;
  if (number_rows === true && !isNumbered) {
    report(
      "/import/number_rows",
      `number_rows needs the upsert_key ["${ROW_NUMBER}"], of type integer`,
    );
  }
}

function columnProblems(name: string, entry: ColumnEntry): string[] {
  const problems: string[] = [];
  if (isReservedColumn(name)) {
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
  place: string,
  subject: (a: string, b: string) => string,
): InputProblem[] {
  const seen = new Map<string, string>();
  const problems: InputProblem[] = [];
  for (const name of names) {
    const earlier = seen.get(name.toLowerCase());
    if (earlier !== undefined) {
      const detail = `${subject(earlier, name)} differ only in case`;
      problems.push({ pointer: `${place}/${name}`, detail });
    }
    seen.set(name.toLowerCase(), name);
  }
  return problems;
}
