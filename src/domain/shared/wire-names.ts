// Names of fields outside: snake_case on the wire and in the JSON of commands, camelCase in this code.

/** Fields that hold rows, keys of rows or columns: what is inside belongs to a table and stays as it is. */
const ROW_FIELDS = new Set([
  "records",
  "columns",
  "key",
  "record",
  "through",
  "different",
  "missingHere",
  "missingThere",
  "here",
  "there",
]);

/** Fields that have one entry for each table: the names inside are tables. */
const TABLE_FIELDS = new Set(["tables", "tableCounts", "lastSync"]);

/** The name that a field has outside, such as `next_cursor` for `nextCursor`. */
export function wireName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The name that a field has in this code, such as `nextCursor` for `next_cursor`. */
export function fieldName(wire: string): string {
  return wire.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A copy of a result with the names of outside, for JSON; rows in it are not copied. */
export function toWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toWire);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    wireName(name),
    fieldToWire(name, field),
  ]);
  return Object.fromEntries(fields);
}

function fieldToWire(name: string, value: unknown): unknown {
  if (ROW_FIELDS.has(name)) return value;
  if (!TABLE_FIELDS.has(name) || Array.isArray(value)) return toWire(value);
  const tables = Object.entries(value as object).map(([table, result]) => [table, toWire(result)]);
  return Object.fromEntries(tables);
}

/** A flat object from outside with the names of this code. */
export function fromWire(fields: object): Record<string, unknown> {
  const named = Object.entries(fields).map(([name, value]) => [fieldName(name), value]);
  return Object.fromEntries(named);
}

export type FieldName<Wire extends string> = Wire extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<FieldName<Tail>>}`
  : Wire;

export type FromWire<Fields> = {
  [Name in keyof Fields as FieldName<Name & string>]: Fields[Name];
};
