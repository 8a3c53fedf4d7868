// Where pulled records are written here, each page and the marker behind it in one commit. D-4.5, D-4.6.
import { isJsonObject, type JsonObject } from "../../../domain/shared/json.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { rowKey } from "../../../domain/sync/rows/row-key.ts";
import { comparedColumns, keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RowWrite } from "../../../ports/tables/table-store.ts";
import type { TableTransfer } from "./begin-transfer.ts";
import type { Rejection, TableRejections } from "./table-rejections.ts";

/** Records, the rows they convert to, and the messages of those that do not convert. */
interface WritePlan {
  readonly records: readonly JsonObject[];
  readonly writes: readonly RowWrite[];
  /** Messages of the records that were rejected so far, by index. */
  readonly rejected: Map<number, string>;
}

type PassedMarkers = ReadonlyMap<string, string>;

const NO_MARKERS: PassedMarkers = new Map();

/**
 * Writes pulled records and the markers behind them in one commit; rejected ones are noted before a marker passes them.
 * Resolves to the number of rejected records. Throws the lease's reason when it is lost.
 */
export async function applyRecords(
  transfer: TableTransfer,
  rejections: TableRejections,
  records: readonly JsonObject[],
  markers = NO_MARKERS,
): Promise<number> {
  const plan = await planRecords(transfer, rejections, records);
  // Older rejected records of the same keys are dropped first: retried after a crash they would replace these.
  await rejections.accept(plan.writes.map(({ index }) => records[index] ?? {}));
  await commitPlan(transfer, rejections, plan, markers);
  return plan.rejected.size;
}

/** Writes records that an earlier run rejected, and that nothing newer has replaced. As `applyRecords` otherwise. */
export async function retryRecords(
  transfer: TableTransfer,
  rejections: TableRejections,
  records: readonly JsonObject[],
): Promise<number> {
  const plan = await planRecords(transfer, rejections, records);
  await commitPlan(transfer, rejections, plan, NO_MARKERS);
  await rejections.accept(records.filter((_, index) => !plan.rejected.has(index)));
  return plan.rejected.size;
}

async function planRecords(
  transfer: TableTransfer,
  rejections: TableRejections,
  records: readonly JsonObject[],
): Promise<WritePlan> {
  const { table } = transfer;
  const complete = await fillMissing(transfer, records);
  const writes: RowWrite[] = [];
  const rejected = new Map<number, string>();
  for (const [index, record] of complete.entries()) {
    const { row, problem } = convertRecord(table, record);
    if (row === null) rejected.set(index, problem);
    else writes.push({ index, row: withoutHidden(table, row) });
  }
  await rejections.note(rejectionsOf(records, rejected));
  return { records, writes, rejected };
}

async function commitPlan(
  { run, table, lease }: TableTransfer,
  rejections: TableRejections,
  { records, writes, rejected }: WritePlan,
  markers: PassedMarkers,
): Promise<void> {
  if (writes.length === 0 && markers.size === 0) return;
  const { tables } = run.deps;
  const options = { markers, beforeCommit: () => lease.assertHeld() };
  const failures = await tables.write(table, writes, options);
  if (failures.length === 0) return;
  const failed = new Map(failures.map(({ index, message }) => [index, message]));
  await rejections.note(rejectionsOf(records, failed));
  for (const [index, message] of failed) rejected.set(index, message);
  if (markers.size > 0) await tables.write(table, [], options);
}

function rejectionsOf(
  records: readonly JsonObject[],
  problems: ReadonlyMap<number, string>,
): Rejection[] {
  return [...problems].map(([index, message]) => ({ record: records[index] ?? {}, message }));
}

/** Runs never change a column with `serialize: false`, also when the remote sends one of that name. D-2.2. */
function withoutHidden(table: Table, row: Row): Row {
  const hidden = table.pushColumns.filter((column) => !column.serialize);
  if (hidden.length === 0) return row;
  const names = hidden.map(({ name }) => name);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

/** A column that the remote does not have keeps what it holds here, where there is a row. */
async function fillMissing(
  { run, table }: TableTransfer,
  records: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const columns = comparedColumns(table);
  const isPartial = (record: JsonObject) =>
    isJsonObject(record) && columns.some(({ name }) => !Object.hasOwn(record, name));
  const keys = records
    .filter(isPartial)
    .map((record) => rowKey(table, record))
    .filter((key) => key.isUsable)
    .map((key) => key.columns);
  if (keys.length === 0) return records;
  const stored = await run.deps.rows.readByKeys(table, keys);
  const byKey = new Map(stored.map((row) => [keyText(table, row), row]));
  return records.map((record) =>
    isPartial(record) ? { ...byKey.get(rowKey(table, record).text), ...record } : record,
  );
}
