// What a newer file changes in the registry entry of its table: columns are added, and everything else is only told. D-14.1.
import type { ColumnEntry, TableEntry } from "../table/registry-schema.ts";

interface UpdatedEntry {
  /** The entry with the columns that are new, which may be null. */
  readonly entry: TableEntry;
  /** What else the file has otherwise, for people. */
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
    // Only proposed: the file does not have it.
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
  const headers = Object.entries(guessed.import?.columns ?? {}).filter(([name]) => name in added);
  const epochs = Object.entries(guessed.import?.epoch ?? {}).filter(([name]) => name in added);
  const files = {
    ...before.import,
    ...(headers.length === 0
      ? {}
      : { columns: { ...before.import?.columns, ...Object.fromEntries(headers) } }),
    ...(epochs.length === 0
      ? {}
      : { epoch: { ...before.import?.epoch, ...Object.fromEntries(epochs) } }),
  };
  const entry = {
    ...before,
    ...(Object.keys(files).length === 0 ? {} : { import: files }),
    columns: { ...before.columns, ...added },
  };
  return { entry, differences };
}
