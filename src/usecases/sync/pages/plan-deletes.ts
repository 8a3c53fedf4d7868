import type { JsonValue } from "../../../domain/shared/json.ts";
import {
  type Integrity,
  type PushResult,
  pushedResult,
  type RecordFailure,
} from "../../../domain/sync/rows/push-result.ts";
import { aheadLimit } from "../../../domain/sync/rows/row-time.ts";
import { convertTombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { TombstoneWrite } from "../../../ports/tables/table-writes.ts";
import { countRemovable } from "../shared/count-rows.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

/**
 * The members of a push's `deleted` that take effect, and those that fail. A table that has not opted in deletes nothing, whatever
 * is sent. D-7.6.
 */
export function planDeletes(table: Table, members: readonly JsonValue[], nowMs: number) {
  const tombstones: TombstoneWrite[] = [];
  const failures: RecordFailure[] = [];
  const limit = aheadLimit(nowMs);
  for (const [index, member] of members.entries()) {
    const { tombstone, problem } = convertTombstone(table, member, limit);
    if (tombstone === null) failures.push({ index, message: problem });
    else if (table.deletes) tombstones.push({ index, ...tombstone });
  }
  return { tombstones, failures };
}

/**
 * Answers a push that only asks how many rows its `deleted` would remove; nothing is written, and records are not looked
 * at. Throws `store_unavailable`. D-7.6.
 */
export async function countDeletes(
  { tables, clock }: Pick<SyncDeps, "tables" | "clock">,
  push: {
    readonly table: Table;
    readonly deleted: readonly JsonValue[];
    readonly integrity: Integrity;
  },
): Promise<PushResult> {
  const { table, deleted, integrity } = push;
  const nowMs = clock.nowMs();
  const { tombstones, failures } = planDeletes(table, deleted, nowMs);
  const removed = await countRemovable(tables, table, tombstones, nowMs);
  return pushedResult(table, {
    records: [],
    failures: [],
    integrity,
    deletes: { members: deleted, failures, removed },
  });
}
