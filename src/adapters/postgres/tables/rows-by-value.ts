// Rows by the value of a column or by key, within a transaction.
import { AppError } from "../../../domain/shared/errors.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { earliestTime, rowTime } from "../../../domain/sync/rows/row-time.ts";
import { type Column, columnOf, type Row } from "../../../domain/sync/table/table.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import { isRefusal, passedOver, refusalText } from "../driver/errors.ts";
import { TELL } from "../driver/schema.ts";
import { inParts, quoted, textList } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { castType, held } from "./columns.ts";
import { type Layout, rowAt } from "./layout.ts";
import { RowStatements } from "./row-statements.ts";
import { locks, movedFrom } from "./write-steps.ts";

/** Whole rows with one of the values; none in a table without the column. */
export async function readRowsBy(
  tx: ServerTransaction,
  layout: Layout,
  [columnName, values]: readonly [column: string, values: readonly string[]],
): Promise<readonly Row[]> {
  const { name, table } = layout;
  const column = columnOf(table, columnName);
  const texts = column === null ? [] : values.flatMap((value) => held(column, value) ?? []);
  if (column === null || texts.length === 0) return [];
  const text = `select ${layout.shown(table.columns)} from ${name} as t where t.${quoted(columnName)} = any($1::text[]::${castType(column)}[])`;
  const lines = await tx.query(text, [textList(texts)]);
  return lines.map((line) => rowAt(table.columns, line));
}

/** Rows by keys that `holdsKey`. */
export async function findRows(
  tx: ServerTransaction,
  layout: Layout,
  keys: readonly Row[],
  columns: readonly Column[],
): Promise<readonly Row[]> {
  const text = layout.byKeys(layout.shown(columns));
  const rows: Row[] = [];
  for (const some of inParts(keys)) {
    const lines = await tx.query(text, layout.keyLists(some));
    for (const line of lines) rows.push(rowAt(columns, line));
  }
  return rows;
}

/** Changes given fields of the rows with a value in a column, or removes the rows for null. */
export async function changeRowsBy(
  tx: ServerTransaction,
  layout: Layout,
  [columnName, value]: readonly [column: string, value: string],
  { fields, turns }: { readonly fields: Row | null; readonly turns: Turns },
): Promise<void> {
  const { table } = layout;
  const statements = new RowStatements(tx);
  const rows = await readRowsBy(tx, layout, [columnName, [value]]);
  const given = table.columns.filter(({ name }) => Object.hasOwn(fields ?? {}, name));
  const by = columnOf(table, columnName);
  const text = by && held(by, value);
  if (by === null || typeof text !== "string") return;
  const forget = async () => {
    if (fields === null) await statements.forgetOf(layout, [by, text], rows);
  };
  if (rows.length === 0 || (fields !== null && given.length === 0)) return await forget();
  tx.writesRows();
  const changed = fields === null ? [] : rows.map((row) => ({ ...row, ...fields }));
  const keys = [...rows, ...changed].map((row) => [keyText(table, row), row] as const);
  await Promise.all(tx.send(await turns.run(locks(table, keys))));
  const done =
    fields === null
      ? await statements.remove(layout, layout.name, rows)
      : await statements.set(layout, [by, text], [given, fields]).catch(refusedChange);
  if (done < rows.length) throw passedOver();
  // Other programs lock a row, and their triggers then its tombstone: another order would meet deadlocks.
  await forget();
  await statements.forgetOutlived(layout, changed);
  await statements.list(layout, movedFrom(table, rows, changed, tx.nowMs));
  const isTimed = given.some(({ name }) => name === table.timestampColumn);
  const at = isTimed ? earliestTime(changed.map((row) => rowTime(table, row))) : null;
  if (at !== null) await tx.query(TELL, [String(layout.slot), at]);
}

function refusedChange(error: unknown): never {
  throw isRefusal(error) ? new AppError("invalid_request", refusalText(error)) : error;
}
