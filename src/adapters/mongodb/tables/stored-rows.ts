// The stored rows of some keys, in a snapshot or transaction.
import type { ClientSession, Db, Document } from "mongodb";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { FoundRow } from "../../../domain/sync/rows/write-decision.ts";
import type { Column, Row, Table } from "../../../domain/sync/table/table.ts";
import { cutBatches } from "../driver/collections.ts";
import { beginTurns } from "../driver/deadline.ts";
import { optionsIn, type StoreDeps } from "../driver/operations.ts";
import { RowReader } from "./row-reader.ts";
import { hintOf } from "./table-indexes.ts";
import { layoutOf, projectionOf, storedKey } from "./table-layout.ts";
import type { Upsert } from "./upserts.ts";

/** Alternatives of one command, whose time grows faster than their number. */
const MAX_CLAUSES = 250;
const LIMITS = { maxItems: Number.POSITIVE_INFINITY, maxBytes: 8 * 1024 * 1024 };

/** Keys whose commands are made in one turn. */
const KEYS_AT_ONCE = { ...LIMITS, maxItems: 5_000, bytesOf: () => 0 };

export type KeyOfRow = Pick<Upsert, "row" | "keyText" | "filter">;

/** Keys that differ in the listed column only. */
interface KeyGroup {
  /** The values of the other columns. */
  readonly shared: Document;
  readonly listed: string;
  readonly keys: readonly KeyOfRow[];
}

export async function removeStored(
  db: Db,
  table: Table,
  keys: readonly KeyOfRow[],
  tx: ClientSession,
): Promise<void> {
  const hint = keyIndexOf(db, table);
  for (const some of cutBatches(keys, KEYS_AT_ONCE)) {
    for (const filter of keyFilters(table, some)) {
      await db.collection(table.name).deleteMany(filter, { hint, session: tx });
    }
  }
}

/** Stored rows by the text of their key; `columns` include those of the key. */
export async function findStored(
  { db, clock }: Pick<StoreDeps, "db" | "clock">,
  table: Table,
  { keys, columns }: { readonly keys: readonly KeyOfRow[]; readonly columns: readonly Column[] },
  tx: ClientSession,
): Promise<Map<string, FoundRow>> {
  const turns = beginTurns(clock);
  const projection = projectionOf(columns);
  const reader = new RowReader(layoutOf(table), columns);
  const rows = new Map<string, FoundRow>();
  for (const some of cutBatches(keys, KEYS_AT_ONCE)) {
    for (const filter of keyFilters(table, some)) {
      // Usually one message.
      const options = { projection, hint: keyIndexOf(db, table), batchSize: some.length + 1 };
      const all = { ...options, ...optionsIn(tx), raw: true };
      const found = await db.collection(table.name).find(filter, all).toArray();
      for (const document of found as unknown[] as Uint8Array[]) {
        if (turns.isOver) await turns.next();
        const row = reader.read(document);
        rows.set(keyText(table, row), { row, time: rowTime(table, row) });
      }
    }
  }
  return rows;
}

function keyIndexOf(db: Db, table: Table) {
  return hintOf(db, table, layoutOf(table).keyIndex);
}

export function keyOfRow(table: Table, row: Row): KeyOfRow {
  return { row, keyText: keyText(table, row), filter: storedKey(table, row) };
}

/** Conditions that find the rows of keys, one a command. */
function keyFilters(table: Table, keys: readonly KeyOfRow[]): Document[] {
  const clauses = groupKeys(table, keys).flatMap(({ shared, listed, keys: group }) =>
    cutBatches(group, { ...LIMITS, bytesOf: bytesOfKey }).map((batch) => {
      const $in = batch.map(({ filter }) => filter[listed]);
      const bytes = batch.reduce((sum, key) => sum + bytesOfKey(key), 0);
      return { condition: { ...shared, [listed]: { $in } }, bytes };
    }),
  );
  const bytesOf = ({ bytes }: (typeof clauses)[number]) => bytes;
  const limits = { ...LIMITS, maxItems: MAX_CLAUSES, bytesOf };
  return cutBatches(clauses, limits).map((batch) => ({
    $or: batch.map(({ condition }) => condition),
  }));
}

/** Groups keys by all columns but the last. Where that makes many groups, all but the first may make fewer. */
function groupKeys(table: Table, keys: readonly KeyOfRow[]): KeyGroup[] {
  const names = table.keyColumns.map(({ name }) => name);
  const byLast = groupBy(names.slice(0, -1), names.at(-1) ?? "", keys);
  if (byLast.length <= MAX_CLAUSES) return byLast;
  const byFirst = groupBy(names.slice(1), names[0] ?? "", keys);
  return byFirst.length < byLast.length ? byFirst : byLast;
}

function groupBy(names: readonly string[], listed: string, keys: readonly KeyOfRow[]): KeyGroup[] {
  const groups = Map.groupBy(keys, ({ row }) => JSON.stringify(names.map((name) => row[name])));
  return Array.from(groups.values(), (group) => {
    const shared = Object.fromEntries(names.map((name) => [name, group[0]?.filter[name]]));
    return { shared, listed, keys: group };
  });
}

/** An upper estimate. */
function bytesOfKey({ keyText: text }: KeyOfRow): number {
  return 100 + 3 * text.length;
}
