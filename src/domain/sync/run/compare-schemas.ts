// A table as it is registered here and at the remote, compared before a run moves it. D-7.3.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import type { Column, Table } from "../table/table.ts";
import type { TableSchema } from "../table/table-schema.ts";

/** What differs between the registrations of a table at both ends and matters to a run. */
interface SchemaDifferences {
  /** Why the table cannot move in either direction; null when it can. */
  readonly problem: AppError | null;
  /** Why it cannot be pushed; null when it can. */
  readonly pushProblem: AppError | null;
  /** Columns here that the remote does not have: they do not take part. By name. */
  readonly leftOut: readonly string[];
  readonly warnings: readonly string[];
}

/** Compares a table with the remote's. A column that is hidden at an end counts as absent there. */
export function compareSchemas(table: Table, there: TableSchema): SchemaDifferences {
  const sent = table.movedColumns;
  const leftOut = sent.map(({ name }) => name).filter((name) => !has(there, name));
  return {
    problem: keyProblem(table, there) ?? timestampProblem(table, there),
    pushProblem: pushProblem(table, there),
    leftOut,
    warnings: [
      ...leftOutWarnings(leftOut),
      ...onOneEnd("deletes", "Deletes do not travel", table, there),
      ...onOneEnd("stamped", "Only one end gives times to rows without one", table, there),
    ],
  };
}

/** For a remote without a schema. A push empties fields of this record that it does not send, unless `remote_only` lists them. */
export function differencesOfRecord(table: Table, record: JsonObject | null): SchemaDifferences {
  const known = new Set(["id", ...table.movedColumns.map(({ name }) => name), ...table.remoteOnly]);
  const lost = Object.keys(record ?? {}).filter((name) => !known.has(name));
  const harms = lost.map((name) => emptied(table, name));
  const pushProblem = harmOf(table, harms, "Send it too, or list it in remote_only");
  return { problem: null, pushProblem, leftOut: [], warnings: [] };
}

/** A key of other columns makes two rows one; so does a key column of another type, as its values are converted. */
function keyProblem(table: Table, there: TableSchema): AppError | null {
  const own = table.keyColumns.map(({ name, type }) => `${name} (${type})`);
  const other = there.upsertKey.map((name) => `${name} (${typeThere(there, name) ?? "no column"})`);
  // Another order is the same key.
  if (own.toSorted().join() === other.toSorted().join()) return null;
  const text = `Table "${table.name}" has the upsert key ${own.join(", ")} here and ${other.join(", ")} there`;
  return new AppError("sync_failed", text, { hint: "Make upsert_key equal in both registries" });
}

function timestampProblem(table: Table, there: TableSchema): AppError | null {
  const name = there.timestampColumn;
  if (table.timestampColumn === name && (name === null || has(there, name))) return null;
  const quoted = (column: string | null) => (column === null ? "none" : `"${column}"`);
  const text =
    `Table "${table.name}" has the timestamp column ${quoted(table.timestampColumn)} here ` +
    `and ${quoted(name)} there`;
  const hint = "Make timestamp_column equal in both registries";
  return new AppError("sync_failed", text, { hint });
}

function pushProblem(table: Table, there: TableSchema): AppError | null {
  const sent = table.movedColumns;
  const otherTypes = sent.flatMap(({ name, type }) => {
    const other = typeThere(there, name);
    return other === null || other === type ? [] : [`"${name}" is ${type} here and ${other} there`];
  });
  const lost = updatedThere(there)
    .filter((name) => !sent.some((column) => column.name === name))
    .map((name) => emptied(table, name));
  return harmOf(table, [...otherTypes, ...lost], "Make the columns equal in both registries");
}

function harmOf({ name }: Table, harms: readonly string[], hint: string): AppError | null {
  if (harms.length === 0) return null;
  const text = `A push of "${name}" would do harm: ${harms.join(", ")}`;
  return new AppError("sync_failed", text, { hint });
}

function emptied(table: Table, name: string): string {
  const isHidden = table.columns.some((column) => column.name === name);
  return `"${name}" is ${isHidden ? "hidden here" : "only there"} and would be emptied`;
}

/** The columns other than the key that a push changes there in a row that exists. S-4.2.9. */
function updatedThere({ columns, updateColumns }: TableSchema): readonly string[] {
  const names = Object.keys(columns);
  if (updateColumns === "__all__") return names.filter((name) => name !== "id");
  return names.filter((name) => updateColumns.includes(name));
}

function leftOutWarnings(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return [];
  const names = leftOut.map((name) => `"${name}"`).join(", ");
  return [`Columns that the remote does not have are left out: ${names}`];
}

function onOneEnd(
  option: "deletes" | "stamped",
  effect: string,
  table: Table,
  there: TableSchema,
): string[] {
  if (table[option] === there[option]) return [];
  const [on, off] = table[option] ? ["here", "there"] : ["there", "here"];
  return [`${effect}: "${option}" is on ${on} and off ${off}`];
}

function has(there: TableSchema, name: string): boolean {
  return Object.hasOwn(there.columns, name);
}

function typeThere(there: TableSchema, name: string): Column["type"] | null {
  return there.columns[name]?.type ?? null;
}

// The columns that took part when a table was last moved in a direction. By them a run sees a later change of the registry at
// either end. D-7.3.

/** The columns of a run that ended well. */
export interface KnownColumns {
  /** Columns that both ends had. */
  readonly moved: readonly string[];
  /** Columns here that the remote did not have. */
  readonly leftOut: readonly string[];
}

/** The columns of a run that begins now. `leftOut` is `compareSchemas`' list; empty for a remote without a schema. */
export function columnsNow(table: Table, leftOut: readonly string[]): KnownColumns {
  const names = table.movedColumns.map(({ name }) => name);
  return { moved: names.filter((name) => !leftOut.includes(name)), leftOut };
}

/** Columns that take part now and did not then: they are to be moved for all rows. None without `then`. */
export function addedColumns(then: KnownColumns | undefined, now: KnownColumns): readonly string[] {
  return then === undefined ? [] : now.moved.filter((name) => !then.moved.includes(name));
}

/** Columns here that were not there then, though the remote may have had them: a push would empty what was never fetched. */
export function unfetchedColumns(
  then: KnownColumns | undefined,
  now: KnownColumns,
): readonly string[] {
  return addedColumns(then, now).filter((name) => !then?.leftOut.includes(name));
}

/** The columns of a run without some of them; null where that changes nothing. */
export function leavingOut(
  { moved, leftOut }: KnownColumns,
  names: readonly string[],
): KnownColumns | null {
  const isOut = (name: string) => names.includes(name);
  const out = moved.filter(isOut);
  if (out.length === 0) return null;
  return { moved: moved.filter((name) => !isOut(name)), leftOut: [...leftOut, ...out] };
}

/** Throws `sync_failed` where the other direction last moved without columns that take part now and are not `known`. D-7.3. */
export function requireMoved(
  table: string,
  now: KnownColumns,
  known: readonly string[],
  other: KnownColumns | undefined,
): void {
  const names = addedColumns(other, now).filter((name) => !known.includes(name));
  if (names.length === 0) return;
  const text = `Another run has moved "${table}" meanwhile without ${names.map((name) => `"${name}"`).join(", ")}`;
  throw new AppError("sync_failed", text, { hint: "Run again", isRecoverable: true });
}
