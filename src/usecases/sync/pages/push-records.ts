import { isAppError } from "../../../domain/shared/errors.ts";
import type { JsonValue } from "../../../domain/shared/json.ts";
import { cutText } from "../../../domain/shared/text.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import {
  commitFailedResult,
  type Integrity,
  noRecordsResult,
  type PushResult,
  pushedResult,
  type RecordFailure,
} from "../../../domain/sync/rows/push-result.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { Logger } from "../../../ports/runtime/logger.ts";
import type { RowWrite, TableStore } from "../../../ports/tables/table-store.ts";

/** Longer than any time; other text that a caller sends there is cut in the log. */
const MAX_LOGGED_TIMESTAMP_CHARS = 100;

export interface PushRecordsDeps {
  readonly tables: TableStore;
  readonly logger: Logger;
}

interface PushInput {
  readonly table: Table;
  readonly records: readonly JsonValue[];
  readonly integrity: Integrity;
  /** `sync_timestamp` as received; kept with the log line, no effect on rows. D-3.7. */
  readonly syncTimestamp: string | null;
}

interface PushOutcome {
  readonly isCommitted: boolean;
  readonly result: PushResult;
}

/**
 * Upserts the records of one push in one commit. A failing record stops no other. S-4.2.6 to S-4.2.12.
 * Never throws for what the records hold; a store that cannot commit is an outcome, not an error.
 */
export async function pushRecords(deps: PushRecordsDeps, input: PushInput): Promise<PushOutcome> {
  const { table, records } = input;
  if (records.length === 0) {
    const result = noRecordsResult(table);
    logPush(deps.logger, input, result);
    return { isCommitted: true, result };
  }
  const { writes, failures } = planWrites(table, records);
  try {
    const refused = writes.length === 0 ? [] : await deps.tables.write(table, writes);
    const result = pushedResult(table, { ...input, failures: [...failures, ...refused] });
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

function planWrites(table: Table, records: readonly JsonValue[]) {
  const writes: RowWrite[] = [];
  const failures: RecordFailure[] = [];
  for (const [index, record] of records.entries()) {
    const { row, problem } = convertRecord(table, record);
    if (row === null) failures.push({ index, message: problem });
    else writes.push({ index, row });
  }
  return { writes, failures };
}

function logPush(logger: Logger, input: PushInput, result: PushResult): void {
  logger.info("Push committed", {
    table: result.table,
    received: input.records.length,
    upserted: result.upserted,
    error_count: result.errorCount,
    integrity: input.integrity,
    sync_timestamp: cutText(input.syncTimestamp ?? "", MAX_LOGGED_TIMESTAMP_CHARS) || null,
  });
}
