import type { JsonObject } from "../../../domain/shared/json.ts";
import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { BatchSize, rowsThatFit } from "../../../domain/sync/run/pacing.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import { countPush } from "./count-rows.ts";
import { lookForRemoteChanges, type RemoteChanges } from "./newer-rows.ts";
import { type PushReader, type PushRows, startPushReader } from "./read-push-rows.ts";
import { openRefusals, type RefusalBook } from "./refusal-book.ts";
import { sendRows } from "./send-rows.ts";
import { type Clocks, openMarkers, type Transfer } from "./transfer.ts";

/** Refused rows that are read again at once. */
const RETRY_ROWS = 500;
/** A table that is written to faster than it is pushed is left after so many times its rows. */
const MAX_GROWTH = 4;

/** What every batch of a push works with. */
interface PushParts {
  readonly refusals: RefusalBook;
  readonly size: BatchSize;
  readonly changes: RemoteChanges;
}

/**
 * Pushes one table: from its marker on, batch by batch, the marker after each acknowledged one, while the next one is
 * read. D-4.6. Throws `AppError`; whatever was acknowledged stays and the next run goes on behind it.
 */
export async function runPush(transfer: Transfer, clocks: Clocks): Promise<void> {
  const { deps, table, report } = transfer;
  const book = await openMarkers(transfer, clocks);
  // A pull that will not be possible is told before anything has moved.
  if (transfer.twoWay !== null) await openMarkers({ ...transfer, direction: "pull" }, clocks);
  const refusals = await openRefusals(transfer);
  const sinceTime = book.start === null ? null : parseDateTime(book.start);
  const totalRows = await countPush(deps.rows, table, sinceTime);
  report.start(totalRows + refusals.waiting.length);
  const size = new BatchSize(deps.maxPageRows);
  if (transfer.twoWay !== null) transfer.twoWay.pushedAt = clocks.ownTime;
  const changes = await lookForRemoteChanges(transfer, clocks);
  await pushRefused(transfer, { refusals, size, changes });
  const reader = startPushReader(deps.rows, { table, sinceTime, size });
  let sentRows = 0;
  let reading = readAhead(transfer, reader);
  for (;;) {
    const batch = await reading;
    if (batch.rows.length === 0) break;
    const pushing = pushBatch(transfer, { refusals, size, changes, rows: batch.rows });
    if (!batch.isLast) reading = readAhead(transfer, reader);
    await pushing;
    await moveMarker(transfer, book.advance(batch.readUpTo));
    sentRows += batch.rows.length;
    const isChasing = sentRows > MAX_GROWTH * totalRows && isAfter(batch, clocks.ownTime);
    if (isChasing) return;
    if (batch.isLast) break;
  }
  if (transfer.twoWay !== null) transfer.twoWay.pushMarkers = book;
}

/**
 * Reads on, and encodes, while a batch is under way: not before that is on the wire, as a store may keep the event loop
 * busy while it reads. A failure waits until the rows are looked at.
 */
function readAhead(transfer: Transfer, reader: PushReader): Promise<PushRows> {
  const { deps, remote, lease, startedAt } = transfer;
  const read = async () => {
    await deps.timer.sleep(0, lease.signal);
    const found = await reader.read();
    remote.peer.prepareBatch?.({ records: found.rows, syncTimestamp: startedAt });
    return found;
  };
  const reading = read();
  reading.catch(() => {});
  return reading;
}

/** What is written after the run began is for the next one, if there is no end of it. */
function isAfter({ readUpTo }: PushRows, time: string): boolean {
  const readTime = readUpTo === null ? null : parseDateTime(readUpTo);
  return readTime !== null && compareDateTimes(readTime, time) > 0;
}

/** Refused rows are tried again first, as the table has them now. */
async function pushRefused(transfer: Transfer, parts: PushParts): Promise<void> {
  const { deps, table } = transfer;
  const { refusals, size } = parts;
  const { waiting } = refusals;
  for (let i = 0; i < waiting.length; i += RETRY_ROWS) {
    const keys = waiting.slice(i, i + RETRY_ROWS).map(({ key }) => key);
    const rows = await deps.rows.readByKeys(table, keys);
    const found = new Set(rows.map((row) => keyText(table, row)));
    const gone: JsonObject[] = keys.filter((key) => !found.has(keyText(table, key)));
    await refusals.accept(gone);
    for (let from = 0; from < rows.length; ) {
      const fitting = Math.min(size.rows, rowsThatFit(rows.slice(from)));
      await pushBatch(transfer, { ...parts, rows: rows.slice(from, from + fitting) });
      from += fitting;
    }
  }
}

/** Sends rows, notes what was refused and tells about both. */
async function pushBatch(
  transfer: Transfer,
  batch: PushParts & { readonly rows: readonly Row[] },
): Promise<void> {
  const { refusals, size, changes } = batch;
  const untried = batch.rows.filter((row) => !refusals.hasTried(row));
  const wanted: Row[] = [];
  const there: Row[] = [];
  for (const row of untried) (changes.isThere(row) ? there : wanted).push(row);
  // The same array where it can be: it is encoded already.
  const rows = wanted.length === batch.rows.length ? batch.rows : wanted;
  const { accepted, refused } = await sendRows(transfer, size, rows);
  await refusals.note(refused);
  await refusals.accept([...accepted, ...there]);
  size.grow();
  transfer.report.skip(batch.rows.length - rows.length);
  if (rows.length === 0) return;
  const moved = { rows: rows.length, accepted: accepted.length, refused: refused.length };
  transfer.report.batch({ ...moved, batchRows: size.rows });
}

async function moveMarker(
  { deps, lease }: Transfer,
  markers: ReadonlyMap<string, string>,
): Promise<void> {
  if (markers.size === 0) return;
  lease.assertHeld();
  await deps.markers.writeAll(markers);
}
