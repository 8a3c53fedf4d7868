// A row that somebody changes, adds or removes by hand, against the row as it was read. D-14.3.
import { fieldOf, type JsonObject, type JsonValue } from "../../shared/json.ts";
import { isOfPeople, type NameFacts, ownedRow } from "../people/name-facts.ts";
import { type ReadValue, readValueByHand, withNumber } from "../rows/import-value.ts";
import { convertPosition, isSameValue } from "../rows/row-key.ts";
import { changeTime, rowTime } from "../rows/row-time.ts";
import { type Column, type Row, type Table, timestampColumnOf } from "../table/table.ts";
import { asStored, shownRow } from "./shown-rows.ts";

export interface ColumnProblem {
  readonly column: string;
  readonly message: string;
}

/** An edit as it was asked for: absent columns stay as they are, and are null in a new row. */
export interface EditRequest {
  readonly row: JsonObject;
  /** The row as it was read; null for a new one. */
  readonly expected: JsonObject | null;
}

/** An edit to write where the row is still the expected one. */
export interface RowEdit {
  /** The key columns as the table keeps them. */
  readonly key: Row;
  readonly changes: Row;
}

type ReadEdit =
  | { readonly edit: RowEdit; readonly problems: readonly [] }
  | { readonly edit: null; readonly problems: readonly ColumnProblem[] };

/** Reads an edit: values as in an import, all problems at once. */
export function readEdit(table: Table, request: EditRequest): ReadEdit {
  const { row, expected } = request;
  const known = expected === null ? null : readKeyByHand(table, expected);
  const read = table.columns.map((column) => [column, readColumn(table, column, request)] as const);
  const problems = [
    ...strangeColumns(table, row),
    ...read.flatMap(([{ name }, one]) =>
      one !== null && "message" in one ? [{ column: name, message: `${name} ${one.message}` }] : [],
    ),
  ];
  if (expected !== null && known === null) {
    const column = table.keyColumns[0]?.name ?? "";
    problems.push({ column, message: "The expected row has no key" });
  }
  if (problems.length > 0) return { edit: null, problems };
  const values = (areKeys: boolean) =>
    Object.fromEntries(
      read.flatMap(([{ name, isKey }, one]) =>
        one !== null && "value" in one && isKey === areKeys ? [[name, one.value] as const] : [],
      ),
    );
  return { edit: { key: known ?? values(true), changes: values(false) }, problems: [] };
}

/** The edit with JSON numbers in place of the texts that they were shown as. */
export function withNumbers({ columns }: Table, edit: RowEdit, here: Row | null): RowEdit {
  const changes = { ...edit.changes };
  for (const { name, type } of columns) {
    if (type !== "json" || here === null || !Object.hasOwn(changes, name)) continue;
    changes[name] = asStored(changes[name] ?? null, here[name] ?? null);
  }
  return { ...edit, changes };
}

function strangeColumns({ pageColumns }: Table, row: JsonObject): ColumnProblem[] {
  const isShown = (name: string) => pageColumns.some((column) => column.name === name);
  return Object.keys(row)
    .filter((name) => !isShown(name))
    .map((name) => ({ column: name, message: `There is no column "${name}"` }));
}

/** Null for a column without a change. */
function readColumn(
  table: Table,
  column: Column,
  { row, expected }: EditRequest,
): ReadValue | null {
  const { name, isKey } = column;
  const before = expected?.[name] ?? null;
  const given = Object.hasOwn(row, name) ? (row[name] ?? null) : before;
  const isSame = isSameShown(column, given, before);
  const isWritten = table.pushColumns.includes(column);
  if (isSame && (expected !== null || !isWritten)) return null;
  if (isKey && expected !== null) return { message: "is part of the key and stays as it is" };
  if (!isWritten) return { message: "is numbered by the store" };
  const isStamped = name === table.timestampColumn && !isKey && given === null;
  return isStamped ? null : readValueByHand(table, column, given);
}

/** The key of a row that is named by its columns; numbers may be texts. Null where no row can have it. */
export function readKeyByHand(table: Table, named: JsonObject): Row | null {
  const parts = table.keyColumns.map(
    (column) => [column.name, withNumber(column, fieldOf(named, column.name))] as const,
  );
  return convertPosition(table, Object.fromEntries(parts));
}

/** True when a stored row is still the one that was read. Columns that no page shows do not count. */
export function isExpected(table: Table, here: Row, expected: JsonObject): boolean {
  return table.pageColumns.every((column) =>
    isSameShown(column, here[column.name] ?? null, expected[column.name] ?? null),
  );
}

/** Why an edit of the expected row is refused; null for none. `facts` are about the person whom the row names. */
export function editRefusal(
  table: Table,
  here: Row | null,
  { changes }: RowEdit,
  facts: NameFacts | null,
): string | null {
  if (here === null) return null;
  const fixed = Object.keys(changes).find(
    (name) => !table.updateColumns.some((column) => column.name === name),
  );
  if (fixed !== undefined) return `Column "${fixed}" is not updated, as "update_columns" says`;
  const arriving = { ...here, ...changes };
  const isOwners = facts !== null && ownedRow(table, here, arriving, facts) !== arriving;
  return isOwners ? "The owner of the profile alone changes this" : null;
}

/** The row to write, with `STAMP_NOW`. Where the edit brings no time it gets one that wins over the row that was read. D-14.2. */
export function stampedEdit(table: Table, here: Row | null, edit: RowEdit, nowMs: number): Row {
  const row = { ...whole(table, here), ...edit.key, ...edit.changes };
  const time = timestampColumnOf(table);
  if (time === null || time.isKey || Object.hasOwn(edit.changes, time.name)) return row;
  if (here !== null && !table.updateColumns.includes(time)) return row;
  // The store knows the tombstone of the key, which a new row has to win over.
  if (here === null && table.deletes && !isOfPeople(table)) return row;
  const now = changeTime(here === null ? null : rowTime(table, here), nowMs);
  return { ...row, [time.name]: time.type === "date" ? now.slice(0, 10) : now };
}

/** The whole row in a table of people: several columns together decide which columns are the owner's. D-8.1. */
function whole(table: Table, here: Row | null): Row {
  if (here === null || !isOfPeople(table)) return {};
  return Object.fromEntries(table.pushColumns.map(({ name }) => [name, here[name] ?? null]));
}

/** True for values that comparisons and browsers do not tell apart. */
function isSameShown(column: Column, a: JsonValue, b: JsonValue): boolean {
  const { a: shownA = null, b: shownB = null } = shownRow({ a, b });
  return isSameValue(column, withNumber(column, shownA), withNumber(column, shownB));
}
