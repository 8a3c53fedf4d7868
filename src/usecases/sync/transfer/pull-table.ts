import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { markerName } from "../../../domain/sync/run/marker.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import { transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import { applyRecords, retryRecords } from "./apply-records.ts";
import { openMarkers, readClocks, type TableTransfer } from "./begin-transfer.ts";
import { withoutOlder } from "./newer-rows.ts";
import { askPage } from "./remote-pages.ts";
import { TableRejections } from "./table-rejections.ts";
import type { MovedBatch } from "./transfer-report.ts";

/** Rejected records that are tried again in one commit. */
const RETRY_ROWS = 500;

/**
 * Pulls one table: from its marker on, page by page, each page and the marker behind it in one commit, while the next
 * one is on its way. D-4.5. Throws `AppError`; whatever was committed stays and the next run goes on behind it.
 */
export async function pullTable(transfer: TableTransfer): Promise<void> {
  const { run, table, calls, report } = transfer;
  const { maxPageRows } = run.deps;
  const clocks = await readClocks(transfer);
  const markers = await openMarkers(transfer, "pull", clocks);
  const rejections = await TableRejections.open(transfer);
  const retried = await retryRejected(transfer, rejections);
  const size = new BatchSize(maxPageRows, maxPageRows);
  const cursor = PullCursor.begin(table, markers.start, maxPageRows);
  let isCounted = false;
  let asked = askPage(transfer, cursor, size);
  for (;;) {
    const pulled = await asked;
    report.addBytes(pulled);
    const accepted = cursor.accept(pulled.page);
    if (!accepted.isDone) asked = askPage(transfer, cursor, size);
    if (accepted.totalRows !== null && !isCounted) {
      isCounted = true;
      report.start(accepted.totalRows + retried.rows);
      if (retried.rows > 0) report.batch(retried);
    }
    const untried = accepted.records.filter((record) => !rejections.hasTried(record));
    const records = await withoutOlder(transfer, untried);
    const passed = markers.advance(accepted.seenUpTo);
    if (records.length > 0 || passed.size > 0) {
      const rejected = await applyRecords(transfer, rejections, records, passed);
      calls.progressed();
      report.expect((accepted.totalRows ?? 0) + retried.rows);
      const rows = Math.max(0, records.length - accepted.repeated);
      const written = Math.max(0, rows - rejected);
      const batchRows = pulled.page.limit;
      if (records.length > 0) report.batch({ rows, accepted: written, rejected, batchRows });
    }
    if (accepted.isDone) return await passPulledRows(transfer, accepted.seenUpTo);
  }
}

/** Retries the records that earlier runs rejected, before any page. Resolves to their counts. */
async function retryRejected(
  transfer: TableTransfer,
  rejections: TableRejections,
): Promise<MovedBatch> {
  const { waiting } = rejections;
  let rejected = 0;
  for (let i = 0; i < waiting.length; i += RETRY_ROWS) {
    const records = waiting.slice(i, i + RETRY_ROWS).map(({ record, key }) => record ?? key);
    rejected += await retryRecords(transfer, rejections, records);
  }
  const rows = waiting.length;
  return { rows, accepted: rows - rejected, rejected, batchRows: RETRY_ROWS };
}

/**
 * In a run in both directions, moves the push marker over what has just been pulled: the remote has it, so it need not
 * go back. Everything older had been pushed when the run read this deployment's rows. Does nothing when another run is
 * pushing, or has since. D-4.7.
 */
async function passPulledRows(
  { run, table, twoWay }: TableTransfer,
  seenUpTo: string | null,
): Promise<void> {
  const { deps } = run;
  const markers = twoWay?.pushMarkers ?? null;
  const pulledUpTo = seenUpTo === null ? null : parseDateTime(seenUpTo);
  if (markers === null || pulledUpTo === null) return;
  const pushedUpTo = markers.current === null ? null : parseDateTime(markers.current);
  if (pushedUpTo !== null && compareDateTimes(pulledUpTo, pushedUpTo) <= 0) return;
  const lease = await tryLease(deps, transferLeaseName("push", table.name), run.runId, run.stop);
  if ("heldBy" in lease) return;
  try {
    const kept = (await deps.markers.readAll()).get(markerName("push", table.name)) ?? null;
    const passed = kept === markers.current ? markers.advance(pulledUpTo) : new Map();
    if (passed.size > 0 && lease.isHeld()) await deps.markers.writeAll(passed);
  } finally {
    await lease.release();
  }
}
