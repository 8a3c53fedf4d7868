import { isJsonObject, type JsonObject } from "../../../domain/shared/json.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { comparedColumns, keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { RowWrite } from "../../../ports/tables/table-store.ts";
import type { RefusalBook, RefusedRecord } from "./refusal-book.ts";
import type { Transfer } from "./transfer.ts";

/** Records to write here. */
export interface Arrival {
  /** As they were pulled. */
  readonly records: readonly JsonObject[];
  /** To be set in the same commit. */
  readonly markers: ReadonlyMap<string, string>;
  /** True for records that were refused before, and that nothing newer has replaced. */
  readonly isRetry?: boolean;
}

/**
 * Writes pulled records and the markers behind them in one commit; refused ones are noted before a marker passes them.
 * Resolves to the number of refused records. Throws the lease's reason when it is lost. D-4.5, D-4.6.
 */
export async function applyRecords(
  transfer: Transfer,
  refusals: RefusalBook,
  { records, markers, isRetry = false }: Arrival,
): Promise<number> {
  const { deps, table, lease } = transfer;
  const complete = await fillMissing(transfer, records);
  const writes: RowWrite[] = [];
  const refused = new Map<number, string>();
  for (const [index, record] of complete.entries()) {
    const { row, problem } = convertRecord(table, record);
    if (row === null) refused.set(index, problem);
    else writes.push({ index, row: withoutHidden(transfer, row) });
  }
  await refusals.note(listRefused(records, refused));
  const usable = writes.map(({ index }) => records[index] ?? {});
  // What was refused of the same keys must be forgotten first: tried again after a crash it would replace these.
  if (!isRetry) await refusals.accept(usable);
  const beforeCommit = () => lease.assertHeld();
  const failures =
    writes.length > 0 || markers.size > 0
      ? await deps.tables.write(table, writes, { markers, beforeCommit })
      : [];
  if (failures.length > 0) {
    const failed = new Map(failures.map(({ index, message }) => [index, message]));
    await refusals.note(listRefused(records, failed));
    for (const [index, message] of failed) refused.set(index, message);
    if (markers.size > 0) await deps.tables.write(table, [], { markers, beforeCommit });
  }
  if (isRetry) await refusals.accept(records.filter((_, index) => !refused.has(index)));
  return refused.size;
}

function listRefused(
  records: readonly JsonObject[],
  problems: ReadonlyMap<number, string>,
): RefusedRecord[] {
  return [...problems].map(([index, message]) => ({ record: records[index] ?? {}, message }));
}

/** Runs never change a column with `serialize: false`, also when the remote sends one of that name. D-2.2. */
function withoutHidden({ table }: Transfer, row: Row): Row {
  const hidden = table.pushColumns.filter((column) => !column.serialize);
  if (hidden.length === 0) return row;
  const names = hidden.map(({ name }) => name);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/** A column that the remote does not have keeps what it holds here, as far as there is a row. */
async function fillMissing(
  transfer: Transfer,
  records: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const { deps, table } = transfer;
  const columns = comparedColumns(table);
  const isPartial = (record: JsonObject) =>
    isJsonObject(record) && columns.some(({ name }) => !Object.hasOwn(record, name));
  const keys = records
    .filter(isPartial)
    .map((record) => rowKey(table, record))
    .filter((key) => key.isUsable)
    .map((key) => key.columns);
  if (keys.length === 0) return records;
  const stored = await deps.rows.readByKeys(table, keys);
  const byKey = new Map(stored.map((row) => [keyText(table, row), row]));
  return records.map((record) =>
    isPartial(record) ? { ...byKey.get(rowKey(table, record).text), ...record } : record,
  );
}
