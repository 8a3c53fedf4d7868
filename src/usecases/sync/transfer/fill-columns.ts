// Columns that take part for the first time: what the remote has in them is taken for rows that are newer here as well,
// and nothing else of those. D-7.3.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { convertPulled } from "../../../domain/sync/rows/convert.ts";
import { keyOf, keyRow } from "../../../domain/sync/rows/row-key.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { OwnTransfer } from "./begin-transfer.ts";
import { commitRows } from "./commit.ts";

/** A row that is written to all the time is left as it is. */
const MAX_TRIES = 3;

/** The row without those of its silent columns that are null: an end that has just got them has nothing to say yet. */
export function withoutEmpty(row: Row, silent: readonly string[]): Row {
  if (!silent.some((name) => row[name] === null)) return row;
  const isEmpty = (name: string) => row[name] === null && silent.includes(name);
  return Object.fromEntries(Object.entries(row).filter(([name]) => !isEmpty(name)));
}

/**
 * Fills the added columns of rows that stayed here, where they are null. A row that changes meanwhile has a newer time and
 * is looked at again. Resolves to the number of rows changed.
 */
export async function fillColumns(
  transfer: OwnTransfer,
  stayed: readonly JsonObject[],
): Promise<number> {
  const { table, added } = transfer;
  const offered = new Map<string, Row>();
  for (const record of added.length === 0 ? [] : stayed) {
    const { write } = convertPulled(table, record);
    if (write !== null) offered.set(keyText(table, write.row), write.row);
  }
  let changed = 0;
  for (let tries = 0; tries < MAX_TRIES && offered.size > 0; tries++) {
    const rows = await filledRows(transfer, offered);
    if (rows.length === 0) break;
    const writes = rows.map((row, index) => ({ index, row, refusedIfNew: "It was deleted" }));
    const outcome = await commitRows(transfer, { writes, conflict: "newer" }, () => ({}));
    changed += outcome.changed;
    const keptKeys = new Set(outcome.kept.map((index) => keyText(table, rows[index] ?? {})));
    for (const key of offered.keys()) if (!keptKeys.has(key)) offered.delete(key);
  }
  return changed;
}

/** The rows that there is something to fill in: key and time as they are here, and the columns to fill. */
async function filledRows(
  { run, table, added }: OwnTransfer,
  offered: ReadonlyMap<string, Row>,
): Promise<Row[]> {
  const keys = [...offered.values()].map((row) => keyRow(table, keyOf(table, row)));
  const stored = await run.deps.tables.byKeys(table, keys, "sent");
  return stored.flatMap((row) => {
    const there = offered.get(keyText(table, row)) ?? {};
    const filled = added.filter((name) => isNull(row[name]) && !isNull(there[name]));
    if (filled.length === 0) return [];
    const values = filled.map((name): [string, Row[string]] => [name, there[name] ?? null]);
    return [{ ...placeOf(table, row), ...Object.fromEntries(values) }];
  });
}

/** What says which version of a row this is. */
function placeOf(table: Table, row: Row): Row {
  const { timestampColumn } = table;
  const time = timestampColumn === null ? {} : { [timestampColumn]: row[timestampColumn] ?? null };
  return { ...keyRow(table, keyOf(table, row)), ...time };
}

function isNull(value: Row[string] | undefined): boolean {
  return value === undefined || value === null;
}
