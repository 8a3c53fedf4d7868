import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { BatchSize, rowsThatFit } from "../../../domain/sync/run/pacing.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import { openMarkers, readClocks, type TableTransfer } from "./begin-transfer.ts";
import { lookForRemoteChanges, type RemoteChanges } from "./newer-rows.ts";
import { countPush, PushReader, type PushRows } from "./own-rows.ts";
import { sendRows } from "./send-rows.ts";
import { TableRejections } from "./table-rejections.ts";

/** Rejected rows that are read again at once. */
const RETRY_ROWS = 500;
/** A push of a table that is written to faster than it is pushed ends after this many times its rows. */
const MAX_GROWTH = 4;

interface Push {
  readonly transfer: TableTransfer;
  readonly rejections: TableRejections;
  readonly size: BatchSize;
  readonly changes: RemoteChanges;
}

/**
 * Pushes one table: from its marker on, batch by batch, the marker after each acknowledged one, while the next one is
 * read. D-4.6. Throws `AppError`; whatever was acknowledged stays and the next run goes on behind it.
 */
export async function pushTable(transfer: TableTransfer): Promise<void> {
  const { run, table, report, twoWay } = transfer;
  const { deps } = run;
  const clocks = await readClocks(transfer);
  const markers = await openMarkers(transfer, "push", clocks);
  // A pull that will not be possible fails the table before anything has moved.
  if (twoWay !== null) await openMarkers(transfer, "pull", clocks);
  const rejections = await TableRejections.open(transfer);
  const sinceTime = markers.start === null ? null : parseDateTime(markers.start);
  const totalRows = await countPush(deps.rows, table, sinceTime);
  report.start(totalRows + rejections.waiting.length);
  if (twoWay !== null) twoWay.pushedAt = clocks.ownTime;
  const size = new BatchSize(deps.maxPageRows);
  const changes = await lookForRemoteChanges(transfer, clocks);
  const push: Push = { transfer, rejections, size, changes };
  await pushRejected(push);
  const reader = new PushReader(deps.rows, table, sinceTime, size);
  let sentRows = 0;
  let reading = readAhead(transfer, reader);
  for (;;) {
    const batch = await reading;
    if (batch.rows.length === 0) break;
    const pushing = pushBatch(push, batch.rows);
    if (!batch.isLast) reading = readAhead(transfer, reader);
    await pushing;
    await moveMarkers(transfer, markers.advance(batch.readUpTo));
    sentRows += batch.rows.length;
    const isChasing = sentRows > MAX_GROWTH * totalRows && isAfter(batch, clocks.ownTime);
    if (isChasing) return;
    if (batch.isLast) break;
  }
  if (twoWay !== null) twoWay.pushMarkers = markers;
}

/**
 * Reads on, and encodes, while a batch is under way: not before that is on the wire, as a store may keep the event loop
 * busy while it reads. A failure waits until the rows are looked at.
 */
function readAhead(transfer: TableTransfer, reader: PushReader): Promise<PushRows> {
  const { run, lease } = transfer;
  const read = async () => {
    await run.deps.timer.sleep(0, lease.signal);
    const found = await reader.read();
    run.remote.peer.prepareBatch?.({ records: found.rows, syncTimestamp: run.startedAt });
    return found;
  };
  const reading = read();
  reading.catch(() => {});
  return reading;
}

/** True for rows written after the run began: a table that is written to all the time is left to the next run. */
function isAfter({ readUpTo }: PushRows, time: string): boolean {
  const readTime = readUpTo === null ? null : parseDateTime(readUpTo);
  return readTime !== null && compareDateTimes(readTime, time) > 0;
}

/** Rejected rows are tried again first, as the table has them now. */
async function pushRejected(push: Push): Promise<void> {
  const { transfer, rejections, size } = push;
  const { run, table } = transfer;
  const { waiting } = rejections;
  for (let i = 0; i < waiting.length; i += RETRY_ROWS) {
    const keys = waiting.slice(i, i + RETRY_ROWS).map(({ key }) => key);
    const rows = await run.deps.rows.readByKeys(table, keys);
    const found = new Set(rows.map((row) => keyText(table, row)));
    await rejections.accept(keys.filter((key) => !found.has(keyText(table, key))));
    for (let from = 0; from < rows.length; ) {
      const fitting = Math.min(size.rows, rowsThatFit(rows.slice(from)));
      await pushBatch(push, rows.slice(from, from + fitting));
      from += fitting;
    }
  }
}

/** Sends rows that the remote does not have as they are here, notes what was rejected and reports both. */
async function pushBatch(push: Push, batch: readonly Row[]): Promise<void> {
  const { transfer, rejections, size, changes } = push;
  const { report } = transfer;
  const wanted: Row[] = [];
  const there: Row[] = [];
  for (const row of batch) {
    if (rejections.hasTried(row)) continue;
    (changes.isThere(row) ? there : wanted).push(row);
  }
  // The same array where it can be: it is encoded already.
  const rows = wanted.length === batch.length ? batch : wanted;
  const { accepted, rejected } = await sendRows(transfer, size, rows);
  await rejections.note(rejected);
  await rejections.accept([...accepted, ...there]);
  size.grow();
  report.skip(batch.length - rows.length);
  if (rows.length === 0) return;
  report.batch({
    rows: rows.length,
    accepted: accepted.length,
    rejected: rejected.length,
    batchRows: size.rows,
  });
}

async function moveMarkers(
  { run, lease }: TableTransfer,
  markers: ReadonlyMap<string, string>,
): Promise<void> {
  if (markers.size === 0) return;
  lease.assertHeld();
  await run.deps.markers.writeAll(markers);
}
