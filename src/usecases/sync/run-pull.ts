import type { JsonObject } from "../../domain/json.ts";
import { type BatchSize, startBatchSize } from "../../domain/sync/batch-size.ts";
import { convertRecord } from "../../domain/sync/convert.ts";
import { type PullCursor, startPullCursor } from "../../domain/sync/pull-cursor.ts";
import { keyText } from "../../domain/sync/row-digest.ts";
import type { Row, Table } from "../../domain/sync/table.ts";
import { compareDateTimes, parseDateTime } from "../../domain/time.ts";
import type { RejectedRecord } from "../../ports/rejected-records.ts";
import { type PulledPage, RemotePeerError } from "../../ports/remote-peer.ts";
import { applyRecords, usableRows } from "./apply-records.ts";
import { openRefusals, type RefusalBook } from "./refusal-book.ts";
import { type Clocks, openMarkers, type Transfer } from "./transfer.ts";

/** Refused records that are tried again in one commit. */
const RETRY_ROWS = 500;

/**
 * Pulls one table: from its marker on, page by page, each page and the marker behind it in one commit, while the next
 * one is on its way. D-4.5. Throws `AppError`; whatever was committed stays and the next run goes on behind it.
 */
export async function runPull(transfer: Transfer, clocks: Clocks): Promise<void> {
  const { deps, table, calls, report } = transfer;
  const book = await openMarkers(transfer, clocks);
  const refusals = await openRefusals(transfer);
  const retried = await retryRefused(transfer, refusals);
  const size = startBatchSize(deps.maxPageRows, deps.maxPageRows);
  const cursor = startPullCursor(table, { marker: book.start, pageRows: deps.maxPageRows });
  let isCounted = false;
  let asked = askPage(transfer, { cursor, size });
  for (;;) {
    const { page, ...bytes } = await asked;
    report.addBytes(bytes);
    const accepted = cursor.accept(page);
    if (!accepted.isDone) asked = askPage(transfer, { cursor, size });
    if (accepted.totalRows !== null && !isCounted) {
      isCounted = true;
      report.start(accepted.totalRows + retried.rows);
      if (retried.rows > 0) report.batch({ ...retried, batchRows: RETRY_ROWS });
    }
    const records = accepted.records.filter((record) => !refusals.hasTried(record));
    const markers = book.advance(accepted.seenUpTo);
    if (records.length > 0 || markers.size > 0) {
      const refused = await applyRecords(transfer, refusals, { records, markers });
      calls.progressed();
      report.expect((accepted.totalRows ?? 0) + retried.rows);
      const rows = Math.max(0, records.length - accepted.repeated);
      const moved = { rows, accepted: Math.max(0, rows - refused), refused };
      if (records.length > 0) report.batch({ ...moved, batchRows: page.limit });
    }
    if (accepted.isDone) return;
  }
}

/** Asks for the page that the cursor wants. A failure waits until the page is looked at. */
function askPage(
  { table, remote, calls }: Transfer,
  { cursor, size }: { readonly cursor: PullCursor; readonly size: BatchSize },
): Promise<PulledPage> {
  const { since, offset, limit } = cursor.request();
  const asked = ask();
  asked.catch(() => {});
  return asked;

  async function ask(): Promise<PulledPage> {
    for (;;) {
      const rows = Math.min(limit, size.rows());
      const request = { since, offset, limit: rows };
      try {
        const page = await calls.call(
          (signal) => remote.peer.pullPage(table.name, { ...request, signal }),
          (error) => error.kind === "timeout" && rows > 1,
        );
        size.grow();
        return page;
      } catch (error) {
        if (!(error instanceof RemotePeerError)) throw error;
        size.shrink(rows);
      }
    }
  }
}

/** What was refused here before is tried again first. Resolves to how many rows there were. */
async function retryRefused(transfer: Transfer, refusals: RefusalBook) {
  const { waiting } = refusals;
  const retried = { rows: 0, accepted: 0, refused: 0 };
  for (let i = 0; i < waiting.length; i += RETRY_ROWS) {
    const records = await dropOutdated(transfer, refusals, waiting.slice(i, i + RETRY_ROWS));
    if (records.length === 0) continue;
    const refused = await applyRecords(transfer, refusals, { records, markers: new Map() });
    retried.rows += records.length;
    retried.refused += refused;
    retried.accepted += records.length - refused;
  }
  return retried;
}

/** A record must not replace a newer one that has been accepted since. */
async function dropOutdated(
  transfer: Transfer,
  refusals: RefusalBook,
  entries: readonly RejectedRecord[],
): Promise<JsonObject[]> {
  const { deps, table } = transfer;
  const records = entries.map(({ record, key }) => record ?? key);
  const stored = await deps.rows.readByKeys(table, usableRows(table, records));
  const times = new Map(stored.map((row) => [keyText(table, row), timeOf(table, row)]));
  const isOutdated = (record: JsonObject) => {
    const { row } = convertRecord(table, record);
    const storedTime = row === null ? null : (times.get(keyText(table, row)) ?? null);
    const ownTime = timeOf(table, record);
    return storedTime !== null && ownTime !== null && compareDateTimes(ownTime, storedTime) < 0;
  };
  await refusals.accept(records.filter(isOutdated));
  return records.filter((record) => !isOutdated(record));
}

function timeOf(table: Table, row: Row): string | null {
  const value = table.timestampColumn === null ? null : row[table.timestampColumn];
  return typeof value === "string" ? parseDateTime(value) : null;
}
