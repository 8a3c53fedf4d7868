import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import { applyRecords } from "./apply-records.ts";
import { askPage } from "./ask-page.ts";
import { withoutOlder } from "./newer-rows.ts";
import { openRefusals, type RefusalBook } from "./refusal-book.ts";
import { type Clocks, openMarkers, type Transfer } from "./transfer.ts";

/** Refused records that are tried again in one commit. */
const RETRY_ROWS = 500;

/**
 * Pulls one table: from its marker on, page by page, each page and the marker behind it in one commit, while the next
 * one is on its way. Resolves to the timestamp it has come to, as received; null when there was none. D-4.5.
 * Throws `AppError`; whatever was committed stays and the next run goes on behind it.
 */
export async function runPull(transfer: Transfer, clocks: Clocks): Promise<string | null> {
  const { deps, table, calls, report } = transfer;
  const book = await openMarkers(transfer, clocks);
  const refusals = await openRefusals(transfer);
  const retried = await retryRefused(transfer, refusals);
  const size = new BatchSize(deps.maxPageRows, deps.maxPageRows);
  const cursor = PullCursor.begin(table, book.start, deps.maxPageRows);
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
    const untried = accepted.records.filter((record) => !refusals.hasTried(record));
    const records = await withoutOlder(transfer, untried);
    const markers = book.advance(accepted.seenUpTo);
    if (records.length > 0 || markers.size > 0) {
      const refused = await applyRecords(transfer, refusals, { records, markers });
      calls.progressed();
      report.expect((accepted.totalRows ?? 0) + retried.rows);
      const rows = Math.max(0, records.length - accepted.repeated);
      const moved = { rows, accepted: Math.max(0, rows - refused), refused };
      if (records.length > 0) report.batch({ ...moved, batchRows: page.limit });
    }
    if (accepted.isDone) return accepted.seenUpTo;
  }
}

/** What was refused here before is tried again first. Resolves to how many rows there were. */
async function retryRefused(transfer: Transfer, refusals: RefusalBook) {
  const { waiting } = refusals;
  const retried = { rows: waiting.length, accepted: 0, refused: 0 };
  for (let i = 0; i < waiting.length; i += RETRY_ROWS) {
    const records = waiting.slice(i, i + RETRY_ROWS).map(({ record, key }) => record ?? key);
    const arrival = { records, markers: new Map(), isRetry: true };
    const refused = await applyRecords(transfer, refusals, arrival);
    retried.refused += refused;
    retried.accepted += records.length - refused;
  }
  return retried;
}
