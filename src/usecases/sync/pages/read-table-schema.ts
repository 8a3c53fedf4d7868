import { earliestTime } from "../../../domain/sync/rows/row-time.ts";
import { type ConflictRule, findTable, type Registry } from "../../../domain/sync/table/table.ts";
import {
  describeTable,
  type OwnColumns,
  type TableSchema,
} from "../../../domain/sync/table/table-schema.ts";
import type { LateRows } from "../../../repositories/late-rows.ts";

export interface TableSchemaDeps {
  readonly registry: Registry;
  readonly lateRows: LateRows;
  /** Id of the own remote; null where there is none, or none that has ever answered. */
  readonly readRemoteId: () => Promise<string | null>;
}

/** This deployment tells everything. */
interface OwnTableSchema extends TableSchema {
  readonly conflict: ConflictRule;
  readonly columns: OwnColumns;
}

/**
 * Tells a peer how a table is registered here, and what came late after the mark it has; without a mark, null or empty,
 * only the mark of now. Throws `unknown_table`, `store_unavailable`. D-7.3, D-7.4.
 */
export async function readTableSchema(
  { registry, lateRows, readRemoteId }: TableSchemaDeps,
  tableName: string,
  lateAfter: string | null,
): Promise<OwnTableSchema> {
  const table = findTable(registry, tableName);
  const afterMark = lateAfter === "" ? null : lateAfter;
  const { mark, from, freshFrom } = await lateRows.read(table, { afterMark, isForOwnPush: false });
  const late = { mark, from: from === "" ? from : earliestTime([from, freshFrom]) };
  const lagSeconds = lateRows.lagSeconds(table);
  const { conflict } = table;
  return { ...describeTable(table), conflict, lagSeconds, remoteId: await readRemoteId(), late };
}
