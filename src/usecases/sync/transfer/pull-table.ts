// Pulls, and the requests for pages by which comparisons and some pushes read rows of the remote, too.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { FIRST_BATCH_ROWS } from "../../../domain/shared/limits.ts";
import { FIRST_TIME_MS } from "../../../domain/shared/time.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { NO_TIME } from "../../../domain/sync/rows/row-memory.ts";
import { formatLike, startLike } from "../../../domain/sync/rows/row-time.ts";
import { countBlock, exchangedBlock } from "../../../domain/sync/run/exchanged-rows.ts";
import { BatchSize, isTooMuchToReceive } from "../../../domain/sync/run/pacing.ts";
import {
  bothChanges,
  isNoChange,
  type MemoryChange,
} from "../../../domain/sync/run/remote-memory.ts";
import type { TransferMarkers } from "../../../domain/sync/run/transfer-markers.ts";
import { type PulledPage, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import { transferLeaseName, tryLease } from "../shared/hold-lease.ts";
import type { RemoteTable } from "../shared/remote-table.ts";
import { type MovedBatch, NOTHING_MOVED } from "../shared/run-context.ts";
import { TableRejections } from "./table-rejections.ts";
import {
  addUp,
  beginning,
  commitExtras,
  openMarkers,
  readExchanged,
  replaceExchanged,
  type Transfer,
} from "./transfer.ts";
import { type AppliedRecords, type ExtrasOfRows, RecordWriter } from "./write-records.ts";

/** Versions that pulls add, beyond the rows of the table, before blocks are put together. */
const MIN_ADDED = 50_000;
/** After a page longer than this, the next one has fewer rows, so that few bytes are held at once. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** After a page longer than this, the next one has no more rows. */
const MAX_GROWING_PAGE_BYTES = 2 * 1024 * 1024;
/** A page may begin with a known row. */
const LEAST_ROWS = 2;

/**
 * Pulls one table from its marker on: each page and the marker behind it in one commit, while the next page is on its way. D-4.5.
 * Throws `AppError`; committed pages stay, and the next run goes on behind them.
 */
export async function pullTable(transfer: Transfer): Promise<void> {
  const { deps, table, remote, report, handshake } = transfer;
  const { maxPageRows, clock } = deps;
  const markers = openMarkers(transfer, handshake.schema?.late ?? null);
  let begun = beginning(transfer, markers, true);
  const writer = new RecordWriter(transfer, await TableRejections.open(transfer));
  const exchange = await openExchange(transfer, markers);
  const retried = await retryRejected(writer);
  const size = new BatchSize(maxPageRows, remote.rowsAtOnce("page", FIRST_BATCH_ROWS));
  const isTimelessFirst = handshake.schema !== null;
  const cursor = PullCursor.begin(table, markers.start, maxPageRows, isTimelessFirst);
  let isCounted = false;
  let asked = askPage(remote, cursor, size);
  for (let isDone = false; !isDone; ) {
    const pulled = await asked;
    report.addBytes(pulled);
    const accepted = cursor.accept(pulled.page);
    ({ isDone } = accepted);
    if (!isDone) asked = askPage(remote, cursor, size);
    if (accepted.totalRows !== null && !isCounted) {
      isCounted = true;
      report.start(accepted.totalRows + retried.rows);
      if (retried.rows > 0) report.batch(retried);
    }
    const records = accepted.records.filter((record) => !writer.rejections.isSettled(record));
    const passed = markers.advance(accepted.seenUpTo);
    if (records.length === 0 && isNoChange(passed)) continue;
    const beganMs = clock.monotonicMs();
    // Each part commits how the pull began, as a later one may fail; the last part also what the page has passed.
    const [atOnce, atEnd] = [begun, bothChanges(begun, passed)];
    const applied = await writer.write(records, (isLast) => exchange.page(isLast ? atEnd : atOnce));
    begun = {};
    remote.progressed();
    const tookMs = clock.monotonicMs() - beganMs + (pulled.readMs ?? 0);
    size.takeIn(pulled.page.records.length, tookMs);
    report.expect((accepted.totalRows ?? 0) + retried.rows);
    const rows = Math.max(0, records.length - accepted.repeated);
    if (records.length === 0) continue;
    report.batch({ ...applied, rows, batchRows: pulled.page.limit });
  }
  report.countThere(cursor.tableRows);
  report.addRejected(-writer.rejections.replaced);
  await commitExtras(transfer, { memory: markers.finish() });
  await exchange.finish();
}

/** Retries the records that earlier runs rejected. */
async function retryRejected(writer: RecordWriter): Promise<MovedBatch> {
  const { rejections } = writer;
  let applied: AppliedRecords = { ...NOTHING_MOVED, stayed: [] };
  for await (const part of rejections.waitingParts()) {
    const records = part.map(({ record, key }) => record ?? key);
    applied = addUp(applied, await writer.retry(records));
  }
  return { ...applied, rows: rejections.waiting, batchRows: Math.max(1, rejections.waiting) };
}

/** By the markers, the totals of pages of one row, and the rejected records. Writes nothing. D-4.11. */
export async function countPulled(transfer: Transfer): Promise<void> {
  const { handshake, report, remote, table } = transfer;
  const { start } = openMarkers(transfer, handshake.schema?.late ?? null);
  const { waiting } = await TableRejections.open(transfer);
  const count = async (since: string | null) =>
    (await remote.pullPage({ since, offset: 0, limit: 1 })).page.total;
  const all = await count(null);
  let rows = waiting + all;
  if (start !== null && table.timestampColumn !== null) {
    const timed = await count(formatLike(start, FIRST_TIME_MS));
    rows = waiting + (await count(start)) + Math.max(0, all - timed);
  }
  report.start(rows);
  if (rows > 0) report.batch({ ...NOTHING_MOVED, rows, batchRows: rows });
}

/** Asks for the next page of a cursor, with fewer rows while it is too much at once. Awaiting the page throws its failure. */
export function askPage(
  remote: RemoteTable,
  cursor: PullCursor,
  size: BatchSize,
): Promise<PulledPage> {
  const { clock, tracing } = remote.run.deps;
  const { since, offset, limit } = cursor.request();
  const asked = tracing.inSpan("pullPage", async (span) => {
    for (;;) {
      const beganMs = clock.monotonicMs();
      const rows = Math.min(limit, Math.max(LEAST_ROWS, size.rows));
      try {
        const passes = (error: RemotePeerError) => rows > LEAST_ROWS && isTooMuchToReceive(error);
        const pulled = await remote.pullPage({ since, offset, limit: rows }, passes);
        const bytes = pulled.bytesUncompressed;
        if (bytes > MAX_PAGE_BYTES) size.shrink(rows);
        // A look at one row says nothing of a whole page.
        else if (bytes <= MAX_GROWING_PAGE_BYTES && rows >= size.rows) {
          size.grow(clock.monotonicMs() - beganMs);
        }
        span.set({ "repsync.rows": pulled.page.records.length });
        return pulled;
      } catch (error) {
        if (!(error instanceof RemotePeerError)) throw error;
        const tooMany = Math.min(rows, cursor.tableRows ?? rows);
        size.shrink(tooMany);
        // For the next run, as this one may have no time left for a smaller page.
        remote.learnTooMany("page", tooMany);
      }
    }
  });
  asked.catch(() => {});
  return asked;
}

/** A page, and those of its records that had not come before. */
interface PulledRecords extends PulledPage {
  readonly records: readonly JsonObject[];
}

/** Page by page from a time in microseconds on; all where it is `NO_TIME`, or without a time as the remote writes it. */
export async function* recordsFrom(
  remote: RemoteTable,
  fromMicros: number,
  sampleTime: string | null,
): AsyncGenerator<PulledRecords, void, undefined> {
  const { run, table } = remote;
  const { maxPageRows } = run.deps;
  const isAll = sampleTime === null || fromMicros === NO_TIME || table.timestampColumn === null;
  const since = isAll ? null : startLike(table, sampleTime, Math.floor(fromMicros / 1_000));
  const cursor =
    since === null
      ? PullCursor.begin(table, null, maxPageRows)
      : PullCursor.beginSince(table, since, maxPageRows);
  const size = new BatchSize(maxPageRows, remote.rowsAtOnce("page", FIRST_BATCH_ROWS));
  for (let isDone = false; !isDone; ) {
    const pulled = await askPage(remote, cursor, size);
    const accepted = cursor.accept(pulled.page);
    yield { ...pulled, records: accepted.records };
    ({ isDone } = accepted);
  }
}

/** The exchanged rows of a pull, to which each page adds. */
async function openExchange(transfer: Transfer, markers: TransferMarkers) {
  const { deps, run, table, last, handshake } = transfer;
  // Rows that were here before may not be exchanged.
  const isFromStart = markers.start === null;
  const pushMarker = last.push.marker || null;
  // The first push goes by the own mark from before the first exchanged row; later pushes keep their own.
  const isKept = last.push.lateMark !== undefined || pushMarker !== null;
  const asked = { lateAfter: null, isForOwnPush: true };
  const lateMark = isKept ? null : (await deps.lateRows.read(table, asked)).mark;
  const mark = lateMark === null ? {} : { push: { lateMark } };
  const addedBefore = last.pull.added ?? 0;
  /** Versions added since blocks were put together. */
  let added = addedBefore;
  return {
    /** The extras of one commit: the block of rows that are here as they came, and the memory behind them. */
    page(passed: MemoryChange): ExtrasOfRows {
      const before = added;
      return (rows, changed) => {
        // Rows that come again unchanged would be added again with every run.
        const isKnown = changed === 0 && !isFromStart;
        const exchanged = isKnown ? null : exchangedBlock(table, rows, pushMarker);
        if (exchanged === null) return { memory: passed };
        added = before + countBlock(exchanged);
        return { exchanged, memory: bothChanges(passed, { pull: { added }, ...mark }) };
      };
    },

    /** Puts blocks together when they have grown, unless a push works with them. */
    async finish(): Promise<void> {
      if (added === addedBefore || added < MIN_ADDED) return;
      // Counting the table here would take most of the time of a small run.
      const rows = handshake.countThere ?? (await deps.tables.count(table, { hasKey: true }));
      if (added < MIN_ADDED + rows) return;
      const name = transferLeaseName("push", table.name);
      const lease = await tryLease(deps, name, run.runId, run.stop);
      if ("heldBy" in lease) return;
      try {
        const read = await readExchanged(transfer);
        await replaceExchanged(transfer, lease, read, pushMarker);
        await commitExtras(transfer, { memory: { pull: { added: 0 } } });
      } finally {
        await lease.release();
      }
    },
  };
}
