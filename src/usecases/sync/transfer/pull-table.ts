import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import { bothChanges, isNoChange } from "../../../domain/sync/run/remote-memory.ts";
import { RecordWriter } from "./apply-records.ts";
import { openMarkers, type TableTransfer } from "./begin-transfer.ts";
import { commitExtras } from "./commit.ts";
import { PullExchange } from "./exchange.ts";
import { askPage } from "./remote-pages.ts";
import type { MovedBatch } from "./transfer-report.ts";

/** Rejected records that are tried again in one commit. */
const RETRY_ROWS = 500;

/**
 * Pulls one table: from its marker on, page by page, each page and the marker behind it in one commit, while the next
 * one is on its way. D-4.5. Throws `AppError`; whatever was committed stays and the next run goes on behind it.
 */
export async function pullTable(transfer: TableTransfer): Promise<void> {
  const { run, table, calls, report, handshake } = transfer;
  const { maxPageRows } = run.deps;
  const markers = openMarkers(transfer, handshake.schema?.late ?? null);
  const writer = await RecordWriter.open(transfer);
  const exchange = await PullExchange.open(transfer, markers);
  const retried = await retryRejected(writer);
  const size = new BatchSize(maxPageRows);
  const isTimelessFirst = handshake.schema !== null;
  const cursor = PullCursor.begin(table, markers.start, maxPageRows, isTimelessFirst);
  let isCounted = false;
  let asked = askPage(transfer, cursor, size);
  for (let isDone = false; !isDone; ) {
    const pulled = await asked;
    report.addBytes(pulled);
    const accepted = cursor.accept(pulled.page);
    ({ isDone } = accepted);
    if (!isDone) asked = askPage(transfer, cursor, size);
    if (accepted.totalRows !== null && !isCounted) {
      isCounted = true;
      report.start(accepted.totalRows + retried.rows);
      if (retried.rows > 0) report.batch(retried);
    }
    const records = accepted.records.filter((record) => !writer.rejections.isSettled(record));
    const passed = markers.advance(accepted.seenUpTo);
    if (records.length === 0 && isNoChange(passed)) continue;
    const beganMs = run.deps.clock.monotonicMs();
    const applied = await writer.write(records, (isLast) => {
      const exchanged = exchange.page();
      return (rows, changed) => {
        const { memory = {}, ...rest } = exchanged(rows, changed);
        return { ...rest, memory: bothChanges(isLast ? passed : {}, memory) };
      };
    });
    calls.progressed();
    const tookMs = run.deps.clock.monotonicMs() - beganMs + (pulled.readMs ?? 0);
    size.takeIn(pulled.page.records.length, tookMs);
    report.expect((accepted.totalRows ?? 0) + retried.rows);
    const rows = Math.max(0, records.length - accepted.repeated);
    if (records.length === 0) continue;
    report.batch({
      rows,
      accepted: Math.max(0, rows - applied.rejected.length - applied.erased),
      rejected: applied.rejected.length,
      erased: applied.erased,
      kept: applied.kept.length,
      changed: applied.changed,
      batchRows: pulled.page.limit,
    });
  }
  report.countThere(cursor.tableRows);
  await commitExtras(transfer, { memory: markers.finish() });
  await exchange.finish();
}

/** Retries the records that earlier runs rejected, before any page. Resolves to their counts. */
async function retryRejected(writer: RecordWriter): Promise<MovedBatch> {
  const { waiting } = writer.rejections;
  const moved = { rejected: 0, kept: 0, erased: 0, changed: 0 };
  for (let i = 0; i < waiting.length; i += RETRY_ROWS) {
    const records = waiting.slice(i, i + RETRY_ROWS).map(({ record, key }) => record ?? key);
    const { rejected, kept, erased, changed } = await writer.retry(records);
    moved.rejected += rejected.length;
    moved.kept += kept.length;
    moved.erased += erased;
    moved.changed += changed;
  }
  const rows = waiting.length;
  const accepted = rows - moved.rejected - moved.erased;
  return { ...moved, rows, accepted, batchRows: RETRY_ROWS };
}
