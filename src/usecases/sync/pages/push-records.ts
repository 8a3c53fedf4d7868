import { isAppError } from "../../../domain/shared/errors.ts";
import type { JsonValue } from "../../../domain/shared/json.ts";
import { cutText } from "../../../domain/shared/text.ts";
import { ERASED_MESSAGE } from "../../../domain/sync/people/name-facts.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import {
  commitFailedResult,
  type Integrity,
  noRecordsResult,
  type PushResult,
  pushedResult,
  type RecordFailure,
} from "../../../domain/sync/rows/push-result.ts";
import { aheadLimit, STAMP_NOW } from "../../../domain/sync/rows/row-time.ts";
import { convertTombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { ConflictRule, Table } from "../../../domain/sync/table/table.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import type { TombstoneWrite } from "../../../ports/tables/table-writes.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";
import { planWrites, type WriteRowsDeps, writeRows } from "../shared/write-rows.ts";
import { countRemovable } from "./delete-rows.ts";

/** Longer than any time; a longer text is cut in the log. */
const MAX_LOGGED_TIMESTAMP_CHARS = 100;

type PushRecordsDeps = WriteRowsDeps & Pick<SyncDeps, "traffic" | "clock" | "timer" | "logger">;

interface PushInput {
  readonly table: Table;
  readonly records: readonly JsonValue[];
  /** Tombstones as sent, applied before the records, and only in a table with `deletes`. D-7.6. */
  readonly deleted?: readonly JsonValue[];
  /** What becomes of rows that are newer here; null or absent: what the table says. D-7.2, D-11.10. */
  readonly conflict?: ConflictRule | null;
  /** The run that sends the push, whose records bring times; null or absent: none. D-14.2. */
  readonly runId?: string | null;
  readonly integrity: Integrity;
  /** `sync_timestamp` as received, for the log only. D-3.7. */
  readonly syncTimestamp: string | null;
}

/**
 * Upserts the records of one push in one commit. A failing record stops no other. S-4.2.6 to S-4.2.12. Never throws for the
 * contents of records; a failed commit is a result. Throws `batch_too_large`.
 */
export async function pushRecords(deps: PushRecordsDeps, input: PushInput) {
  const { table, records, deleted = [] } = input;
  const isEmpty = records.length === 0 && deleted.length === 0;
  try {
    const result = isEmpty ? noRecordsResult(table) : await writeRecords(deps, input);
    logPush(deps.logger, input, result);
    return { isCommitted: true, result };
  } catch (error) {
    if (!isAppError(error, "commit_failed", "store_unavailable")) throw error;
    deps.logger.error("Push failed", error, {
      table: table.name,
      received: records.length,
      sync_timestamp: cutText(input.syncTimestamp ?? "", MAX_LOGGED_TIMESTAMP_CHARS) || null,
    });
    return { isCommitted: false, result: commitFailedResult(table, error.message) };
  }
}

async function writeRecords(deps: PushRecordsDeps, input: PushInput): Promise<PushResult> {
  const { table, records, deleted = [], conflict = null, integrity } = input;
  const isGuarded = conflict === "newer";
  const isStamped = table.stamped && conflict === null && !input.runId;
  const convert = (record: JsonValue) => convertRecord(table, record, isStamped);
  const { writes, failures } = await planWrites(deps, records, convert);
  const deletes = planDeletes(table, deleted, deps.clock.nowMs());
  const rules = {
    ...(conflict === null ? {} : ({ conflict: isGuarded ? "newer" : "restore" } as const)),
    ...(isStamped ? { stamps: STAMP_NOW } : {}),
  };
  const rows = { writes, deleted: deletes.tombstones, ...rules };
  const written = await writeRows(deps, table, rows);
  const { kept, changed, erased } = written;
  deps.traffic?.addRows(changed + written.deleted);
  return pushedResult(table, {
    records,
    failures: [
      ...failures,
      ...written.failures,
      ...(isGuarded ? [] : erased.map((index) => ({ index, message: ERASED_MESSAGE }))),
    ],
    integrity,
    ...(isGuarded ? { guarded: { kept: kept.length, erased: erased.length } } : {}),
    ...(conflict === null ? {} : { changed }),
    deletes:
      deleted.length === 0
        ? null
        : {
            members: deleted,
            failures: [...deletes.failures, ...(written.refusedDeletes ?? [])],
            removed: written.deleted,
          },
  });
}

function logPush(logger: Logger, input: PushInput, result: PushResult): void {
  const { kept, changed, erased, deleted } = result;
  logger.info("Push committed", {
    table: result.table,
    received: input.records.length,
    upserted: result.upserted,
    error_count: result.errorCount,
    ...(kept === undefined ? {} : { kept, changed }),
    ...(erased === undefined ? {} : { erased }),
    ...(deleted === undefined ? {} : { deleted }),
    integrity: input.integrity,
    sync_timestamp: cutText(input.syncTimestamp ?? "", MAX_LOGGED_TIMESTAMP_CHARS) || null,
  });
}

/** The members of a push's `deleted` that take effect, and those that fail. A table without `deletes` removes nothing. D-7.6. */
function planDeletes(table: Table, members: readonly JsonValue[], nowMs: number) {
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

/** Counts the rows that the tombstones of a push would remove, and writes nothing. Throws `store_unavailable`. D-7.6. */
export async function countDeletes(
  { tables, clock }: Pick<SyncDeps, "tables" | "clock">,
  { table, deleted = [], integrity }: Pick<PushInput, "table" | "deleted" | "integrity">,
): Promise<PushResult> {
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
