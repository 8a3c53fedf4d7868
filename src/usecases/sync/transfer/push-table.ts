import { FIRST_BATCH_ROWS } from "../../../domain/shared/limits.ts";
import { compareDateTimes, parseDateTime } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-text.ts";
import { BatchSize, rowsThatFit } from "../../../domain/sync/run/pacing.ts";
import type { RejectedRecord } from "../../../domain/sync/run/rejections.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import { openMarkers, type TableTransfer, type TransferMarkers } from "./begin-transfer.ts";
import { commitExtras } from "./commit.ts";
import { PushExchange } from "./exchange.ts";
import { countPush, PushReader, type PushRows } from "./own-rows.ts";
import { type RemoteRows, readFirst } from "./remote-rows.ts";
import { isGuarded, requestOf, type SentRows, sendRows } from "./send-rows.ts";
import { TableRejections } from "./table-rejections.ts";

/** Rejected rows that are read again at once. */
const RETRY_ROWS = 500;
/** A push of a table that is written to faster than it is pushed ends after this many times its rows. */
const MAX_GROWTH = 4;

interface Push {
  readonly transfer: TableTransfer;
  readonly markers: TransferMarkers;
  readonly rejections: TableRejections;
  readonly exchange: PushExchange;
  readonly size: BatchSize;
  /** What a remote that guards nothing has; null when it guards its rows, or is to be overwritten. */
  readonly there: RemoteRows | null;
  /** True once rows stayed here only as they are too far ahead for such a remote now: the next push meets them again. */
  isLeftOver: boolean;
}

/**
 * Pushes one table: from its marker on, batch by batch, the marker behind each acknowledged one, while the next one is
 * read. D-4.6. Throws `AppError`; whatever was acknowledged stays and the next run goes on behind it. A dry run does the
 * same, but that nothing is sent or written.
 */
export async function pushTable(transfer: TableTransfer): Promise<void> {
  const { run, table, handshake } = transfer;
  const push = await beginPush(transfer);
  const { markers, size } = push;
  const sinceTime = startTime(markers);
  const totalRows = await countPush(run.deps.tables, table, sinceTime);
  transfer.report.start(totalRows + push.rejections.waiting.length);
  await pushRejected(push);
  const reader = new PushReader(run.deps.tables, table, sinceTime, size);
  let sentRows = 0;
  let reading = readAhead(transfer, reader);
  for (let isEnd = false; !isEnd; ) {
    const batch = await reading;
    if (batch.rows.length === 0) break;
    const pushing = tracedBatch(push, batch.rows, batch.readUpTo);
    if (!batch.isLast) reading = readAhead(transfer, reader);
    await pushing;
    sentRows += batch.rows.length;
    const isChasing = sentRows > MAX_GROWTH * totalRows && isAfter(batch, handshake.clocks.ownTime);
    isEnd = batch.isLast || isChasing;
  }
  if (!push.isLeftOver) await commitExtras(transfer, { memory: markers.finish() });
  await push.exchange.finish();
}

/** Sends a record that the remote rejected again, as the table has it now, and nothing else; as `pushTable` otherwise. */
export async function pushAgain(transfer: TableTransfer, entry: RejectedRecord): Promise<void> {
  await pushRejected(await beginPush(transfer, [entry]));
}

async function beginPush(
  transfer: TableTransfer,
  waiting?: readonly RejectedRecord[],
): Promise<Push> {
  const { run, table, last } = transfer;
  const afterMark = run.isFull ? null : (last.push.lateMark ?? null);
  // Before any row is read: what comes late during the run is for the next one.
  const late = await run.deps.lateRows.read(table, { afterMark, isForOwnPush: true });
  const markers = openMarkers(transfer, late);
  const push = {
    transfer,
    markers,
    rejections: await TableRejections.open(transfer, waiting),
    exchange: await PushExchange.open(transfer, markers),
    size: new BatchSize(
      run.deps.maxPageRows,
      run.remote.learned.rowsOf(run.remote.address, table.name, FIRST_BATCH_ROWS),
    ),
    there: null,
    isLeftOver: false,
  };
  if (transfer.conflict !== "newer" || isGuarded(transfer)) return push;
  const firstSent = async (rows: readonly Row[]) => {
    await push.exchange.prepare(rows);
    return rows.find((row) => !push.rejections.isSettled(row) && !push.exchange.has(row)) ?? null;
  };
  const waitingKeys = push.rejections.waiting.map(({ key }) => key);
  return {
    ...push,
    there: await readFirst(transfer, {
      start: startTime(markers),
      firstSent,
      waiting: waitingKeys,
    }),
  };
}

function startTime({ start }: TransferMarkers): string | null {
  return start === null ? null : parseDateTime(start);
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
    if (!run.isDryRun) run.remote.peer.prepareBatch?.(requestOf(transfer, found.rows));
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
    const rows = await run.deps.tables.byKeys(table, keys, "sent");
    const found = new Set(rows.map((row) => keyText(table, row)));
    const gone = keys.filter((key) => !found.has(keyText(table, key)));
    await commitExtras(transfer, rejections.extras([], gone));
    transfer.report.skip(gone.length, 0);
    for (let from = 0; from < rows.length; ) {
      const fitting = Math.min(size.rows, rowsThatFit(rows.slice(from)));
      await tracedBatch(push, rows.slice(from, from + fitting), null);
      from += fitting;
    }
  }
}

/** As `pushBatch`, with a span of its own. D-10.9. */
function tracedBatch(push: Push, batch: readonly Row[], readUpTo: string | null): Promise<void> {
  const { tracing } = push.transfer.run.deps;
  const fields = { "repsync.rows": batch.length };
  return tracing.inSpan("pushBatch", () => pushBatch(push, batch, readUpTo), { fields });
}

/** Sends rows that have to go. What was rejected, what need not go again and the marker behind all are one commit. */
async function pushBatch(
  push: Push,
  batch: readonly Row[],
  readUpTo: string | null,
): Promise<void> {
  const { transfer, markers, rejections, exchange, size } = push;
  await exchange.prepare(batch);
  const { wanted, newerThere, exchanged } = sortRows(push, batch);
  const { clock } = transfer.run.deps;
  const beganMs = clock.monotonicMs();
  const sent = await sendRows(transfer, size, wanted);
  const tookMs = clock.monotonicMs() - beganMs;
  const done = [...sent.accepted, ...newerThere, ...exchanged];
  const settled = newerThere.filter((row) => !push.there?.isTooFarAhead(row));
  if (settled.length < newerThere.length) push.isLeftOver = true;
  const passed = markers.advance(readUpTo);
  await commitExtras(transfer, {
    memory: passed,
    ...rejections.extras(sent.rejected, done),
    // Which rows were left out is not told: all of them are sent again while the allowance lasts. D-8.2.
    ...exchange.extras(sent.erased > 0 ? settled : [...sent.accepted, ...settled]),
  });
  rejections.settle(sent.rejected, done);
  size.grow(tookMs);
  transfer.report.skip(batch.length - wanted.length, newerThere.length);
  if (wanted.length === 0) return;
  transfer.report.batch({
    rows: wanted.length,
    accepted: sent.accepted.length - sent.erased,
    rejected: sent.rejected.length,
    erased: sent.erased,
    kept: sent.kept,
    changed: countChanged(push, sent),
    batchRows: size.rows,
  });
}

/** Rows really written there, as far as that is known. */
function countChanged({ transfer, there }: Push, { accepted, changed }: SentRows): number {
  if (transfer.run.isDryRun) return 0;
  return there?.countOthers(accepted) ?? changed;
}

interface SortedRows {
  readonly wanted: readonly Row[];
  /** Known to be newer at a remote that guards nothing. */
  readonly newerThere: readonly Row[];
  /** They last went, or came, as they are here. */
  readonly exchanged: readonly Row[];
}

/** Sorts out what need not go. What this transfer has tried already is left out. */
function sortRows({ rejections, exchange, there }: Push, batch: readonly Row[]): SortedRows {
  const rows = Map.groupBy(batch, (row) => {
    if (rejections.isSettled(row)) return "settled";
    if (exchange.has(row)) return "exchanged";
    return there?.versionThere(row) === "newer" ? "newer" : "wanted";
  });
  const wanted = rows.get("wanted") ?? [];
  return {
    // The same array where it can be: it is encoded already.
    wanted: wanted.length === batch.length ? batch : wanted,
    newerThere: rows.get("newer") ?? [],
    exchanged: rows.get("exchanged") ?? [],
  };
}
