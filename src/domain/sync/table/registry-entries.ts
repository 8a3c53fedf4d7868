// Makes registry entries: of a table joined from another deployment, as this end needs it; of a table that repsync stamps; of a
// table whose file is newer. D-14.8.
import { AppError } from "../../shared/errors.ts";
import { MAX_COLUMNS } from "../../shared/limits.ts";
import { readRegistry } from "./registry.ts";
import type { ColumnEntry, TableEntry } from "./registry-schema.ts";
import { describeTable, type SchemaColumn, type TableSchema } from "./table-schema.ts";

/** The other end's way, seen from here. */
const TURNED = { push: "pull", pull: "push" } as const;

export function joinedEntry(schema: TableSchema): TableEntry {
  const { timestampColumn, updateColumns, conflict, direction, deletes, stamped } = schema;
  return {
    ...(timestampColumn === null ? {} : { timestamp_column: timestampColumn }),
    upsert_key: [...schema.upsertKey],
    ...(updateColumns === "__all__" ? {} : { update_columns: [...updateColumns] }),
    ...(conflict === "newer" ? { conflict } : {}),
    ...(direction === null ? {} : { direction: TURNED[direction] }),
    ...(stamped ? { stamped } : {}),
    ...(deletes ? { deletes } : {}),
    columns: Object.fromEntries(
      Object.entries(schema.columns).map(([name, column]) => [name, columnEntry(column)]),
    ),
  };
}

/** True for a built-in table that the other end has without an entry of its own. */
export function isBuiltIn(schema: TableSchema): boolean {
  const table = readRegistry().get(schema.table);
  if (table === undefined) return false;
  const own: TableSchema = { ...schema, ...describeTable(table) };
  return asTold(own) === asTold(schema);
}

/** Leaves out what an older deployment does not tell. */
function asTold(schema: TableSchema): string {
  return JSON.stringify(joinedEntry(schema), (name, value) =>
    name === "auto_increment" && value === true ? undefined : value,
  );
}

function columnEntry({
  type,
  nullable,
  maxLength = null,
  autoIncrement,
}: SchemaColumn): ColumnEntry {
  return {
    type,
    ...(nullable ? {} : { nullable }),
    ...(maxLength === null ? {} : { max_length: maxLength }),
    ...(autoIncrement === true ? { auto_increment: true } : {}),
  };
}

/** Names for the column of the time; the first free one is taken. */
const NAMES = ["updated_at", "changed_at"];

/** Has repsync keep times and deletes, in the timestamp column or a new one. Throws `invalid_request` for no free name. D-14.2. */
export function stampedEntry(name: string, entry: TableEntry): TableEntry {
  const column = entry.timestamp_column ?? freeName(entry);
  if (column === undefined) {
    const text = `Table "${name}" has columns ${NAMES.join(" and ")}: make one of them its timestamp_column`;
    throw new AppError("invalid_request", text);
  }
  const { update_columns: updates = "__all__" } = entry;
  const isListed =
    typeof updates === "object" && updates.length > 0 && !updates.includes("__all__");
  return {
    ...entry,
    timestamp_column: column,
    ...(isListed && !updates.includes(column) ? { update_columns: [...updates, column] } : {}),
    stamped: true,
    deletes: true,
    columns: { ...entry.columns, [column]: entry.columns[column] ?? { type: "datetime" } },
  };
}

/** True when an entry without a timestamp column has room for one. */
export function canBeStamped(entry: TableEntry): boolean {
  return freeName(entry) !== undefined && Object.keys(entry.columns).length < MAX_COLUMNS;
}

function freeName({ columns }: TableEntry): string | undefined {
  const taken = new Set(Object.keys(columns).map((name) => name.toLowerCase()));
  return NAMES.find((name) => !taken.has(name));
}

// What a newer file changes in the registry entry of its table: columns are added, all else is only told. D-14.1.

interface UpdatedEntry {
  /** The entry with the new columns, which may be null. */
  readonly entry: TableEntry;
  /** The other differences of the file, for people. */
  readonly differences: readonly string[];
}

export function updatedEntry(before: TableEntry, guessed: TableEntry): UpdatedEntry {
  const differences: string[] = [];
  const added: Record<string, ColumnEntry> = {};
  const fileNames = new Map(
    Object.entries(before.import?.columns ?? {}).map(([name, header]) => [header, name]),
  );
  const own = new Map(Object.keys(before.columns).map((name) => [name.toLowerCase(), name]));
  const seen = new Set<string>();
  for (const [name, { type }] of Object.entries(guessed.columns)) {
    // Only proposed, and not in the file.
    if (guessed.stamped === true && name === guessed.timestamp_column) continue;
    const header = guessed.import?.columns?.[name] ?? name;
    const known = fileNames.get(header) ?? own.get(name.toLowerCase());
    const column = known === undefined ? undefined : before.columns[known];
    if (known === undefined || column === undefined) {
      added[name] = { type };
      differences.push(`${name} (${type}) is new`);
      continue;
    }
    seen.add(known);
    if (column.type !== type) {
      differences.push(`${known} is ${column.type} in the registry, and ${type} by the file`);
    }
  }
  const ownTime = before.stamped === true ? before.timestamp_column : null;
  const gone = Object.keys(before.columns).filter((name) => !seen.has(name) && name !== ownTime);
  if (gone.length > 0) differences.push(`not in the file: ${gone.join(", ")}`);
  const told = fixedTexts(guessed);
  differences.push(...fixedTexts(before).filter((text) => !told.includes(text)));
  const files = { ...before.import };
  for (const part of ["columns", "epoch"] as const) {
    const ofAdded = Object.entries(guessed.import?.[part] ?? {}).filter(([name]) => name in added);
    if (ofAdded.length === 0) continue;
    Object.assign(files, { [part]: { ...files[part], ...Object.fromEntries(ofAdded) } });
  }
  const entry = {
    ...before,
    ...(Object.keys(files).length === 0 ? {} : { import: files }),
    columns: { ...before.columns, ...added },
  };
  return { entry, differences };
}

/** What no newer file changes. */
function fixedTexts({ upsert_key: key, timestamp_column: time = "none" }: TableEntry): string[] {
  return [`its key stays ${key.join(", ")}`, `its timestamp column stays ${time}`];
}
